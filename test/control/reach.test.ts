import { describe, expect, test } from "vitest";
import { startServer } from "../../src/server/index.js";
import { exchange } from "../support/exchange.js";
import { served } from "../support/servers.js";
import { serveControl } from "./client.js";

/** The base URL in a 404 for a browser. */
async function shownTo(localUrl: string, headers: Record<string, string>): Promise<string> {
  const html = { accept: "text/html", ...headers };
  const { body } = await exchange(localUrl, { path: "/", headers: html }).then(({ bytes }) => ({
    body: JSON.parse(String(bytes)),
  }));
  return body.error.details.dashboard.replace(/\/__sandbox\/$/, "");
}

test.each([
  ["0.0.0.0", "127.0.0.1", false],
  ["::", "127.0.0.1", false],
  ["::1", "[::1]", true],
  ["127.9.9.9", "127.9.9.9", true],
  ["::ffff:127.0.0.1", "[::ffff:127.0.0.1]", true],
])(
  "on %s, clients of this machine reach the server at %s; only this machine does: %s",
  async (host, name, isLocal) => {
    const { localUrl, controlToken } = await served({ host });
    expect(localUrl).toMatch(`http://${name}:`);
    expect(controlToken === undefined).toBe(isLocal);
  },
);

describe("the base URL in a response", () => {
  test("is the caller's", async () => {
    const { url } = (await serveControl({ allowHosts: ["Box.example"] })).server;
    for (const [headers, expected] of [
      [{}, url],
      [{ host: "box.example" }, "http://box.example"],
      [{ host: "[::1]:80" }, "http://[::1]:80"],
      [{ "x-forwarded-host": "box.example", "x-forwarded-proto": "https" }, url],
    ] as const) {
      expect([headers, await shownTo(url, headers)]).toEqual([headers, expected]);
    }
  });

  test("leads browsers to the dashboard, and its 404 is the same bytes as ever for clients", async () => {
    const { server } = await serveControl({ profile: "typical" });
    const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const get = (path: string, headers = {}) => fetch(server.url + path, { headers });
    const page = await get("/", html);
    expect([page.status, await page.json()]).toMatchObject([
      404,
      { error: { code: "not_found", details: { dashboard: `${server.url}/__sandbox/` } } },
    ]);
    const plain = '{"error":{"code":"not_found","message":"There is nothing at this path."}}';
    for (const response of [await get("/"), await get("/nothing", html)]) {
      expect(await response.text()).toBe(plain);
    }
    const bare = await served({ control: false });
    for (const path of ["/", "/__sandbox/"]) {
      expect(await (await fetch(bare.url + path, { headers: html })).text()).toMatch(
        /^\{"error":\{"code":"not_found"(?!.*dashboard)/,
      );
    }
  });

  test("is in the journal as it was sent, with the request id", async () => {
    const { server, ask } = await serveControl({ profile: "typical" });
    const headers = { accept: "text/html", "x-api-key": server.sandbox.secret("active") };
    const sent = await fetch(`${server.url}/`, { headers });
    const id = sent.headers.get("x-request-id");
    expect((await ask(`/requests/${id}`)).body.data.response.body).toBe(await sent.text());
  });

  test("is under the public URL, no matter what a request contains", async () => {
    const { server } = await serveControl({ publicUrl: "https://box.example/sandbox/" });
    const { url, localUrl, controlUrl } = server;
    expect([url, controlUrl]).toEqual(["https://box.example/sandbox", `${url}/__sandbox`]);
    expect(localUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    for (const headers of [{}, { host: "box.example" }, { "x-forwarded-host": "evil.example" }]) {
      expect(await shownTo(localUrl, headers)).toBe(url);
    }
  });
});

describe("names in front of a loopback address", () => {
  test("are accepted if they are allowed, with pages only of these origins", async () => {
    const { ask } = await serveControl({ allowHosts: ["box.example", "other.example:8443"] });
    const outcome = async (headers: Record<string, string>) => {
      const { status, body } = await ask("/reset", { method: "POST", json: {}, headers });
      return body.error?.code ?? status;
    };
    for (const [headers, expected] of [
      [{ host: "box.example" }, 200],
      [{ host: "BOX.example:81", origin: "http://box.example:81" }, 200],
      // A proxy that sets another Host than the page has.
      [{ origin: "https://other.example:8443", "sec-fetch-site": "same-origin" }, 200],
      [{ origin: "https://other.example" }, "foreign_origin"],
      [{ origin: "https://box.example", "sec-fetch-site": "cross-site" }, "foreign_origin"],
      [{ host: "a.box.example" }, "foreign_host"],
      [{ host: "box.example.evil.example" }, "foreign_host"],
    ] as const) {
      expect([headers, await outcome(headers)]).toEqual([headers, expected]);
    }
  });

  test("are what the rejection of a page behind a proxy names", async () => {
    const { ask } = await serveControl();
    const { body } = await ask("/reset", {
      method: "POST",
      json: {},
      headers: { origin: "http://app.test:5173" },
    });
    expect(body.error.message).toMatch(/--allow-host.*--public-url/);
    const allowed = await serveControl({ allowHosts: ["app.test:5173"] });
    const headers = { origin: "http://app.test:5173" };
    expect((await allowed.ask("/reset", { method: "POST", json: {}, headers })).status).toBe(200);
  });

  test("a public URL may be a URL", async () => {
    const { server } = await serveControl({ publicUrl: new URL("https://box.example/sandbox/") });
    expect(server.url).toBe("https://box.example/sandbox");
  });

  test("that are none are rejected at the start", async () => {
    const rejected = ["*", "http://box.example", ""].map((name) => ({ allowHosts: [name] }));
    const urls = ["box.example", "ftp://box.example", "http://user:secret@b.example", "http://b.example/?a"];
    for (const options of [...rejected, ...urls.map((publicUrl) => ({ publicUrl }))]) {
      const error = await startServer(options).catch((thrown) => thrown);
      expect([options, error.code]).toEqual([options, "usage"]);
      expect(error.message).not.toContain("secret");
    }
  });
});
