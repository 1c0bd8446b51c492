import { HttpResponse, http, passthrough } from "msw";
import { expect, test } from "vitest";
import { converse, readAnswers } from "./support/raw-socket.js";
import { mePath } from "./support/send.js";
import { attestations, serve } from "./support/serve-handlers.js";

const notFound = { error: { code: "not_found", message: expect.any(String) } };

test("handlers answer beside the API, by method and path, relative and with a wildcard for the host", async () => {
  const { call } = await serve([
    http.get("/relative", () => HttpResponse.text("relative")),
    http.post("*/wild", () => HttpResponse.text("wild", { status: 201 })),
    http.all("/any/:name", ({ request, params }) => HttpResponse.text(`${request.method} ${params.name}`)),
  ]);
  expect(await (await call("/relative?x=1")).text()).toBe("relative");
  const wild = await call("/wild", { method: "POST" });
  expect([wild.status, await wild.text()]).toEqual([201, "wild"]);
  for (const method of ["GET", "PUT", "DELETE"]) {
    expect(await (await call("/any/b%C3%A4nk", { method })).text()).toBe(`${method} bänk`);
  }
  expect((await call("/wild")).status).toBe(404);
});

test("a request that no handler takes, and one that is let through, get the API's 404", async () => {
  const { call, defects, sandbox } = await serve([
    http.get("/passed", () => passthrough()),
    http.get("/nothing", () => undefined),
    http.post("/read", async ({ request }) => void (await request.text())),
  ]);
  for (const [path, init] of [
    ["/passed"],
    ["/nothing"],
    ["/elsewhere"],
    ["/read", { method: "POST", body: "x".repeat(100_000) }],
    ["/unread", { method: "POST", body: "x".repeat(100_000) }],
  ] as const) {
    const answer = await call(path, init);
    expect([path, answer.status, answer.headers.get("x-msw-intention")]).toEqual([path, 404, null]);
    expect(await answer.json()).toEqual(notFound);
  }
  expect(sandbox.requests.list().map(({ pathId }) => pathId)).toEqual(Array(5).fill("404.unknown_path"));
  expect(defects).toEqual([]);
});

test("R49 the API's own paths and the control plane answer, whatever a handler for everything says", async () => {
  const { call, sandbox } = await serve([http.all("*", () => HttpResponse.text("mine"))]);
  expect((await call(mePath)).status).toBe(401);
  expect((await call(mePath, { headers: { "x-api-key": sandbox.secret("active") } })).status).toBe(200);
  expect((await call(`${mePath}?a=b`, { method: "POST" })).status).toBe(405);
  expect((await call("/__sandbox/health")).headers.get("content-type")).toContain("application/json");
  expect(await (await call(attestations)).text()).toBe("mine");
});

test("HEAD is answered by a handler for GET, without its body", async () => {
  const seen: string[] = [];
  const { call } = await serve([
    http.get("/get", ({ request }) => {
      seen.push(request.method);
      return HttpResponse.json({ some: "thing" });
    }),
    http.head("/head", () => new HttpResponse(null, { headers: { "x-head": "own" } })),
    http.get("/head", () => HttpResponse.text("not this one")),
  ]);
  const get = await call("/get");
  const head = await call("/get", { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
  expect((await call("/head", { method: "HEAD" })).headers.get("x-head")).toBe("own");
  expect(seen).toEqual(["GET", "GET"]);
});

test("generators answer in turn, and `once` answers once", async () => {
  const { call } = await serve([
    http.get("/poll", function* () {
      yield HttpResponse.text("pending");
      yield HttpResponse.text("almost");
      return HttpResponse.text("done");
    }),
    http.get("/once", () => HttpResponse.text("first"), { once: true }),
    http.get("/once", () => HttpResponse.text("then")),
  ]);
  const answers = async (path: string) => {
    const texts = [];
    for (let i = 0; i < 4; i++) texts.push(await (await call(path)).text());
    return texts;
  };
  expect(await answers("/poll")).toEqual(["pending", "almost", "done", "done"]);
  expect(await answers("/once")).toEqual(["first", "then", "then", "then"]);
});

test("a request that no web Request can be made of is left to the API, and nothing ends the process", async () => {
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
    return readAnswers(bytes).map((answer) => answer.status);
  };
  expect(await status("GET /%zz")).toEqual([404]);
  expect(await status("GET /%E0%A4%A")).toEqual([404]);
  expect(await status("OPTIONS *")).toEqual([404]);
  expect(await status("TRACE /x")).toEqual([404]);
  expect(asked).toEqual([]);

  expect(await status("GET //")).toEqual([200]);
  expect(await status("GET //other.example/x")).toEqual([200]);
  expect(await status("GET http://other.example/x?y")).toEqual([200]);
  expect(await status("GET /host", "Host: a b:c:d/é")).toEqual([200]);
  expect(await status("GET /accept", "Host: here\r\nAccept: msw/passthrough")).toEqual([200]);
  expect(await status("M-SEARCH /x")).toEqual([200]);
  const base = `http://127.0.0.1:${port}`;
  expect(asked).toEqual(
    ["//", "//other.example/x", "/x?y", "/host", "/accept", "/x"].map((path) => base + path),
  );
  expect(await status("GET /no-host", "X: y")).toEqual([400]);
  expect((await call(mePath)).status).toBe(401);
  expect(defects).toEqual([]);
});
