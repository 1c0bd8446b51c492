import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { operations } from "../../src/sandbox/operations/operations.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { serve } from "../../src/server/serve.js";
import { startFrozen } from "../support/doors.js";
import { mePath } from "../support/send.js";

/** Sends a request each time, the first of which gets its response late; `unread`: how many responses the client did not wait for. */
async function served() {
  const sandbox = startFrozen("key-states");
  operations.faults(sandbox, [{ when: { requests: [1] }, then: { latency: "30s" } }]);
  const server = await serve(sandbox, { port: 0 });
  onTestFinished(() => server.close());
  const key = secretToSend(sandbox, "active");
  const send = (socket: Socket) =>
    socket.write(`GET ${mePath} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${key}\r\n\r\n`);
  const counts = () => [sandbox.counters.requests(), sandbox.counters.unread()];
  return { port: Number(new URL(server.url).port), send, counts };
}

test("a late response that the client did not wait for is unread, and one that it read is not", async () => {
  const { port, send, counts } = await served();
  const givingUp = connect(port, "127.0.0.1");
  send(givingUp);
  await expect.poll(counts).toEqual([1, 0]);
  givingUp.destroy();
  await expect.poll(counts).toEqual([1, 1]);
  const reading = connect(port, "127.0.0.1");
  send(reading);
  await once(reading, "data");
  reading.end();
  expect(counts()).toEqual([2, 1]);
});

test("a client that resets a connection has got the responses that were written before", async () => {
  const { port, send, counts } = await served();
  const waiting = connect(port, "127.0.0.1");
  send(waiting);
  await expect.poll(counts).toEqual([1, 0]);
  const resetting = connect({
    port,
    host: "127.0.0.1",
    onread: { buffer: Buffer.alloc(1), callback: () => false },
  });
  send(resetting);
  await expect.poll(counts).toEqual([2, 0]);
  resetting.resetAndDestroy();
  waiting.destroy();
  await expect.poll(counts).toEqual([2, 1]);
});
