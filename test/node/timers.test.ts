import { EventEmitter, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import type { Delivery } from "../../src/sandbox/call.js";
import { closeServer } from "../../src/server/sockets/connections.js";
import { endSocket, endWithError } from "../../src/server/sockets/send-error.js";
import { sendFaulty } from "../../src/server/sockets/send-faulty.js";

const timers = () => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;

/** A response to a client that reads and sends nothing, until `close`. */
function responseTo(written: unknown[] = []) {
  const add = (...what: unknown[]) => void written.push(...what);
  return Object.assign(new EventEmitter(), {
    ...{ writeHead: add, flushHeaders() {}, write: add, end: add },
  }) as unknown as ServerResponse & EventEmitter;
}

/** A socket whose client never closes its half. */
function halfOpenSocket() {
  const written: string[] = [];
  const socket = new Duplex({
    ...{ autoDestroy: false, read() {} },
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  return { socket, written };
}

const message = { status: 200, headers: [], body: "a body" };
const late: Delivery = {
  delayMs: 3_600_000,
  kind: "send",
  isWhole: true,
  cutAfter: undefined,
  bytesPerSecond: undefined,
};

test.each<[string, (response: ServerResponse) => void]>([
  ["late response", (response) => sendFaulty(late, message, response)],
  ["reset", (response) => sendFaulty({ ...late, kind: "reset" }, message, response)],
  [
    "slow response",
    (response) => sendFaulty({ ...late, delayMs: 0, bytesPerSecond: 0.001 }, message, response),
  ],
])("the timer of a %s ends with its client", (_what, send) => {
  const before = timers();
  const response = responseTo();
  send(response);
  expect(timers()).toBe(before + 1);
  response.emit("close");
  expect(timers()).toBe(before);
});

test("a rejected client may read the rejection for a second, and is disconnected then if it never closes", async () => {
  const { socket, written } = halfOpenSocket();
  endWithError(socket, "HPE_HEADER_OVERFLOW");
  expect([socket.destroyed, written.join("")]).toEqual([
    false,
    expect.stringMatching(/^HTTP\/1\.1 431 [\s\S]*\r\nConnection: close\r\n\r\n\{"error"/),
  ]);
  await once(socket, "close");
  expect(socket.destroyed).toBe(true);
});

test("the end of a connection leaves no timer, and one that cannot be written is destroyed at once", async () => {
  const before = timers();
  const { socket } = halfOpenSocket();
  endSocket(socket, "bye");
  expect(timers()).toBe(before + 1);
  socket.destroy();
  await once(socket, "close");
  expect(timers()).toBe(before);
  endSocket(socket, "again");
  const ended = halfOpenSocket().socket.end();
  endSocket(ended);
  expect([timers(), ended.destroyed]).toEqual([before, true]);
});

test("a server that has closed leaves no timer of its grace", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const before = timers();
  await closeServer(server, new Set(), 3_600_000);
  expect(timers()).toBeLessThanOrEqual(before);
});
