import { connect, type TLSSocket } from "node:tls";
import { ask, fields, frame, frameTypes, preface, settings } from "../test/support/http2-frames.js";
import type { ClientOrder, ClientReading } from "./messages.js";

// HPACK's one byte for `:status: 200`, with which both servers begin.
const ok = 0x88;
const endStream = 0x1;
const ack = 0x1;
const wideWindow = Buffer.from([0x7f, 0, 0, 0]);

type Seen = [type: number, flags: number, stream: number, firstByte: number | undefined];

/** Calls with each whole frame; returns what is left. */
function eachFrame(bytes: Buffer, read: (...seen: Seen) => void): Buffer {
  let at = 0;
  while (bytes.length - at >= 9) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (bytes.length < end) break;
    const [type = 0, flags = 0] = bytes.subarray(at + 3, at + 5);
    read(type, flags, bytes.readUInt32BE(at + 5), bytes[at + 9]);
    at = end;
  }
  return bytes.subarray(at);
}

/** Keeps `streams` requests under way on each connection until `requests` are answered; rejects on any other status than 200. */
export function loadHttp2({
  port,
  connections,
  streams = 1,
  keys,
  requests,
}: ClientOrder): Promise<ClientReading> {
  const blocks = keys.map((key) => fields("GET", "/v1/relying-party/me", [["x-api-key", key]]));
  const latencies = new Float64Array(requests);
  let sent = 0;
  let answered = 0;

  return new Promise((resolve, reject) => {
    const sockets: TLSSocket[] = [];
    const finish = () => {
      const seconds = (performance.now() - started) / 1000;
      for (const socket of sockets) socket.destroy();
      latencies.sort();
      const latencyOf = (share: number) => latencies[Math.floor(requests * share)] as number;
      resolve({ perSecond: requests / seconds, p50: latencyOf(0.5), p99: latencyOf(0.99) });
    };
    const converse = (socket: TLSSocket) => {
      const sentAt = new Map<number, number>();
      let next = 1;
      let rest: Buffer = Buffer.alloc(0);
      const send = (count: number) => {
        const frames: Buffer[] = [];
        for (; frames.length < count && sent < requests; sent += 1, next += 2) {
          sentAt.set(next, performance.now());
          frames.push(ask(next, blocks[sent % blocks.length] as Buffer));
        }
        if (frames.length > 0) socket.write(Buffer.concat(frames));
      };
      const read: (...seen: Seen) => boolean = (type, flags, stream, first) => {
        if (type === frameTypes.settings && (flags & ack) === 0) socket.write(frame(type, { flags: ack }));
        if (type === frameTypes.headers && first !== ok) reject(new Error("an answer was not a 200"));
        if (type === frameTypes.reset || type === frameTypes.goaway) {
          reject(new Error(`the server sent a frame of type ${type}`));
        }
        if (type > frameTypes.headers || (flags & endStream) === 0) return false;
        latencies[answered] = performance.now() - (sentAt.get(stream) as number);
        sentAt.delete(stream);
        answered += 1;
        return true;
      };
      socket.on("data", (chunk: Buffer) => {
        let ended = 0;
        rest = eachFrame(Buffer.concat([rest, chunk]), (...one) => {
          if (read(...one)) ended += 1;
        });
        if (answered === requests) finish();
        else send(ended);
      });
      socket.write(
        Buffer.concat([preface, settings(), frame(frameTypes.windowUpdate, { payload: wideWindow })]),
      );
      send(streams);
    };

    let started = 0;
    let connected = 0;
    for (let i = 0; i < connections; i++) {
      const options = { port, host: "127.0.0.1", ALPNProtocols: ["h2"], rejectUnauthorized: false };
      const socket = connect(options, () => {
        connected += 1;
        if (connected < connections) return;
        started = performance.now();
        for (const one of sockets) converse(one);
      });
      socket.setNoDelay(true);
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("the server closed a connection")));
      sockets.push(socket);
    }
  });
}
