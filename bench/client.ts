import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { ClientOrder, ClientReading } from "./programs.js";

// A client library would take longer for each request than the servers do, and hide the difference between them.
const success = Buffer.from("HTTP/1.1 200 ");
const closing = Buffer.from("}}}");
const letterH = "H".charCodeAt(0);

interface Progress {
  sent: number;
  responded: number;
  readonly latencies: Float64Array;
}

/** Opens the connections; resolves once all of them are. */
async function openConnections({ port, connections }: ClientOrder): Promise<Socket[]> {
  const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1").setNoDelay(true));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return sockets;
}

async function load(order: ClientOrder): Promise<ClientReading> {
  const { port, keys, requests } = order;
  const texts = keys.map((key) =>
    Buffer.from(`GET /v1/relying-party/me HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Api-Key: ${key}\r\n\r\n`),
  );
  const progress: Progress = { sent: 0, responded: 0, latencies: new Float64Array(requests) };
  const sockets = await openConnections(order);
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    for (const socket of sockets) {
      socket.on("error", reject).on("close", () => reject(new Error("the server closed a connection")));
      converse(socket, texts, progress, { finish: resolve, fail: reject });
    }
  });
  const seconds = (performance.now() - started) / 1000;
  for (const socket of sockets) socket.destroy();
  const latencies = progress.latencies.sort();
  return { perSecond: requests / seconds, p99: latencies[Math.floor(requests * 0.99)] as number };
}

/** Sends one request after the other on a connection until enough have their responses. */
function converse(
  socket: Socket,
  texts: readonly Buffer[],
  progress: Progress,
  { finish, fail }: { readonly finish: () => void; readonly fail: (error: Error) => void },
): void {
  const { latencies } = progress;
  let sentAt = 0;
  const send = () => {
    if (progress.sent === latencies.length) return;
    sentAt = performance.now();
    socket.write(texts[progress.sent % texts.length] as Buffer);
    progress.sent += 1;
  };
  socket.on("data", (chunk: Buffer) => {
    if (chunk[0] === letterH && chunk.compare(success, 0, success.length, 0, success.length) !== 0) {
      fail(new Error(`expected a 200 and got ${chunk.toString("latin1").split("\r\n")[0]}`));
      return;
    }
    // The body's end occurs nowhere else in the response, so its length need not be read.
    if (chunk.length < closing.length) return;
    if (chunk.compare(closing, 0, closing.length, chunk.length - closing.length) !== 0) return;
    latencies[progress.responded] = performance.now() - sentAt;
    progress.responded += 1;
    if (progress.responded === latencies.length) finish();
    else send();
  });
  send();
}

process.on("message", (order: ClientOrder) => {
  load(order).then((reading) => process.send?.(reading));
});
