import { HttpResponse, http, ws } from "msw";
import { expect, test } from "vitest";
import type { Sandbox } from "../src/library/sandbox.js";
import { startServer } from "../src/node/server/start-server.js";
import { listed, serve } from "./support/serve-handlers.js";

test("handlers can be made by a function that is given the sandbox", async () => {
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
  ["a list in a list", [[listed]], /number 1 of them is a list\. Spread it/],
  ["a function", [listed, () => new Response()], /number 2 of them is none\. Make it with msw's `http`/],
  ["a WebSocket handler", [ws.link("ws://x.example").addEventListener("connection", () => {})], /WebSocket/],
])("%s for handlers is refused when the server starts", async (_what, handlers, says) => {
  const starting = startServer({ handlers: handlers as never });
  await expect(starting).rejects.toMatchObject({ code: "usage", message: expect.stringMatching(says) });
});
