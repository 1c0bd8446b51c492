import { existsSync } from "node:fs";
import { join } from "node:path";
import * as msw from "msw";
import * as mswNode from "msw/node";
import { expect, onTestFinished, test, vi } from "vitest";
import project from "../../package.json" with { type: "json" };
import * as core from "../../src/index.js";
import * as ourMsw from "../../src/integrations/msw.js";
import { blockWith, root } from "../support/pages.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";
import { type Modules, runExample } from "./examples.js";

// The frameworks are not installed: the lines of docs/frameworks.md run with what stands for their part.

const ours = { "svc-sandbox": core, "svc-sandbox/msw": ourMsw, "msw/node": mswNode };
const requestWith = (sandbox: core.Sandbox, ref: string) =>
  new Request(`https://api.example${mePath}`, { headers: { "x-api-key": sandbox.secret(ref) } });

/** Runs a block with these words, and gets its `result`. */
async function resultOf<Result>(words: string, result: string, modules: Modules = {}): Promise<Result> {
  const code = blockWith("docs/frameworks.md", "js", words)
    .replaceAll(/await import\("([^"]+)"\)/g, 'modules["$1"]')
    .replace(/^export default/m, "const preview =")
    .replaceAll(/^export /gm, "");
  const results: Result[] = [];
  await runExample(
    `${code}\ngive(${result});`,
    { ...ours, ...modules },
    { give: (value: Result) => results.push(value) },
  );
  return results[0] as Result;
}

/** A module whose servers end with the test. */
function closedLater(): Pick<typeof mswNode, "setupServer"> {
  return {
    setupServer(...handlers) {
      const server = mswNode.setupServer(...handlers);
      onTestFinished(() => server.close());
      return server;
    },
  };
}

test("Next.js: what it registers responds to its fetch, and is the sandbox that others change", async () => {
  vi.stubEnv("NEXT_RUNTIME", "nodejs");
  onTestFinished(() => {
    vi.unstubAllEnvs();
    Reflect.deleteProperty(globalThis, "sandbox");
  });
  const register = await resultOf<() => Promise<void>>("NEXT_RUNTIME", "register", {
    "msw/node": closedLater(),
  });
  await register();
  const { sandbox } = globalThis as unknown as { readonly sandbox: core.Sandbox };
  expect((await fetch(requestWith(sandbox, "active"))).status).toBe(200);
  sandbox.keys.revoke("active");
  expect((await fetch(requestWith(sandbox, "active"))).status).toBe(401);
});

test("SvelteKit: its hooks handle the requests of its server, and bypass the others", async () => {
  const { controlUrl } = await served();
  const words = "setupServer(...createHandlers(sandbox)).listen";
  const sandbox = await resultOf<core.Sandbox>(words, "sandbox", { "msw/node": closedLater() });
  expect((await fetch(requestWith(sandbox, "wrong-scope"))).status).toBe(403);
  expect((await fetch(`${controlUrl}/health`)).status).toBe(200);
});

test("Parcel: what it needs is in package.json, as only the exports name each entry point", () => {
  const { "@parcel/resolver-default": resolver } = JSON.parse(
    blockWith("docs/frameworks.md", "json", "parcel"),
  );
  expect(resolver).toEqual({ packageExports: true });
  expect(Object.keys(project.exports)).toContain("./msw");
  expect(existsSync(join(root, "msw"))).toBe(false);
});

interface Preview {
  readonly beforeEach: (context: { readonly msw: { use(...handlers: msw.HttpHandler[]): void } }) => void;
}

test("Storybook: each story has the handlers, and the keys of the start", async () => {
  const addon = { "msw-storybook-addon/csf3": { mswLoader() {} } };
  const [preview, sandbox] = await resultOf<[Preview, core.Sandbox]>(
    "mswLoader",
    "[preview, sandbox]",
    addon,
  );
  sandbox.keys.revoke("active");
  const handlers: msw.HttpHandler[] = [];
  preview.beforeEach({ msw: { use: (...all) => void handlers.push(...all) } });
  expect((await msw.getResponse(handlers, requestWith(sandbox, "active")))?.status).toBe(200);
});

test("Fastify: its route returns the sandbox's response", async () => {
  type Route = (request: { method: string; url: string; headers: object }) => Promise<Response>;
  const routes = new Map<string, Route>();
  const app = { all: (path: string, route: Route) => routes.set(path, route), async listen() {} };
  const sandbox = await resultOf<core.Sandbox>("fastify()", "sandbox", { fastify: { default: () => app } });
  const headers = { host: "127.0.0.1:3000", "x-api-key": sandbox.secret("wrong-scope") };
  const response = await routes.get("/v1/relying-party/*")?.({ method: "GET", url: mePath, headers });
  expect(response?.status).toBe(403);
});
