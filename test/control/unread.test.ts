import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { stateOf } from "../../src/library/sandbox-api.js";
import type { SandboxServer } from "../../src/server/index.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";

// Clients that do not read the responses of the control plane harm nobody else.

/** A connection whose client does not read. */
async function unreadConnection({ url }: SandboxServer): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  // A connection that the server ends may be reset.
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket.pause();
}

const request = (path: string, method = "GET") =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
const farmersPath = "/__sandbox/farmers?limit=1000";

/** The bytes of the body that a client gets when it reads at last. */
async function bytesOf(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on("data", (chunk) => {
    bytes += chunk.length;
  });
  socket.resume();
  if (!socket.closed) await once(socket, "close");
  return bytes;
}

/** A server whose farmers are a text of so many bytes, with how many of its lists were made. */
async function servedWith(bytes: number) {
  const server = await served();
  // The first call loads the control plane.
  await fetch(`${server.controlUrl}/health`);
  const { farmers } = stateOf(server.sandbox);
  const list = vi.spyOn(farmers, "list").mockReturnValue([{ name: "a".repeat(bytes) } as never]);
  return { server, list };
}

test("the requests of clients wait for one call of the control plane at most", async () => {
  const { server, list } = await servedWith(10);
  const calls = await Promise.all(Array.from({ length: 20 }, () => unreadConnection(server)));
  const client = await unreadConnection(server);
  list.mockImplementation(() => {
    // As long as the real ones take.
    const endsAt = performance.now() + 10;
    while (performance.now() < endsAt);
    return [];
  });
  const listsBefore: number[] = [];
  stateOf(server.sandbox).journal.subscribe(() => listsBefore.push(list.mock.calls.length));

  // The server has accepted all connections once it responds on the last one.
  client.resume().write(request(mePath).replace("close", "keep-alive"));
  await once(client, "data");
  listsBefore.length = 0;
  for (const socket of calls) socket.write(request(farmersPath));
  client.write(request(mePath));
  await vi.waitUntil(() => list.mock.calls.length === calls.length, { timeout: 60_000 });
  expect(listsBefore).toHaveLength(1);
  expect(listsBefore[0]).toBeLessThan(calls.length / 2);
});

test("of responses that nobody reads, the longest ends once there are too many bytes of them", async () => {
  const { server, list } = await servedWith(40_000_000);
  const sockets: Socket[] = [];
  while (sockets.length < 3) {
    const socket = await unreadConnection(server);
    socket.write(request(farmersPath));
    sockets.push(socket);
    await vi.waitUntil(() => list.mock.calls.length === sockets.length, { timeout: 60_000 });
  }
  const [oldest = 0, , latest] = await Promise.all(sockets.map(bytesOf));
  expect(oldest).toBeLessThan(40_000_000);
  expect(latest).toBeGreaterThan(40_000_000);
});

test.each([
  ["few bytes that nobody has read", 3_000_000, "GET", 5],
  ["no body", 40_000_000, "HEAD", 3],
])("responses with %s end no connection", async (_what, bytes, method, count) => {
  const { server, list } = await servedWith(bytes);
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const socket = await unreadConnection(server);
    socket.write(request(farmersPath, method));
    sockets.push(socket);
    await vi.waitUntil(() => list.mock.calls.length === sockets.length, { timeout: 60_000 });
  }
  const sent = await Promise.all(sockets.map(bytesOf));
  for (const received of sent) expect(received).toBeGreaterThan(method === "HEAD" ? 100 : bytes);
});

test("a call whose client has gone before its turn is not made", async () => {
  const { server, list } = await servedWith(10);
  const calls = await Promise.all(Array.from({ length: 5 }, () => unreadConnection(server)));
  const last = await unreadConnection(server);
  for (const socket of calls) socket.write(request(farmersPath), () => socket.resetAndDestroy());
  last.resume().write(request("/__sandbox/keys/active/revoke", "POST"));
  await once(last, "close");
  expect(list.mock.calls.length).toBeLessThan(calls.length);
});
