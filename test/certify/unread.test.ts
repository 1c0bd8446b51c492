import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { SeenRequests } from "../../src/certify/client-runs/seen-requests.js";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { serve } from "../../src/server/serve.js";
import { startFrozen } from "../support/doors.js";
import { mePath } from "../support/send.js";

/** Sends a request each time, the first of which gets its response late; `isUnread` is of each request so far. */
async function served() {
  const run = conditionedRun({
    onRequest: { which: { kind: "nth", key: "active", nth: 1 }, gets: { kind: "late", seconds: 30 } },
  });
  const sandbox = startFrozen("key-states", { run });
  const collected = new SeenRequests(() => 0);
  sandbox.counters.alsoCountWith(collected);
  const server = await serve(sandbox, { port: 0 });
  onTestFinished(() => server.close());
  const key = secretToSend(sandbox, "active");
  const send = (socket: Socket) =>
    socket.write(`GET ${mePath} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${key}\r\n\r\n`);
  const isUnread = () =>
    collected.facts().sentKeys.flatMap(({ requests }) => requests.map((one) => one.isUnread === true));
  return { port: Number(new URL(server.url).port), send, isUnread };
}

test("a late response that the client did not wait for is unread, and what it sends then is no resend", async () => {
  const { port, send, isUnread } = await served();
  const givingUp = connect(port, "127.0.0.1");
  send(givingUp);
  await expect.poll(isUnread).toEqual([false]);
  givingUp.destroy();
  await expect.poll(isUnread).toEqual([true]);
  const reading = connect(port, "127.0.0.1");
  send(reading);
  await once(reading, "data");
  reading.end();
  expect(isUnread()).toEqual([true, false]);
});

test("a client that resets a connection has got the responses that were written before", async () => {
  const { port, send, isUnread } = await served();
  const waiting = connect(port, "127.0.0.1");
  send(waiting);
  await expect.poll(isUnread).toEqual([false]);
  const resetting = connect({
    port,
    host: "127.0.0.1",
    onread: { buffer: Buffer.alloc(1), callback: () => false },
  });
  send(resetting);
  await expect.poll(isUnread).toEqual([false, false]);
  resetting.resetAndDestroy();
  waiting.destroy();
  await expect.poll(isUnread).toEqual([true, false]);
});
