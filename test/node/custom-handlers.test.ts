import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { HttpResponse, http, passthrough, ws } from "msw";
import { expect, test } from "vitest";
import { guard, type Sandbox } from "../../src/index.js";
import { startServer } from "../../src/server/index.js";
import { loadHandlers } from "../../src/server/sockets/handlers.js";
import { converse, readResponses } from "../support/raw-socket.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { attestations, listed, serve } from "./serve-handlers.js";

const notFound = { error: { code: "not_found", message: expect.any(String) } };

test("handlers respond next to the API, by method and path, relative and with a wildcard for the host", async () => {
  const { call } = await serve([
    http.get("/relative", () => HttpResponse.text("relative")),
    http.post("*/wild", () => HttpResponse.text("wild", { status: 201 })),
    http.all("/any/:name", ({ request, params }) => HttpResponse.text(`${request.method} ${params.name}`)),
  ]);
  expect(await (await call("/relative?x=1")).text()).toBe("relative");
  const wild = await call("/wild", { method: "POST" });
  expect([wild.status, await wild.text()]).toEqual([201, "wild"]);
  for (const method of ["GET", "PUT", "DELETE"])
    expect(await (await call("/any/b%C3%A4nk", { method })).text()).toBe(`${method} bänk`);
  expect((await call("/wild")).status).toBe(404);
});

test("a request that no handler takes or that one passes through gets the API's 404", async () => {
  const { call, defects, sandbox } = await serve([
    http.get("/passed", () => passthrough()),
    http.get("/nothing", () => undefined),
    http.post("/read", async ({ request }) => void (await request.text())),
  ]);
  const post = { method: "POST", body: "x".repeat(100_000) };
  for (const path of ["/passed", "/nothing", "/elsewhere", "/read", "/unread"]) {
    const response = await call(path, path.endsWith("read") ? post : {});
    expect([path, response.status, response.headers.get("x-msw-intention")]).toEqual([path, 404, null]);
    expect(await response.json()).toEqual(notFound);
  }
  expect(sandbox.requests.list().map(({ pathId }) => pathId)).toEqual(Array(5).fill("404.unknown_path"));
  expect(defects).toEqual([]);
});

test("R49 the API's own paths and the control plane respond before a handler for everything", async () => {
  const { call, sandbox } = await serve([http.all("*", () => HttpResponse.text("mine"))]);
  expect((await call(mePath)).status).toBe(401);
  expect((await call(mePath, { headers: { "x-api-key": sandbox.secret("active") } })).status).toBe(200);
  expect((await call(`${mePath}?a=b`, { method: "POST" })).status).toBe(405);
  expect((await call("/__sandbox/health")).headers.get("content-type")).toContain("application/json");
  expect(await (await call(attestations)).text()).toBe("mine");
});

test("HEAD gets the response of a handler for GET, without its body", async () => {
  const seen: string[] = [];
  const { call } = await serve([
    http.get("/get", ({ request }) => {
      seen.push(request.method);
      return HttpResponse.json({ some: "thing" });
    }),
    http.head("/head", () => new HttpResponse(null, { headers: { "x-head": "own", "x-msw-own": "1" } })),
    http.get("/head", () => HttpResponse.text("not this one")),
  ]);
  const get = await call("/get");
  const head = await call("/get", { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
  const { headers } = await call("/head", { method: "HEAD" });
  expect([headers.get("x-head"), headers.get("x-msw-own")]).toEqual(["own", null]);
  expect(seen).toEqual(["GET", "GET"]);
});

test("generators respond in turn, and `once` responds once", async () => {
  const { call } = await serve([
    http.get("/poll", function* () {
      yield HttpResponse.text("pending");
      yield HttpResponse.text("almost");
      return HttpResponse.text("done");
    }),
    http.get("/once", () => HttpResponse.text("first"), { once: true }),
    http.get("/once", () => HttpResponse.text("then")),
  ]);
  const responses = async (path: string) => {
    const texts = [];
    for (let i = 0; i < 4; i++) texts.push(await (await call(path)).text());
    return texts;
  };
  expect(await responses("/poll")).toEqual(["pending", "almost", "done", "done"]);
  expect(await responses("/once")).toEqual(["first", "then", "then", "then"]);
});

test("a request without a web form is left to the API, and nothing ends the process", async () => {
  const asked: string[] = [];
  const { port, call, defects } = await serve([
    http.all("*", ({ request }) => {
      asked.push(request.url);
      return HttpResponse.text("mine");
    }),
  ]);
  const status = async (line: string, headers = "Host: here") => {
    const bytes = await converse(port, {
      chunks: [`${line} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`],
    });
    return readResponses(bytes).map((response) => response.status);
  };
  for (const line of ["GET /%zz", "GET /%E0%A4%A", "OPTIONS *", "TRACE /x"])
    expect([line, await status(line)]).toEqual([line, [404]]);
  expect(await status("GET /no-host", "X: y")).toEqual([400]);
  expect(asked).toEqual([]);
  const taken = ["GET //", "GET //other.example/x", "GET http://other.example/x?y", "M-SEARCH /x"];
  for (const line of taken) expect([line, await status(line)]).toEqual([line, [200]]);
  expect(await status("GET /host", "Host: a b:c:d/é")).toEqual([200]);
  expect(await status("GET /accept", "Host: here\r\nAccept: msw/passthrough")).toEqual([200]);
  const paths = ["//", "//other.example/x", "/x?y", "/x", "/host", "/accept"];
  expect(asked).toEqual(paths.map((path) => `http://127.0.0.1:${port}${path}`));
  expect((await call(mePath)).status).toBe(401);
  expect(defects).toEqual([]);
});

test("a function makes handlers from the sandbox", async () => {
  let given: Sandbox | undefined;
  const { call, sandbox } = await serve(async ({ sandbox }) => {
    given = sandbox;
    return [http.post("/later", () => HttpResponse.text(sandbox.clock.advance("61m")))];
  });
  expect((await call("/later", { method: "POST" })).status).toBe(200);
  expect(sandbox.clock.now()).toBe(given?.clock.now());
});

test.each([
  ["no list", { get: 1 }, /^Failed to use the handlers: they are not a list of msw request handlers\.$/],
  ["a list in a list", [[listed]], /number 1 is not an msw request handler\. .*spread lists/],
  [
    "a function",
    [listed, () => new Response()],
    /number 2 is not an msw request handler\. Make it with msw's `http`/,
  ],
  ["a WebSocket handler", [ws.link("ws://x.example").addEventListener("connection", () => {})], /WebSocket/],
])("%s for handlers is rejected when the server starts", async (_what, handlers, says) => {
  const starting = startServer({ handlers: handlers as never });
  await expect(starting).rejects.toMatchObject({ code: "usage", message: expect.stringMatching(says) });
});

test.each([
  ["h.mjs", "export const handlers = [1];"],
  ["h.mjs", "export default [1];"],
  ["h.cjs", "exports.handlers = [1];"],
  ["h.cjs", "exports.default = [1];"],
])("the handlers of %s are found in %j", async (name, code) => {
  const cwd = temporaryFolder({ [name]: code });
  expect(await loadHandlers(name, cwd)).toEqual({ handlers: [1], file: join(cwd, name) });
});

test.each([
  ["none.mjs", "", /^Failed to load the handlers from "none\.mjs": there is no such file\.$/],
  ["h.mjs", "export const get = 1;", /exports no list of msw handlers.* as default or as `handlers`\.$/],
  ["h.mjs", 'import "./data.mjs";', /: Cannot find module '.*data\.mjs' imported from .*h\.mjs$/],
  ["h.mjs", 'throw new Error("first\\nsecond");', /: first$/],
  ["h.mjs", 'throw "a text";', /: a text$/],
  ["h.mjs", 'throw new SyntaxError("bad");', /: bad\. Run `node \S+h\.mjs` to see the line\.$/],
  ["h.mjs", 'throw { __proto__: new Error("x"), stack: import.meta.url + ":7:1" };', /: x \(line 7\)$/],
  [
    "h.mjs",
    "throw new Error(\"Cannot find package 'msw' imported\");",
    /: msw is not installed where \S+h\.mjs/,
  ],
])("handlers in %s with %j are rejected", async (name, code, says) => {
  const loading = loadHandlers(name, temporaryFolder({ "h.mjs": code }));
  await expect(loading).rejects.toMatchObject({ code: "usage", message: expect.stringMatching(says) });
});

const oldMsw = { "node_modules/msw/package.json": '{ "version": "2.1.0" }', "node_modules/msw/index.js": "" };

test.each([
  [
    "no msw",
    {},
    [],
    /msw is not installed where \S+h\.mjs looks for it\. Run `npm install --save-dev msw`\.$/,
  ],
  ["an msw without getResponse", oldMsw, [], /they need msw 2\.10 or later\./],
  [
    "a function that throws",
    {},
    () => {
      throw new Error("no data");
    },
    /^Failed to make the handlers: no data$/,
  ],
])("handlers with %s are rejected when the server starts", async (_what, files, handlers, says) => {
  const starting = startServer({ handlers, handlersFile: join(temporaryFolder(files), "h.mjs") });
  await expect(starting).rejects.toMatchObject({ code: "usage", message: expect.stringMatching(says) });
});

test("R9–R21 guard finds the server's sandbox and rejects like the API", async () => {
  const { call, sandbox } = await serve([listed]);
  const asked = async (path: string, key: string | undefined) => {
    const response = await call(path, key === undefined ? {} : { headers: { "x-api-key": key } });
    return [response.status, response.headers.get("content-type"), await response.text()];
  };
  const keys = ["revoked", "expired", "rotated", "live-not-approved", "organization-inactive", "wrong-scope"];
  const secrets = keys.map((ref) => sandbox.secret(ref as never));
  for (const key of [undefined, "Bearer x", sandbox.secret("unknown"), ...secrets])
    expect(await asked(attestations, key)).toEqual(await asked(mePath, key));
  const listing = '{"data":[],"bank":"Harvest Cooperative Bank"}';
  expect(await asked(attestations, sandbox.secret("active"))).toEqual([200, "application/json", listing]);
});

test("R22 R24 a request that guard permits counts against the key's limits, together with the API's own calls", async () => {
  const { call, sandbox } = await serve([listed], { scenario: "rate-limited" });
  const headers = { "x-api-key": sandbox.secret("three-a-minute") };
  const statuses = [];
  for (const path of [attestations, mePath, attestations, attestations, mePath])
    statuses.push((await call(path, { headers })).status);
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  sandbox.clock.advance("1m");
  expect((await call(attestations, { headers })).status).toBe(200);
});

test("R46 the decision of guard is in the journal, with its path and without the key", async () => {
  const { call, sandbox } = await serve([listed]);
  const key = sandbox.secret("wrong-scope");
  await call(`${attestations}?key=${key}`, { headers: { "x-api-key": key } });
  await call(attestations, { method: "HEAD", headers: { "x-api-key": sandbox.secret("active") } });
  expect(sandbox.requests.list()).toMatchObject([
    { path: attestations, key: "wrong-scope", status: 403, pathId: "403.insufficient_scope" },
    { path: attestations, key: "active", status: 200, pathId: "200.guarded" },
  ]);
  expect(JSON.stringify(sandbox.requests.list())).not.toContain(key);
});

test("guard uses the sandbox of the called server, also if two run", async () => {
  const slow = http.get(attestations, async ({ request }) => {
    await pause(Math.random() * 20);
    const { rejection, caller } = guard(request);
    return rejection ?? HttpResponse.text(caller.key.ref);
  });
  const first = await serve([slow]);
  const second = await serve([slow]);
  first.sandbox.keys.revoke("active");
  const headers = { "x-api-key": second.sandbox.secret("active") };
  const calls = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first : second));
  const statuses = await Promise.all(
    calls.map(async ({ call }) => (await call(attestations, { headers })).status),
  );
  expect(statuses).toEqual(calls.map((server) => (server === first ? 401 : 200)));
  expect([first, second].map(({ sandbox }) => sandbox.requests.total())).toEqual([10, 10]);
});

test("guard outside of a server's handlers requires the sandbox", () => {
  expect(() => guard(new Request("https://any.example/"))).toThrow(
    /needs a sandbox: guard\(request, \{ scope, sandbox \}\)/,
  );
});
