import { request as httpRequest } from "node:http";
import { afterEach, expect, test } from "vitest";
import { openWorld } from "../src/node/open-world.js";
import { type RunningServer, type ServeOptions, serveHost } from "../src/node/serve-host.js";
import { createHost, type Host } from "../src/sandbox/host.js";
import { scenarioSecret, scenarioSecrets } from "../src/sandbox/world.js";
import { bundledScenarios } from "../src/scenario/bundled.js";

interface Served extends RunningServer {
  readonly host: Host;
}

const servers: Served[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close(0);
});

async function serve(options: Partial<ServeOptions> = {}): Promise<Served> {
  const world = openWorld(bundledScenarios["key-states"], { name: "key-states", frozen: true });
  const host = createHost(() => world);
  const server = { ...(await serveHost(host, { port: 0, ...options })), host };
  servers.push(server);
  return server;
}

interface ControlAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of it, it checks
  readonly body: any;
}

/** Asks the control plane over a plain socket, because fetch would not send a foreign Host. */
function ask(
  server: Served,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<ControlAnswer> {
  const url = new URL(server.url);
  return new Promise((resolve, reject) => {
    const sending = httpRequest(
      { host: url.hostname, port: url.port, path: `/__sandbox${path}`, method, headers, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => {
          const isJson =
            String(response.headers["content-type"]).startsWith("application/json") && text !== "";
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            body: isJson ? JSON.parse(text) : text,
          });
        });
      },
    );
    sending.on("error", reject).end();
  });
}

test("health says what runs", async () => {
  const { status, body } = await ask(await serve(), "/health");
  expect(status).toBe(200);
  expect(body).toEqual({
    status: "ok",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    scenario: "key-states",
    seed: 1,
    now: "2026-03-02T09:00:00.000Z",
  });
});

test("R34 state shows organizations and keys, and never a secret", async () => {
  const server = await serve();
  const { body, text } = await ask(server, "/state");
  expect(body.data.clock).toEqual({ now: "2026-03-02T09:00:00.000Z", frozen: true });
  expect(body.data.assumptions.rate_limit_code).toBe("rate_limited");
  const states = Object.fromEntries(
    body.data.keys.map((key: { ref: string; state: string }) => [key.ref, key.state]),
  );
  expect(states).toMatchObject({
    active: "active",
    revoked: "revoked",
    expired: "expired",
    retiring: "retiring",
    rotated: "rotated",
  });
  for (const secret of Object.values(scenarioSecrets(server.host.world())))
    expect(text).not.toContain(secret);
});

test("requests lists the journal, by limit, path and key", async () => {
  const server = await serve();
  for (const ref of ["active", "revoked", "active"]) {
    await fetch(`${server.url}/v1/relying-party/me`, {
      headers: { "x-api-key": scenarioSecret(server.host.world(), ref) },
    });
  }
  const all = (await ask(server, "/requests")).body.data;
  expect(all).toHaveLength(3);
  expect(all[1]).toEqual({
    id: expect.stringMatching(/^req_/),
    at: "2026-03-02T09:00:00.000Z",
    method: "GET",
    path: "/v1/relying-party/me",
    key: "revoked",
    fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
    status: 401,
    code: "unauthorized",
    path_id: "401.revoked",
    duration_ms: expect.any(Number),
  });
  expect((await ask(server, "/requests?key=active")).body.data).toHaveLength(2);
  expect((await ask(server, "/requests?path_id=401.revoked")).body.data).toHaveLength(1);
  expect((await ask(server, "/requests?limit=1")).body.data).toEqual([all[2]]);
});

test.each([
  ["/requests?limit=many", "limit"],
  ["/requests?limit=-1", "limit"],
  ["/requests?limit=1&limit=2", "limit"],
  ["/requests?pathid=x", "pathid"],
])("%s is refused with 422 and the field %s", async (path, field) => {
  const { status, body } = await ask(await serve(), path);
  expect(status).toBe(422);
  expect(body.error.code).toBe("validation_failed");
  expect(Object.keys(body.error.details.fields)).toEqual([field]);
});

test("R48 the description is served", async () => {
  const { status, body } = await ask(await serve(), "/openapi.json");
  expect([status, body.openapi, body.info.version]).toEqual([200, "3.1.0", "0.1.0"]);
});

test("the page links to the calls, escapes what it shows, and cannot be framed", async () => {
  const { status, text, headers } = await ask(await serve(), "/");
  expect(status).toBe(200);
  expect(text).toContain('href="/__sandbox/state"');
  expect(headers["x-frame-options"]).toBe("DENY");
});

test.each([
  "/health",
  "/state",
  "/requests",
  "/openapi.json",
  "/",
])("%s takes GET and HEAD alone", async (path) => {
  const server = await serve();
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
    const { status, headers, body } = await ask(server, path, {}, method);
    expect([status, headers.allow, body.error.code]).toEqual([405, "GET, HEAD", "method_not_allowed"]);
  }
  expect((await ask(server, path, {}, "HEAD")).status).toBe(200);
});

test.each(["/nothing", "/state/x", "/%zz"])("%s is answered in the API's error body", async (path) => {
  const { status, body } = await ask(await serve(), path);
  expect([400, 404]).toContain(status);
  expect(body).toEqual({ error: { code: expect.any(String), message: expect.any(String) } });
});

test("a foreign Host is refused on a loopback address", async () => {
  const server = await serve();
  for (const host of ["evil.example", "evil.example:4747", "127.0.0.1.evil.example", "a b["]) {
    expect((await ask(server, "/state", { host })).status).toBe(403);
  }
  for (const host of ["localhost", "localhost:1", "127.0.0.1:4747", "[::1]:4747"]) {
    expect((await ask(server, "/state", { host })).status).toBe(200);
  }
});

test("a page of another origin is refused, this server's own is not", async () => {
  const server = await serve();
  const { host } = new URL(server.url);
  for (const headers of [
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: "http://127.0.0.1:1" },
    { "sec-fetch-site": "cross-site" },
  ]) {
    const { status, headers: answered } = await ask(server, "/state", headers as Record<string, string>);
    expect(status).toBe(403);
    expect(answered["access-control-allow-origin"]).toBeUndefined();
  }
  expect(
    (await ask(server, "/state", { origin: `http://${host}`, "sec-fetch-site": "same-origin" })).status,
  ).toBe(200);
});

test("with a token nothing works without it", async () => {
  const server = await serve({ controlToken: "correct horse" });
  for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "correct horse" }]) {
    const { status, body } = await ask(server, "/state", headers as Record<string, string>);
    expect([status, body.error.code]).toEqual([401, "control_token_required"]);
  }
  expect((await ask(server, "/state", { authorization: "Bearer correct horse" })).status).toBe(200);
});

test("on an address that others can reach a token is made", async () => {
  const server = await serve({ host: "0.0.0.0" });
  expect(server.controlToken).toMatch(/^[\w-]{32}$/);
  expect((await ask(server, "/health")).status).toBe(401);
  expect((await ask(server, "/health", { authorization: `Bearer ${server.controlToken}` })).status).toBe(200);
});

test("without a control plane its paths are unknown paths of the API", async () => {
  const server = await serve({ control: false });
  expect(server.controlUrl).toBeUndefined();
  expect((await ask(server, "/health")).body.error.code).toBe("not_found");
});
