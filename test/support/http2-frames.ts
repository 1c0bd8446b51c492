import { connect } from "node:tls";

/** Types of frames (RFC 9113 §6). */
const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
};

const endStream = 0x1;
const endHeaders = 0x4;

/** A frame; whatever is given goes out, also what is malformed. */
function frame(
  type: number,
  { flags = 0, stream = 0, payload = Buffer.alloc(0) }: { flags?: number; stream?: number; payload?: Buffer },
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const number = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};

// HPACK without tables: a literal whose name and value are not indexed.
function field(name: string, value: string): Buffer {
  const text = (one: string) => {
    const bytes = Buffer.from(one, "latin1");
    if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
    const rest: number[] = [];
    let left = bytes.length - 127;
    for (; left >= 128; left >>= 7) rest.push((left & 127) | 128);
    return Buffer.concat([Buffer.from([127, ...rest, left]), bytes]);
  };
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** What a client sends first. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** A frame of settings, by their numbers. */
const settings = (...pairs: (readonly [id: number, value: number])[]) =>
  frame(frameTypes.settings, {
    payload: Buffer.concat(pairs.map(([id, value]) => Buffer.concat([Buffer.from([0, id]), number(value)]))),
  });

/** The headers of a request. */
const fields = (method: string, path: string, more: readonly (readonly [string, string])[] = []) =>
  Buffer.concat(
    [[":method", method], [":path", path], [":scheme", "https"], [":authority", "x"], ...more].map(
      ([name = "", value = ""]) => field(name, value),
    ),
  );
const me = fields("GET", "/v1/relying-party/me", [["x-api-key", "SVC_test_none"]]);
/** A request without a body. */
const ask = (stream: number, payload: Buffer = me, flags = endHeaders | endStream) =>
  frame(frameTypes.headers, { flags, stream, payload });

/** What a hostile client sends on one connection. */
export interface Flood {
  /** Its settings. Default: none. */
  readonly first?: Buffer;
  /** What it sends once. */
  readonly opening?: Buffer;
  /** What it sends again and again. */
  readonly turn: (index: number) => Buffer;
  /** Whether it reads what comes. Default: true. */
  readonly reads?: boolean;
}

const odd = (index: number) => 2 * index + 1;

/** Floods by name. */
export const floods: Readonly<Record<string, Flood>> = {
  "rapid reset": {
    turn: (i) =>
      Buffer.concat([ask(odd(i)), frame(frameTypes.reset, { stream: odd(i), payload: number(8) })]),
  },
  "rapid reset of bodies to the control plane": {
    turn: (i) =>
      Buffer.concat([
        ask(odd(i), fields("PUT", "/__sandbox/clock", [["content-type", "application/json"]]), endHeaders),
        frame(frameTypes.data, { stream: odd(i), payload: Buffer.from('{"advance"') }),
        frame(frameTypes.reset, { stream: odd(i), payload: number(8) }),
      ]),
  },
  settings: { turn: (i) => settings([4, 65_535 - (i % 2)]) },
  pings: { turn: (i) => frame(frameTypes.ping, { payload: Buffer.concat([number(i), number(i)]) }) },
  "pings, unread": {
    reads: false,
    turn: (i) => frame(frameTypes.ping, { payload: Buffer.concat([number(i), number(i)]) }),
  },
  "settings, unread": { reads: false, turn: () => settings() },
  continuations: {
    opening: ask(1, me, endStream),
    turn: () => frame(frameTypes.continuation, { stream: 1, payload: field("x-more", "x".repeat(100)) }),
  },
  "empty continuations": {
    opening: ask(1, me, endStream),
    turn: () => frame(frameTypes.continuation, { stream: 1 }),
  },
  "empty data": {
    opening: ask(1, fields("POST", "/v1/relying-party/me"), endHeaders),
    turn: () => frame(frameTypes.data, { stream: 1 }),
  },
  "a header bomb": {
    // Kept in the table once, and then named by a byte: one frame holds 4,000 bytes as often as it has bytes.
    turn: (i) => {
      const kept = field("x-bomb", "x".repeat(3900));
      kept[0] = 0x40;
      return ask(odd(i), Buffer.concat([me, kept, Buffer.alloc(16_000 - kept.length - me.length, 0xbe)]));
    },
  },
  "thousands of headers": {
    turn: (i) =>
      ask(odd(i), Buffer.concat([me, ...Array.from({ length: 1500 }, (_, j) => field(`h${j}`, ""))])),
  },
  "streams that never end": {
    turn: (i) => ask(odd(i), fields("POST", "/v1/relying-party/me"), endHeaders),
  },
  "streams to the control plane that never end": {
    turn: (i) =>
      ask(odd(i), fields("PUT", "/__sandbox/clock", [["content-type", "application/json"]]), endHeaders),
  },
  "requests whose answers have no window": {
    first: settings([4, 0]),
    turn: (i) => ask(odd(i)),
  },
  "requests whose answers are not read": { reads: false, turn: (i) => ask(odd(i)) },
  priorities: {
    turn: (i) =>
      frame(frameTypes.priority, {
        stream: odd(i),
        payload: Buffer.concat([number(odd(i + 1)), Buffer.from([1])]),
      }),
  },
  "window updates": {
    opening: ask(1, fields("POST", "/v1/relying-party/me"), endHeaders),
    turn: () => frame(frameTypes.windowUpdate, { payload: number(1) }),
  },
  "window updates of nothing": {
    turn: (i) => frame(frameTypes.windowUpdate, { stream: odd(i), payload: number(0) }),
  },
  "unknown frames": { turn: () => frame(200, { payload: Buffer.alloc(100) }) },
  "malformed headers": { turn: (i) => ask(odd(i), fields("GET", "/x", [["Upper-Case", "x"]])) },
  "a broken table": { turn: (i) => ask(odd(i), Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff])) },
  "the same stream again": { turn: () => ask(1) },
  "promises of a client": { turn: (i) => frame(frameTypes.push, { stream: odd(i), payload: number(2) }) },
  "frames that are too long": {
    turn: (i) => frame(frameTypes.data, { stream: odd(i), payload: Buffer.alloc(20_000) }),
  },
  "upgrades and connections": {
    turn: (i) =>
      ask(
        odd(i),
        fields("GET", "/v1/relying-party/me", [
          ["connection", "upgrade"],
          ["upgrade", "h2c"],
        ]),
      ),
  },
};

/** The server has stopped reading a connection on which nothing more can be written for so many milliseconds. */
const stalledAfter = 300;

/** The most bytes of a flood, for each of its frames. */
const bytesEach = 300;

/** Sends a flood on one connection; resolves once it is sent, or the server has closed the connection or stopped reading it. */
export function sendFlood(
  port: number,
  ca: string,
  { first = settings(), opening = Buffer.alloc(0), turn, reads = true }: Flood,
  frames: number,
): Promise<{ readonly frames: number; readonly end: "sent" | "stalled" | "closed" }> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", ca, ALPNProtocols: ["h2"] });
    let sent = 0;
    let stalled: NodeJS.Timeout | undefined;
    const end = (how: "sent" | "stalled" | "closed") => {
      clearTimeout(stalled);
      resolve({ frames: sent, end: how });
      socket.destroy();
    };
    const fill = () => {
      clearTimeout(stalled);
      while (sent < frames && socket.bytesWritten < frames * bytesEach) {
        sent += 1;
        if (socket.write(turn(sent))) continue;
        stalled = setTimeout(end, stalledAfter, "stalled");
        return;
      }
      socket.write("", () => end("sent"));
    };
    socket.on("error", () => {});
    socket.on("secureConnect", () => {
      socket.write(Buffer.concat([preface, first, opening]));
      fill();
    });
    socket.on("drain", fill);
    if (reads) socket.resume();
    socket.on("close", () => end("closed"));
  });
}
