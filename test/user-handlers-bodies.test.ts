import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { converse, readAnswers } from "./support/raw-socket.js";
import { mePath } from "./support/send.js";
import { serve } from "./support/serve-handlers.js";

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
