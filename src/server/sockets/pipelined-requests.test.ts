import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { PipelinedRequests, pausedUntil } from "./pipelined-requests.js";

/** A connection with a request that has no response yet, and others that wait for it. */
async function connectionWith(waiting: number): Promise<PassThrough> {
  const connection = new PassThrough();
  const requests = new PipelinedRequests();
  for (let started = 0; started <= waiting; started += 1) {
    const response = { req: { socket: connection }, socket: null, once() {} };
    requests.start(response as unknown as ServerResponse, () => {}); // only these members are used
  }
  // The connection is paused in the next tick.
  await new Promise((resolve) => setImmediate(resolve));
  return connection;
}

/** Something that is loaded in a later turn of the event loop. */
const loading = () => new Promise<string>((resolve) => setImmediate(() => resolve("loaded")));

test("a connection on which 100 requests wait stays paused after a loading", async () => {
  const connection = await connectionWith(100);
  expect(await pausedUntil(loading(), connection)).toBe("loaded");
  expect(connection.isPaused()).toBe(true);
});

test("a connection on which fewer requests wait is paused while something loads", async () => {
  const connection = await connectionWith(99);
  connection.resume();
  const loaded = pausedUntil(loading(), connection);
  await new Promise((resolve) => process.nextTick(resolve));
  expect(connection.isPaused()).toBe(true);
  await loaded;
  expect(connection.isPaused()).toBe(false);
});
