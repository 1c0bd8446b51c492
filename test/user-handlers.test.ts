import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { delay, HttpResponse, http, passthrough, ws } from "msw";
import { expect, onTestFinished, test } from "vitest";
import { guard } from "../src/library/guard.js";
import type { Sandbox } from "../src/library/sandbox.js";
import { startServer } from "../src/node/start-server.js";
import type { UserHandlers } from "../src/node/user-handlers.js";
import { converse, readAnswers } from "./support/raw-socket.js";

const mePath = "/v1/relying-party/me";
const attestations = "/v1/relying-party/attestations";

async function serve(handlers: UserHandlers, options: { scenario?: "key-states" | "rate-limited" } = {}) {
  const defects: unknown[] = [];
  const server = await startServer({
    frozen: true,
    ...options,
    handlers,
    onDefect: (error) => void defects.push(error),
  });
  onTestFinished(() => server.close(0));
  const port = Number(new URL(server.url).port);
  const call = (path: string, init?: RequestInit) => fetch(server.url + path, init);
  return { ...server, port, defects, call };
}

const large = Buffer.alloc(5 * 1024 * 1024, "svc");
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

test("a handler reads a JSON body, and a large one that comes in pieces", async () => {
  const { call } = await serve([
    http.post("/json", async ({ request }) => HttpResponse.json(await request.json())),
    http.put("/hash", async ({ request }) => {
      const hash = createHash("sha256");
      for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) hash.update(chunk);
      return HttpResponse.text(hash.digest("hex"));
    }),
  ]);
  const body = JSON.stringify({ consent: "☂", nested: [1, null] });
  const json = await call("/json", { method: "POST", body, headers: { "content-type": "application/json" } });
  expect(await json.text()).toBe(body);

  const pieces = async function* () {
    for (let i = 0; i < large.length; i += 300_000) yield large.subarray(i, i + 300_000);
  };
  const hashed = await call("/hash", {
    method: "PUT",
    body: pieces(),
    duplex: "half",
  } as unknown as RequestInit);
  expect(await hashed.text()).toBe(createHash("sha256").update(large).digest("hex"));
});

test("a body that a handler leaves unread does not hold up the next request on the connection", async () => {
  const { port } = await serve([http.post("/ignored", () => HttpResponse.text("thanks"))]);
  const post = (path: string) => [
    `POST ${path} HTTP/1.1\r\nHost: here\r\nContent-Length: ${large.length}\r\n\r\n`,
    large,
    `GET ${mePath} HTTP/1.1\r\nHost: here\r\n\r\n`,
  ];
  // All on one connection, where a server that stops reading never gets to the next request.
  const bytes = await converse(port, { chunks: [...post("/ignored"), ...post("/unknown")], after: "listen" });
  expect(readAnswers(bytes).map(({ status }) => status)).toEqual([200, 401, 404, 401]);
});

test("status, headers and each of several cookies arrive as the handler gave them", async () => {
  const { call } = await serve([
    http.get("/cookies", ({ cookies }) => {
      const headers = new Headers({ "content-type": "text/csv", "x-echo": JSON.stringify(cookies) });
      headers.append("set-cookie", "a=1; Path=/");
      headers.append("set-cookie", "b=2, with a comma; HttpOnly");
      return new HttpResponse("x,y", { status: 203, statusText: "Second Hand", headers });
    }),
    http.delete("/nothing", () => new HttpResponse(null, { status: 204 })),
  ]);
  const answer = await call("/cookies", { headers: { cookie: "mine=yes" } });
  expect([answer.status, answer.statusText, await answer.text()]).toEqual([203, "Second Hand", "x,y"]);
  expect(answer.headers.get("content-type")).toBe("text/csv");
  expect(answer.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2, with a comma; HttpOnly"]);
  expect(answer.headers.get("x-echo")).toBe('{"mine":"yes"}');
  // What one client was given is not taken for what another one sends.
  expect((await call("/cookies")).headers.get("x-echo")).toBe("{}");
  const nothing = await call("/nothing", { method: "DELETE" });
  expect([nothing.status, nothing.statusText, await nothing.text()]).toEqual([204, "No Content", ""]);
});

test("a streamed body is made no faster than the client reads it, and stops being made when it goes away", async () => {
  let made = 0;
  let cancelled = false;
  const { port, call, defects } = await serve([
    http.get("/endless", () => {
      const body = new ReadableStream({
        async pull(controller) {
          made += 1;
          controller.enqueue(new Uint8Array(64 * 1024));
          await pause(0);
        },
        cancel() {
          cancelled = true;
        },
      });
      return new HttpResponse(body, { headers: { "content-type": "application/octet-stream" } });
    }),
  ]);
  const sending = httpRequest({ port, path: "/endless", agent: false }).end();
  const [response] = (await once(sending, "response")) as [IncomingMessage];
  await once(response, "readable");
  response.pause();
  await pause(300);
  const madeUnread = made;
  await pause(300);
  // The buffers of the two sockets hold some megabytes; after that nothing more is made.
  expect(made).toBe(madeUnread);
  response.destroy();
  await expect.poll(() => cancelled).toBe(true);
  expect(defects).toEqual([]);
  expect((await call(mePath)).status).toBe(401);
});

test("a body that breaks off closes the connection, and is told", async () => {
  const { call, defects } = await serve([
    http.get("/broken", () => {
      let pulls = 0;
      const body = new ReadableStream({
        async pull(controller) {
          pulls += 1;
          // The first half is on its way by the time the second one fails.
          await pause(50);
          if (pulls === 1) controller.enqueue(new TextEncoder().encode("half of"));
          else controller.error(new Error("out of paper"));
        },
      });
      return new HttpResponse(body);
    }),
  ]);
  const answer = await call("/broken");
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
  expect(defects).toEqual([new Error("out of paper")]);
  expect((await call(mePath)).status).toBe(401);
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

test("HttpResponse.error() resets the connection, and the server lives on", async () => {
  const { port, call, defects } = await serve([http.get("/down", () => HttpResponse.error())]);
  for (let i = 0; i < 3; i++) {
    const sending = httpRequest({ port, path: "/down", agent: false }).end();
    const [error] = await once(sending, "error");
    expect(error.code).toBe("ECONNRESET");
  }
  expect((await call(mePath)).status).toBe(401);
  expect(defects).toEqual([]);
});

test("what a handler throws is told and answered with 500 in the API's error body, and the server lives on", async () => {
  const { call, defects } = await serve([
    http.get("/throws", () => {
      throw new Error("not today");
    }),
    http.get("/rejects", async () => {
      await pause(1);
      throw "a string";
    }),
    http.get("/status", () => new HttpResponse(null, { status: 101 })),
    http.get("/reason", () => new HttpResponse(null, { statusText: "Straße ☂" })),
  ]);
  for (const path of ["/throws", "/rejects", "/status"]) {
    const answer = await call(path);
    expect([path, answer.status, await answer.json()]).toEqual([
      path,
      500,
      { error: { code: "internal_error", message: expect.any(String) } },
    ]);
  }
  expect(defects).toEqual([new Error("not today"), "a string", expect.any(RangeError)]);
  expect((await call(mePath)).status).toBe(401);
});

test("a response that a handler throws is the answer, and one that was read before is a defect of the handler", async () => {
  const shared = new Response("once");
  const { call, defects } = await serve([
    http.get("/thrown", () => {
      throw HttpResponse.json({ thrown: true }, { status: 418 });
    }),
    http.get("/shared", () => shared),
  ]);
  const thrown = await call("/thrown");
  expect([thrown.status, await thrown.json()]).toEqual([418, { thrown: true }]);
  expect(await (await call("/shared")).text()).toBe("once");
  expect((await call("/shared")).status).toBe(500);
  expect(defects).toEqual([expect.any(TypeError)]);
});

test("a client that goes away aborts the handler's request, and is no defect", async () => {
  const aborted: string[] = [];
  const { call, defects } = await serve([
    http.all("/waits/:how", async ({ request, params }) => {
      request.signal.addEventListener("abort", () => aborted.push(params.how as string));
      if (params.how === "forever") await delay("infinite");
      await new Promise((_resolve, reject) =>
        request.signal.addEventListener("abort", () => reject(request.signal.reason)),
      );
      return HttpResponse.text("too late");
    }),
    http.get("/streams", ({ request: { signal } }) => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("the beginning"));
          signal.addEventListener("abort", () => {
            aborted.push("streams");
            controller.error(signal.reason);
          });
        },
      });
      return new HttpResponse(body);
    }),
  ]);
  for (const how of ["forever", "until-aborted"]) {
    await expect(call(`/waits/${how}`, { signal: AbortSignal.timeout(100) })).rejects.toThrow();
    await expect.poll(() => aborted).toContain(how);
  }
  // In the middle of what it is sent.
  const reading = new AbortController();
  const read = await call("/streams", { signal: reading.signal });
  reading.abort();
  await expect(read.text()).rejects.toThrow();
  await expect.poll(() => aborted).toContain("streams");
  // In the middle of what it sends.
  const leaving = new AbortController();
  const upload = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) });
  const init = { method: "POST", body: upload, duplex: "half", signal: leaving.signal };
  const sent = call("/waits/sending", init as RequestInit);
  setTimeout(() => leaving.abort(), 100);
  await expect(sent).rejects.toThrow();
  await expect.poll(() => aborted).toContain("sending");
  expect(defects).toEqual([]);
  expect((await call(mePath)).status).toBe(401);
});

test("a request that was answered is not aborted afterwards", async () => {
  let aborted = false;
  const { call } = await serve([
    http.get("/quick", ({ request }) => {
      request.signal.addEventListener("abort", () => {
        aborted = true;
      });
      return HttpResponse.text("done");
    }),
  ]);
  await (await call("/quick", { headers: { connection: "close" } })).text();
  await pause(50);
  expect(aborted).toBe(false);
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

test("a connection that breaks off in the middle of a body for a handler breaks nothing else", async () => {
  const { port, call, defects } = await serve([
    http.post("/upload", async ({ request }) => HttpResponse.text(await request.text())),
  ]);
  const socket = connect(port, "127.0.0.1");
  socket.write("POST /upload HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\nten bytes.");
  await pause(50);
  socket.resetAndDestroy();
  await pause(50);
  expect((await call(mePath)).status).toBe(401);
  expect(defects).toEqual([]);
});

const listed = http.get(attestations, ({ request }) => {
  const { refusal, caller } = guard(request, { scope: "attestations:read" });
  return refusal ?? HttpResponse.json({ data: [], bank: caller.organization.name });
});

test("R9–R21 guard knows the server's sandbox by itself and refuses as the API does", async () => {
  const { call, sandbox } = await serve([listed]);
  const asked = async (path: string, key: string | undefined) => {
    const answer = await call(path, key === undefined ? {} : { headers: { "x-api-key": key } });
    return [answer.status, answer.headers.get("content-type"), await answer.text()];
  };
  const keys = ["revoked", "expired", "rotated", "live-not-approved", "organization-inactive", "wrong-scope"];
  for (const key of [
    undefined,
    "Bearer x",
    sandbox.unknownSecret(),
    ...keys.map((ref) => sandbox.secret(ref as never)),
  ]) {
    expect(await asked(attestations, key)).toEqual(await asked(mePath, key));
  }
  expect(await asked(attestations, sandbox.secret("active"))).toEqual([
    200,
    "application/json",
    '{"data":[],"bank":"Harvest Cooperative Bank"}',
  ]);
});

test("R22 R24 what guard lets in counts against the key's limits, together with the API's own calls", async () => {
  const { call, sandbox } = await serve([listed], { scenario: "rate-limited" });
  const headers = { "x-api-key": sandbox.secret("three-a-minute") };
  const statuses = [];
  for (const path of [attestations, mePath, attestations, attestations, mePath]) {
    statuses.push((await call(path, { headers })).status);
  }
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  sandbox.clock.advance("1m");
  expect((await call(attestations, { headers })).status).toBe(200);
});

test("R46 what guard decided is in the journal, with its path and without the key", async () => {
  const { call, sandbox } = await serve([listed]);
  const key = sandbox.secret("wrong-scope");
  await call(`${attestations}?key=${key}`, { headers: { "x-api-key": key } });
  await call(attestations, { method: "HEAD", headers: { "x-api-key": sandbox.secret("active") } });
  expect(sandbox.requests.list()).toMatchObject([
    { path: attestations, key: "wrong-scope", status: 403, pathId: "403.insufficient_scope" },
    { path: attestations, key: "active", status: 200, pathId: "200.test" },
  ]);
  expect(JSON.stringify(sandbox.requests.list())).not.toContain(key);
});

test("two servers at once: guard asks the sandbox of the server that was called, however long the handler waits", async () => {
  const slow = http.get(attestations, async ({ request }) => {
    await pause(Math.random() * 20);
    const { refusal, caller } = guard(request);
    return refusal ?? HttpResponse.text(caller.key.ref);
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

test("handlers can be made by a function that is given the sandbox", async () => {
  let given: Sandbox | undefined;
  const { call, sandbox } = await serve(async ({ sandbox }) => {
    given = sandbox;
    return [http.post("/later", () => HttpResponse.text(sandbox.clock.advance("61m")))];
  });
  expect((await call("/later", { method: "POST" })).status).toBe(200);
  expect(sandbox.clock.now()).toBe(given?.clock.now());
});

test("guard outside of a server's handlers asks for the sandbox", () => {
  expect(() => guard(new Request("https://any.example/"))).toThrow(
    /Pass it: guard\(request, \{ scope, sandbox \}\)/,
  );
});

test.each([
  ["no list", { get: 1 }, /^Failed to use the handlers: they are not a list of msw request handlers\.$/],
  ["a list in a list", [[listed]], /number 1 of them is a list\. Spread it/],
  ["a function", [listed, () => new Response()], /number 2 of them is none\. Make it with msw's `http`/],
  ["a WebSocket handler", [ws.link("ws://x.example").addEventListener("connection", () => {})], /WebSocket/],
])("%s for handlers is refused when the server starts", async (_what, handlers, says) => {
  const starting = startServer({ handlers: handlers as never });
  await expect(starting).rejects.toMatchObject({ code: "usage", message: expect.stringMatching(says) });
});
