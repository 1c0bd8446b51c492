import { type Draws, pick } from "../../src/domain/seed.js";
import { mePath } from "./doors.js";
import {
  controlPaths,
  oddAuthorities,
  oddChunks,
  oddCodings,
  oddExpectations,
  oddHosts,
  oddLengths,
  oddMethods,
  oddTargets,
  oddVersions,
  strangers,
} from "./hostile-pieces.js";
import type { RawSending } from "./raw-socket.js";

/** Makes one hostile conversation; every key that it contains comes from `key`. */
type Hostile = (draw: Draws, key: () => string) => RawSending;

/** Hostile conversations of one kind. */
export interface HostileGroup {
  readonly count: number;
  readonly hostile: Hostile;
}

export const crlf = "\r\n";

/** A number from 0 up to, not including, `end`. */
export function below(draw: Draws, end: number): number {
  return Math.floor((draw() / 4_294_967_296) * end);
}

function often(draw: Draws, text: string, most: number): string {
  return text.repeat(1 + below(draw, most));
}

/** A request; whatever is left out is as it should be. */
export function request(parts: {
  line?: string;
  host?: string;
  key?: string;
  headers?: string[];
  body?: string;
}): string {
  const { line = `GET ${mePath} HTTP/1.1`, host = "127.0.0.1", key, headers = [], body = "" } = parts;
  const keyLines = key === undefined ? [] : [`x-api-key: ${key}`];
  return [line, `Host: ${host}`, ...keyLines, ...headers, "", body].join(crlf);
}

/** A conversation of one piece. */
export function once(text: string, after: RawSending["after"] = "end"): RawSending {
  return { chunks: [text], after };
}

export function good(key: string): string {
  return request({ key });
}

function randomBytes(draw: Draws, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => draw() & 255));
}

/** The text with some of its bytes changed, left out or doubled. */
function damaged(draw: Draws, text: string): string {
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

function percentEncoded(text: string, depth: number): string {
  const sign = `%${"25".repeat(depth)}`;
  return [...text].map((one) => sign + one.charCodeAt(0).toString(16)).join("");
}

/** Between requests that are understood and the connection's other traffic: anything that may stand in a header. */
function keyedLines(draw: Draws, key: () => string): string[] {
  const names = [
    "Authorization: Bearer",
    "Cookie: key=",
    "X-Api-Key",
    "Referer: http://x/?k=",
    "X-Forwarded-For:",
    "User-Agent:",
  ];
  return Array.from({ length: 1 + below(draw, 3) }, () => `${pick(draw, names)} ${key()}`);
}

/** Every kind of hostility, by its name. */
export const hostileGroups: Readonly<Record<string, HostileGroup>> = {
  "odd methods": {
    count: 260,
    hostile: (draw, key) =>
      once(
        request({
          line: `${pick(draw, oddMethods)} ${pick(draw, [mePath, "/", "/nothing"])} HTTP/1.1`,
          key: key(),
        }),
      ),
  },
  "odd hosts": {
    count: 260,
    hostile(draw, key) {
      const host = pick(draw, [...oddHosts, often(draw, "a", 9000)]);
      const headers = below(draw, 5) === 0 ? [`Host: ${pick(draw, oddHosts)}`] : [];
      return once(request({ host, headers, key: key() }));
    },
  },
  "odd HTTP versions": {
    count: 220,
    hostile: (draw, key) => once(request({ line: `GET ${mePath} ${pick(draw, oddVersions)}`, key: key() })),
  },
  "odd content lengths": {
    count: 260,
    hostile(draw, key) {
      const headers = [`Content-Length: ${pick(draw, oddLengths)}`];
      if (below(draw, 3) === 0) headers.push(`Content-Length: ${pick(draw, oddLengths)}`);
      const line = `${pick(draw, ["GET", "POST"])} ${mePath} HTTP/1.1`;
      return once(request({ line, headers, key: key(), body: often(draw, "x", 40) }));
    },
  },
  "odd transfer codings": {
    count: 220,
    hostile(draw, key) {
      const headers = [`Transfer-Encoding: ${pick(draw, oddCodings)}`];
      if (below(draw, 2) === 0) headers.push(`Content-Length: ${pick(draw, oddLengths)}`);
      return once(request({ headers, key: key(), body: pick(draw, oddChunks) + good(key()) }));
    },
  },
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
  "folded header lines": {
    count: 160,
    hostile: (draw, key) =>
      once(
        request({
          headers: [
            `X-Api-Key:${pick(draw, ["", " ", "\t"])}`,
            `${pick(draw, [" ", "\t", "  "])}${key()}`,
            `Folded: a${crlf} ${key()}`,
          ],
        }),
      ),
  },
  "2,500 headers": {
    count: 60,
    hostile(draw, key) {
      const headers = Array.from({ length: 2500 }, (_, i) => `H${i}: ${below(draw, 10)}`);
      headers.splice(below(draw, headers.length), 0, ...keyedLines(draw, key));
      return once(request({ headers }));
    },
  },
  "a header of 70 KB": {
    count: 60,
    hostile(draw, key) {
      const long = key() + "x".repeat(70_000);
      return once(
        request(
          pick(draw, [
            { key: long },
            { host: long },
            { line: `GET /${long} HTTP/1.1` },
            { headers: [`${long}: x`] },
          ]),
        ),
      );
    },
  },
  "absolute targets with odd authorities": {
    count: 240,
    hostile: (draw, key) =>
      once(
        request({
          line: `GET ${pick(draw, oddAuthorities)} HTTP/1.1`,
          host: pick(draw, oddHosts),
          key: key(),
        }),
      ),
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
  "odd expectations": {
    count: 200,
    hostile(draw, key) {
      const text = request({
        line: `${pick(draw, ["GET", "POST"])} ${mePath} HTTP/1.1`,
        headers: [`Expect: ${pick(draw, oddExpectations)}`, "Content-Length: 100"],
        key: key(),
      });
      return { chunks: [text, often(draw, "x", 90)], after: pick(draw, ["end", "reset", "end"]) };
    },
  },
  "odd targets": {
    count: 300,
    hostile: (draw, key) =>
      once(
        request({
          line: `${pick(draw, ["GET", "HEAD", "POST"])} ${pick(draw, oddTargets)} HTTP/1.1`,
          key: key(),
        }),
      ),
  },
  "very long targets": {
    count: 100,
    hostile: (draw, key) =>
      once(
        request({
          line: `GET /${often(draw, pick(draw, ["a", "/", "%25", "%", "%2f..", "?", "SVC_test_", "svc_"]), 6000)} HTTP/1.1`,
          key: key(),
        }),
      ),
  },
  "keys where no key belongs": {
    count: 400,
    hostile(draw, key) {
      const plain = key();
      const spelled = pick(draw, [
        plain,
        plain.toUpperCase(),
        plain.toLowerCase(),
        plain.replaceAll("_", "%5f"),
        percentEncoded(plain, 0),
        percentEncoded(plain, 1),
        percentEncoded(plain, 2),
        `%53${plain.slice(1)}`,
        `%2553${plain.slice(1)}`,
      ]);
      const target = pick(draw, [
        `/${spelled}`,
        `${mePath}/${spelled}`,
        `${mePath}?key=${spelled}`,
        `/${spelled}/%`,
        `/%ff/${spelled}`,
        `/x?${spelled}`,
        `//${spelled}@x/`,
        `http://${spelled}/`,
        `http://x/${spelled}`,
        `/a${spelled}.json`,
        `/${spelled}/${spelled}`,
      ]);
      const line = `${pick(draw, ["GET", "GET", "POST", key()])} ${target} HTTP/1.1`;
      return once(request({ line, headers: keyedLines(draw, key), body: key() }));
    },
  },
  "the control plane": {
    count: 400,
    hostile(draw, key) {
      const path = pick(draw, [
        ...controlPaths,
        `/${key()}`,
        `/requests?${key()}=1`,
        `/requests?key=${key()}`,
        `/requests?path_id=${key()}`,
        `/${percentEncoded(key(), 0)}`,
      ]);
      const prefix = pick(draw, [
        "/__sandbox",
        "/__sandbox",
        "/__sandbox",
        "/__SANDBOX",
        "/__sandboxx",
        "/%5f_sandbox",
        "http://x/__sandbox",
      ]);
      return once(
        request({
          line: `${pick(draw, ["GET", "GET", "GET", "POST", "HEAD", "OPTIONS", "DELETE"])} ${prefix}${path} HTTP/1.1`,
          host: pick(draw, ["127.0.0.1", "localhost", "evil.example", ...oddHosts]),
          headers: pick(draw, [
            [],
            [`Origin: ${key()}`],
            ["Origin: null"],
            ["Sec-Fetch-Site: cross-site"],
            ["If-None-Match: *"],
            ["Content-Length: 3"],
            ["Range: bytes=0-0"],
          ]),
          key: key(),
        }),
        "listen",
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
