import { pick, type RandomStream } from "../../src/domain/seed.js";
import { below, type HostileGroup, often } from "./hostile-group.js";
import { oddChunks, strangers } from "./hostile-pieces.js";
import { crlf, good, once, request } from "./raw-requests.js";
import { mePath } from "./send.js";

/** Hostility in the bytes of a connection and in how they come, by its name. */
export const hostileStreams: Readonly<Record<string, HostileGroup>> = {
  "broken chunks": {
    count: 220,
    hostile: (draw, key) =>
      once(
        request({
          line: `${pick(draw, ["POST", "GET", "DELETE"])} ${mePath} HTTP/1.1`,
          headers: ["Transfer-Encoding: chunked"],
          key: key(),
          body: pick(draw, oddChunks),
        }),
        below(draw, 8) === 0 ? "listen" : "end",
      ),
  },
  "good and bad in one pipeline": {
    count: 200,
    hostile(draw, key) {
      const parts = Array.from({ length: 2 + below(draw, 10) }, () =>
        below(draw, 4) > 0 ? good(key()) : damaged(draw, good(key())),
      );
      return once(parts.join(""));
    },
  },
  "cut short and half-closed": {
    count: 260,
    hostile(draw, key) {
      const text = request({ key: key(), headers: ["Content-Length: 10"], body: "0123456789" });
      return once(text.slice(0, 1 + below(draw, text.length)));
    },
  },
  "cut short and left open": {
    count: 120,
    hostile(draw, key) {
      const text = good(key());
      return once(text.slice(0, below(draw, text.length)), "listen");
    },
  },
  "byte by byte": {
    count: 100,
    hostile: (draw, key) => ({
      chunks: [...(below(draw, 2) === 0 ? good(key()) : damaged(draw, good(key())))],
    }),
  },
  "null bytes and control characters": {
    count: 260,
    hostile(draw, key) {
      const text = good(key());
      const at = below(draw, text.length);
      return once(text.slice(0, at) + String.fromCharCode(below(draw, 32)) + text.slice(at));
    },
  },
  "other uses of a connection": {
    count: 240,
    hostile(draw, key) {
      const line = pick(draw, [
        "OPTIONS * HTTP/1.1",
        "GET * HTTP/1.1",
        "CONNECT example.org:443 HTTP/1.1",
        "CONNECT / HTTP/1.1",
        `TRACE ${mePath} HTTP/1.1`,
        "PRI * HTTP/2.0",
        `CONNECT ${key()} HTTP/1.1`,
        `GET ${mePath} HTTP/1.1`,
      ]);
      const headers = pick(draw, [
        [],
        ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x"],
        ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"],
        ["Upgrade: x"],
        ["Connection: upgrade"],
        ["Connection: close, keep-alive"],
        ["Connection: x-api-key"],
        ["Max-Forwards: 0"],
      ]);
      return once(
        request({ line, headers, key: key(), body: often(draw, "\0", 30) }),
        pick(draw, ["end", "end", "end", "listen", "reset"]),
      );
    },
  },
  "random bytes": {
    count: 260,
    hostile: (draw) => ({ chunks: [randomBytes(draw, 1 + below(draw, 400))] }),
  },
  "good requests with damaged bytes": {
    count: 500,
    hostile: (draw, key) => once(damaged(draw, request({ key: key(), headers: ["Accept: */*"] }))),
  },
  "other protocols": {
    count: 140,
    hostile: (draw, key) =>
      once(
        pick(draw, strangers) + (below(draw, 3) === 0 ? good(key()) : ""),
        pick(draw, ["end", "end", "listen"]),
      ),
  },
  "bare line endings": {
    count: 160,
    hostile(draw, key) {
      const ending = pick(draw, ["\n", "\r", "\n\r", "\r\r\n"]);
      return once(good(key()).replaceAll(crlf, ending) + ending);
    },
  },
  "reset at once": {
    count: 260,
    hostile(draw, key) {
      const text = pick(draw, [
        good(key()),
        `CONNECT x:1 HTTP/1.1${crlf}Host: x${crlf}${crlf}`,
        "nonsense\r\n\r\n",
        request({ key: key(), headers: ["Content-Length: 9"] }),
      ]);
      return { chunks: [text.repeat(1 + below(draw, 3))], after: "reset" };
    },
  },
};

function randomBytes(draw: RandomStream, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => draw() & 255));
}

/** The text with some of its bytes changed, left out or doubled. */
function damaged(draw: RandomStream, text: string): string {
  let result = text;
  for (let i = 0; i <= below(draw, 4); i++) {
    const at = below(draw, result.length);
    const insert = pick(draw, [
      "",
      String.fromCharCode(draw() & 255),
      result[at] ?? "",
      "\r\n",
      "\0",
      " ",
      ":",
    ]);
    result = result.slice(0, at) + insert + result.slice(at + below(draw, 2));
  }
  return result;
}
