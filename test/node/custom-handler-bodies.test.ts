import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { delay, HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { converse, readResponses } from "../support/raw-socket.js";
import { mePath } from "../support/send.js";
import { serve } from "./serve-handlers.js";

const large = Buffer.alloc(5 * 1024 * 1024, "svc");

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
  const init = { method: "PUT", body: pieces(), duplex: "half" } as unknown as RequestInit;
  const hashed = await call("/hash", init);
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
  expect(readResponses(bytes).map(({ status }) => status)).toEqual([200, 401, 404, 401]);
});

test("a body of more than 10 MB, or of maxBody, gets 413 if a handler reads it", async () => {
  const handlers = [
    http.post("/read", async ({ request }) => {
      await request.arrayBuffer();
      return HttpResponse.text("read");
    }),
    http.post("/json", async ({ request }) => HttpResponse.json(await request.json())),
    http.post("/later", ({ request }) => {
      void request.text();
      return delay("infinite");
    }),
    http.post("/ignored", () => HttpResponse.text("thanks")),
  ];
  for (const [max, options] of [
    [10, {}],
    [1, { maxBody: 1 }],
  ] as const) {
    const length = max * 2 ** 20;
    const { call, defects } = await serve(handlers, options);
    expect(await (await call("/read", { method: "POST", body: Buffer.alloc(length) })).text()).toBe("read");
    for (const path of ["/read", "/json", "/later"]) {
      const response = await call(path, { method: "POST", body: Buffer.alloc(length + 1, "1") });
      expect([path, response.status, await response.json()]).toEqual([
        path,
        413,
        {
          error: {
            code: "bad_request",
            message: `The body is longer than ${max} MB, the limit for handlers: maxBody of startServer sets another limit.`,
          },
        },
      ]);
    }
    for (const [path, status] of [
      ["/ignored", 200],
      ["/unknown", 404],
    ] as const)
      expect((await call(path, { method: "POST", body: Buffer.alloc(3 * length) })).status).toBe(status);
    expect(defects).toEqual([]);
  }
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
  const response = await call("/cookies", { headers: { cookie: "mine=yes" } });
  expect([response.status, response.statusText, await response.text()]).toEqual([203, "Second Hand", "x,y"]);
  expect(response.headers.get("content-type")).toBe("text/csv");
  expect(response.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2, with a comma; HttpOnly"]);
  expect(response.headers.get("x-echo")).toBe('{"mine":"yes"}');
  // The cookies of one client do not reach another.
  expect((await call("/cookies")).headers.get("x-echo")).toBe("{}");
  const nothing = await call("/nothing", { method: "DELETE" });
  expect([nothing.status, nothing.statusText, await nothing.text()]).toEqual([204, "No Content", ""]);
});

test("a streamed body is made as fast as the client reads it, and cancelled when the client goes away", async () => {
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
  // The buffers of the two sockets hold some megabytes; after that nothing more is made.
  let before = -1;
  while (made > before && made < 1000) {
    before = made;
    await pause(100);
  }
  expect(made).toBeLessThan(1000);
  response.destroy();
  await expect.poll(() => cancelled).toBe(true);
  expect(defects).toEqual([]);
  expect((await call(mePath)).status).toBe(401);
});

test("a client that disconnects in the middle of a body is not a failure of the handler", async () => {
  let reads = 0;
  const { port, defects } = await serve([
    http.post("/read", async ({ request }) => {
      try {
        return HttpResponse.text(await request.text());
      } finally {
        reads += 1;
      }
    }),
  ]);
  const half = "POST /read HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\nhalf";
  await converse(port, { chunks: [half, ""], after: "reset" });
  await expect.poll(() => reads).toBe(1);
  await pause(0);
  expect(defects).toEqual([]);
});

test("a body that breaks off closes the connection and is reported", async () => {
  let fail = () => {};
  const { call, defects } = await serve([
    http.get("/broken", () => {
      const start = (controller: ReadableStreamDefaultController) => {
        controller.enqueue(new TextEncoder().encode("half of"));
        fail = () => controller.error(new Error("out of paper"));
      };
      return new HttpResponse(new ReadableStream({ start }));
    }),
  ]);
  const response = await call("/broken");
  fail();
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
  expect(defects).toEqual([new Error("out of paper")]);
  expect((await call(mePath)).status).toBe(401);
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

test("an error of a handler is reported and gets 500 with the API's error body, and the server continues", async () => {
  const shared = new Response("once");
  const { call, defects } = await serve([
    http.get("/throws", () => {
      throw new Error("not today");
    }),
    http.get("/rejects", () => Promise.reject("a string")),
    http.get("/status", () => new HttpResponse(null, { status: 101 })),
    http.get("/shared", () => shared),
    // A response that is thrown is the response, and no error.
    http.get("/thrown", () => {
      throw HttpResponse.json({ thrown: true }, { status: 418 });
    }),
  ]);
  expect(await (await call("/shared")).text()).toBe("once");
  const error = { code: "internal_error", message: expect.any(String) };
  for (const path of ["/throws", "/rejects", "/status", "/shared"]) {
    const response = await call(path);
    expect([path, response.status, await response.json()]).toEqual([path, 500, { error }]);
  }
  const thrown = await call("/thrown");
  expect([thrown.status, await thrown.json()]).toEqual([418, { thrown: true }]);
  expect(defects).toEqual([Error("not today"), "a string", expect.any(RangeError), expect.any(TypeError)]);
  expect((await call(mePath)).status).toBe(401);
});

test("a client that disconnects aborts the handler's request, which is not a defect; a completed request is not aborted", async () => {
  const aborted: string[] = [];
  const begun: string[] = [];
  const { call, defects } = await serve([
    http.all("/:how", async ({ request: { signal }, params }) => {
      const how = params.how as string;
      begun.push(how);
      signal.addEventListener("abort", () => aborted.push(how));
      if (how === "responded") return HttpResponse.text("done");
      if (how === "forever") await delay("infinite");
      const over = new Promise<never>((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
      if (how !== "streams") return over;
      const start = (controller: ReadableStreamDefaultController) => {
        controller.enqueue(new TextEncoder().encode("the beginning"));
        over.catch((error) => controller.error(error));
      };
      return new HttpResponse(new ReadableStream({ start }));
    }),
  ]);
  await (await call("/responded", { headers: { connection: "close" } })).text();
  // The last one goes away in the middle of what it sends.
  const upload = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) });
  for (const [how, init] of [
    ["forever", {}],
    ["until-aborted", {}],
    ["sending", { method: "POST", body: upload, duplex: "half" }],
  ] as const) {
    const leaving = new AbortController();
    const sent = call(`/${how}`, { ...(init as RequestInit), signal: leaving.signal });
    await expect.poll(() => begun).toContain(how);
    leaving.abort();
    await expect(sent).rejects.toThrow();
    await expect.poll(() => aborted).toContain(how);
  }
  const reading = new AbortController();
  const read = await call("/streams", { signal: reading.signal });
  reading.abort();
  await expect(read.text()).rejects.toThrow();
  await expect.poll(() => aborted).toEqual(["forever", "until-aborted", "sending", "streams"]);
  expect(defects).toEqual([]);
  expect((await call(mePath)).status).toBe(401);
});
