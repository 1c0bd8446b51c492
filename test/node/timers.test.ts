import { EventEmitter, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import type { Delivery } from "../../src/sandbox/call.js";
import type { Exchange } from "../../src/sandbox/journal/exchange.js";
import { closeServer, createHttpServer } from "../../src/server/sockets/connections.js";
import { sendExchange } from "../../src/server/sockets/send-response.js";
import { startFrozen } from "../support/doors.js";

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

/** Ends the connection of a request that cannot be read. `code`: that of Node's parser. */
function endUnreadable(socket: Duplex, code = ""): void {
  createHttpServer().server.emit("clientError", Object.assign(new Error(), { code }), socket);
}

const sandbox = startFrozen({ version: 1 });
const message = { status: 200, headers: [], body: "a body" };
const late: Delivery = {
  latencyMs: 3_600_000,
  kind: "send",
  isWhole: false,
  cutAfter: undefined,
  bytesPerSecond: undefined,
};

test.each<[string, Partial<Delivery>]>([
  ["late response", {}],
  ["reset", { kind: "reset" }],
  ["slow response", { latencyMs: 0, bytesPerSecond: 0.001 }],
])("the timer of a %s ends with its client", (_what, fault) => {
  const before = timers();
  const response = responseTo();
  const delivery: Delivery = { ...late, ...fault };
  const exchange = { delivery, response: message, at: 0, outcome: "200.test" } as unknown as Exchange; // only these are read
  sendExchange(sandbox, exchange, false, response);
  expect(timers()).toBe(before + 1);
  response.emit("close");
  expect(timers()).toBe(before);
});

test("a rejected client may read the rejection for a second, and is disconnected then if it never closes", async () => {
  const { socket, written } = halfOpenSocket();
  endUnreadable(socket, "HPE_HEADER_OVERFLOW");
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
  endUnreadable(socket);
  expect(timers()).toBe(before + 1);
  socket.destroy();
  await once(socket, "close");
  expect(timers()).toBe(before);
  endUnreadable(socket);
  const ended = halfOpenSocket().socket.end();
  endUnreadable(ended);
  expect([timers(), ended.destroyed]).toEqual([before, true]);
});

test("a server that has closed leaves no timer of its grace", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const before = timers();
  await closeServer(server, new Set(), 3_600_000);
  expect(timers()).toBeLessThanOrEqual(before);
});
