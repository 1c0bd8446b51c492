import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { PipelinedRequests, resumeUnlessManyWait } from "./pipelined-requests.js";

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

test("a connection on which 100 requests wait stays paused when somebody else would resume it", async () => {
  const connection = await connectionWith(100);
  resumeUnlessManyWait(connection);
  expect(connection.isPaused()).toBe(true);
});

test("a connection on which fewer requests wait is resumed", async () => {
  const connection = await connectionWith(99);
  connection.pause();
  resumeUnlessManyWait(connection);
  expect(connection.isPaused()).toBe(false);
});
