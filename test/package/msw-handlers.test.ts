import { once } from "node:events";
import { get } from "node:https";
import { syncBuiltinESMExports } from "node:module";
import { getResponse } from "msw";
import { setupServer } from "msw/node";
import { expect, onTestFinished, test, vi } from "vitest";
import { createSandbox } from "../../src/index.js";
import { createHandlers, handlers, sandbox as readySandbox } from "../../src/integrations/msw.js";

const sandbox = createSandbox({ scenario: "key-states", frozen: true });
const headers = { "x-api-key": sandbox.secret("live") };

/** The status with which the handlers for a base URL response, or `undefined` when they leave the request alone. */
async function status(baseUrl: string | undefined, url: string, resolvedAgainst?: string) {
  const made = createHandlers(sandbox, baseUrl === undefined ? {} : { baseUrl });
  const context = resolvedAgainst === undefined ? {} : { baseUrl: resolvedAgainst };
  return (await getResponse(made, new Request(url, { headers }), context))?.status;
}

test.each([
  ["https://api.example", "https://api.example/v1/relying-party/me", 200],
  ["https://api.example/", "https://api.example/v1/relying-party/me?a=b", 200],
  ["https://API.example:443", "https://api.example/v1/relying-party/me", 200],
  ["https://api.example", "https://api.example/anything/%zz", 404],
  ["https://api.example", "https://apiXexample/v1/relying-party/me", undefined],
  ["https://api.example", "https://api.example.other/v1/relying-party/me", undefined],
  ["https://api.example", "https://api.example:8443/v1/relying-party/me", undefined],
  ["https://gateway.example/banks/api/", "https://gateway.example/banks/api/v1/relying-party/me", 200],
  ["https://gateway.example/banks/api", "https://gateway.example/banks/api", 404],
  ["https://gateway.example/banks/api", "https://gateway.example/banks/API/v1/relying-party/me", undefined],
  ["https://gateway.example/banks/api", "https://gateway.example/banks/apis/v1/relying-party/me", undefined],
])("the handlers for %s respond to %s with %s", async (baseUrl, url, expected) => {
  expect(await status(baseUrl, url)).toBe(expected);
});

test.each([
  ["https://any.example/v1/relying-party/me", 200],
  ["http://127.0.0.1:1/v1/relying-party", 404],
  ["https://any.example/v1/relying-parties/me", undefined],
  ["https://any.example/", undefined],
])("without a base URL %s gets %s", async (url, expected) => {
  expect(await status(undefined, url)).toBe(expected);
});

test.each([
  ["/api", "http://localhost:3000/api/v1/relying-party/me", 200],
  ["/api/", "http://localhost:3000/api/v1/relying-party/nothing", 404],
  ["/api", "http://localhost:3000/v1/relying-party/me", undefined],
  ["/", "http://localhost:3000/v1/relying-party/me", 200],
])("in a page, a base URL of %s is one of its own: %s gets %s", async (baseUrl, url, expected) => {
  vi.stubGlobal("location", new URL("http://localhost:3000/"));
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(await status(baseUrl, url, "http://localhost:3000")).toBe(expected);
});

test.each([
  ["api", "http://localhost:3000/shop/api/v1/relying-party/me", 200],
  ["./api/", "http://localhost:3000/shop/api/v1/relying-party/me", 200],
  ["../api", "http://localhost:3000/api/v1/relying-party/me", 200],
  ["", "http://localhost:3000/v1/relying-party/me", 200],
  ["//api.example", "http://api.example/v1/relying-party/me", 200],
  ["api", "http://localhost:3000/api/v1/relying-party/me", undefined],
])(
  "in a page in a folder, a base URL of %j is relative to the page: %s gets %s",
  async (baseUrl, url, expected) => {
    vi.stubGlobal("location", new URL("http://localhost:3000/shop/index.html?order=1"));
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await status(baseUrl, url, "http://localhost:3000/shop/index.html")).toBe(expected);
  },
);

test.each(["//", "/:tenant/api", "/api/*"])("a base URL of %j is rejected, also in a page", (baseUrl) => {
  vi.stubGlobal("location", new URL("http://localhost:3000/"));
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(() => createHandlers(sandbox, { baseUrl })).toThrow(expect.objectContaining({ code: "usage" }));
});

test.each(
  [
    ["https://", "http://a b", "", "api.example", "/base", "api.example/*"],
    ["https://*.example", "https://api.example/:tenant"],
  ].flat(),
)("%j is rejected in Node, where no request would match it", (baseUrl) => {
  expect(() => createHandlers(sandbox, { baseUrl })).toThrow(
    expect.objectContaining({
      code: "usage",
      message: expect.stringContaining(`${JSON.stringify(baseUrl)}. `),
    }),
  );
});

test.each(["?tenant=7", "#x", "/base?tenant=7"])(
  "a base URL that ends in %s is rejected, also in a page",
  (end) => {
    const rejection = expect.objectContaining({ code: "usage", message: expect.stringContaining("a query") });
    expect(() => createHandlers(sandbox, { baseUrl: `https://api.example${end}` })).toThrow(rejection);
    vi.stubGlobal("location", new URL("http://localhost:3000/"));
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(() => createHandlers(sandbox, { baseUrl: `/api${end}` })).toThrow(rejection);
  },
);

test.each([
  "https://me:hunter2@api.example",
  "https://me:hunter2@api.example/*",
  "https://me:hunter2@api.example:port",
])("a base URL with a password is rejected without showing it: %s", (baseUrl) => {
  const make = () => createHandlers(sandbox, { baseUrl });
  expect(make).toThrow(
    expect.objectContaining({ code: "usage", message: expect.not.stringContaining("hunter2") }),
  );
});

test.each([7, null, /x/, ["https://api.example"], {}, new Map()])(
  "%s is rejected at once: a base URL is a text or a URL",
  (baseUrl) => {
    expect(() => createHandlers(sandbox, { baseUrl: baseUrl as never })).toThrow(
      expect.objectContaining({ code: "usage", message: expect.stringContaining("not a text or a URL") }),
    );
  },
);

test("a base URL may be a URL, also of another realm", async () => {
  const [url, path] = ["https://gateway.example/api", "/v1/relying-party/me"];
  const foreign = { href: url, [Symbol.toStringTag]: "URL" } as unknown as URL;
  for (const baseUrl of [new URL(url), foreign]) {
    const response = await getResponse(
      createHandlers(sandbox, { baseUrl }),
      new Request(url + path, { headers }),
    );
    expect(response?.status).toBe(200);
  }
});

test("handlers have what a server of msw 3 calls: in a workspace, they are made with the msw of its root", () => {
  const [handler] = createHandlers(sandbox) as unknown as Record<string, unknown>[];
  expect(handler).toMatchObject({ kind: "request", info: {} });
  for (const name of ["run", "log", "reset", "restore", "dispose"]) {
    expect(handler?.[name]).toBeTypeOf("function");
  }
});

test("the ready handlers respond from the ready sandbox", async () => {
  const request = new Request("https://any.example/v1/relying-party/me", {
    headers: { "x-api-key": readySandbox.secret("revoked") },
  });
  expect((await getResponse(handlers, request))?.status).toBe(401);
  expect(readySandbox.requests.list().map(({ outcome }) => outcome)).toEqual(["401.revoked"]);
});

test("functions of node:https that are imported by name reach the sandbox after syncBuiltinESMExports", async () => {
  const server = setupServer(...createHandlers(sandbox));
  server.listen({ onUnhandledRequest: "error" });
  onTestFinished(() => {
    server.close();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  const [response] = await once(get("https://api.example/v1/relying-party/me", { headers }), "response");
  expect(response.resume().statusCode).toBe(200);
});
