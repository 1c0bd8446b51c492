import { afterAll, beforeAll, expect, test } from "vitest";
import { type Draws, drawsFor, pick } from "../src/domain/seed.js";
import { openWorld } from "../src/node/open-world.js";
import { type RunningServer, serveWorld } from "../src/node/start-server.js";
import type { JournalEntry } from "../src/sandbox/journal.js";
import { scenarioSecret, scenarioSecrets, type World } from "../src/sandbox/world.js";
import { bundledScenarios } from "../src/scenario/bundled.js";
import { mePath } from "./support/doors.js";
import { converse, type RawAnswer, type RawSending, readAnswers } from "./support/raw-socket.js";

/** Makes one hostile conversation; every key that it contains comes from `key`. */
type Hostile = (draw: Draws, key: () => string) => RawSending;

interface Group {
  readonly count: number;
  readonly hostile: Hostile;
}

const crlf = "\r\n";

/** A number from 0 up to, not including, `end`. */
function below(draw: Draws, end: number): number {
  return Math.floor((draw() / 4_294_967_296) * end);
}

function often(draw: Draws, text: string, most: number): string {
  return text.repeat(1 + below(draw, most));
}

/** A request; whatever is left out is as it should be. */
function request(parts: { line?: string; host?: string; key?: string; headers?: string[]; body?: string }): string {
  const { line = `GET ${mePath} HTTP/1.1`, host = "127.0.0.1", key, headers = [], body = "" } = parts;
  const keyLines = key === undefined ? [] : [`x-api-key: ${key}`];
  return [line, `Host: ${host}`, ...keyLines, ...headers, "", body].join(crlf);
}

/** A conversation of one piece. */
function once(text: string, then: RawSending["then"] = "end"): RawSending {
  return { chunks: [text], then };
}

function good(key: string): string {
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
    const insert = pick(draw, ["", String.fromCharCode(draw() & 255), result[at] ?? "", "\r\n", "\0", " ", ":"]);
    result = result.slice(0, at) + insert + result.slice(at + below(draw, 2));
  }
  return result;
}

function percentEncoded(text: string, depth: number): string {
  const sign = `%${"25".repeat(depth)}`;
  return [...text].map((one) => sign + one.charCodeAt(0).toString(16)).join("");
}

const oddMethods = [
  "get", "G ET", "", " GET", "FOO", "GET\0", "G\u00cbT", "PROPFIND", "M-SEARCH", "PURGE", "LINK", "QUERY", "SOURCE",
  "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "ACL", "SUBSCRIBE", "GETGET", "GET\t", "(GET)", "-", "\u007f",
];
const oddHosts = [
  "a b[", "", "[", "[::1", "::1", "a@b", "a/b", "a\tb", "127.0.0.1:99999", "%00", "\u00fc", "a,b", "http://x", "[::1]:x",
  "?", "#", "\\", "localhost:", ":80", "127.0.0.1:80:80", "a;b", "<script>", "${host}", "*", ".", "..", "-",
];
const oddVersions = [
  "HTTP/0.9", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/2", "HTTP/9.9", "HTTP/1", "HTTP/1.", "HTTP/.1", "HTTP/1.1.1",
  "HTTP/11", "http/1.1", "HTTPS/1.1", "ICE/1.0", "RTSP/1.0", "", "1.1", "HTTP/1.1 HTTP/1.1", "HTTP/\u00b9.1", "HTTP/-1.1",
];
const oddLengths = [
  "-1", "+1", "1e3", "0x10", "1 1", "1,1", "", " ", "abc", "99999999999999999999", "9007199254740993", "4294967296", "1.5",
  "\u00b2", "00", "0, 0", "10", "NaN", "Infinity",
];
const oddCodings = ["chunked, chunked", "identity", "gzip", "chunked, gzip", "xchunked", "", "\tchunked", "chunked;q=1", "CHUNKED", "chun ked"];
const oddChunks = [
  "zz\r\nabc\r\n0\r\n\r\n", "-1\r\n\r\n", "ffffffffffffffffff\r\n", "5\r\nab", "5\r\nabcdefgh\r\n0\r\n\r\n", "3;a=b;c\r\nabc\r\n0\r\n\r\n",
  "3\nabc\n0\n\n", "0\r\nx-api-key: a\r\n\r\n", "\r\n\r\n", "3\r\nabc\r\n", "0x3\r\nabc\r\n0\r\n\r\n", " 3\r\nabc\r\n0\r\n\r\n", "0\r\n",
];
const oddTargets = [
  "", " ", "me", "//", "//v1/relying-party/me", "/v1//relying-party/me", "/v1/relying-party/me/", "/v1/relying-party/./me", "/../..",
  "/v1/relying-party/ME", "/v1/relying-party/me;a=b", "/v1/relying-party/me#x", "?", "/?", "#", "\\", "/v1\\relying-party\\me", "/%",
  "/%zz", "/%c0%af", "/%ff%fe", "/%E0%A4%A", "/%00", "/\u00e9", "/v1/relying-party/%6De", "/<script>", "/${7*7}", "/__proto__",
  "/constructor", "*", "**", "/*", "/v1/relying-party/me%0d%0aX-Injected:%20yes", "/|", '/"', "/\u0001", "/%25%32%35",
];
const oddAuthorities = [
  "http://", "http:///v1/relying-party/me", "http://a b/v1", "http://[::1/v1/relying-party/me", "http://u:p@x/v1/relying-party/me",
  "https://x:99999/v1/relying-party/me", "http://?x", "http://x?y", "ftp://x/v1/relying-party/me", "HTTP://X/v1/relying-party/me",
  "http:/v1/relying-party/me", "http:v1", "javascript:alert(1)", "http://\u00fc/v1/relying-party/me", "x://y", "://", "http://x/__sandbox/state",
  "http://x#y", "https://%00/v1/relying-party/me", "file:///etc/passwd",
];
const strangers = [
  "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003", "SSH-2.0-OpenSSH_9.6\r\n", "\u0005\u0001\u0000", "*1\r\n$4\r\nPING\r\n",
  "EHLO example.org\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u0000\u0000\u0000\u0000", "USER anonymous\r\n", "{}\n", "<policy-file-request/>\0",
  "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n", "\r\n\r\n\r\n", "\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "GET",
];
const oddExpectations = ["nonsense", "100-continue", "100-Continue, x", "", "200-ok", "100-continue=1", "\u00fc"];
const controlPaths = ["", "/", "/health", "/state", "/requests", "/openapi.json", "/nothing", "/%", "/%2e%2e/state", "//state", "/requests?limit=-1", "/requests?limit=1&limit=2", "/requests?__proto__=1", "/state?a[b]=c"];

/** Between requests that are understood and the connection's other traffic: anything that may stand in a header. */
function keyedLines(draw: Draws, key: () => string): string[] {
  const names = ["Authorization: Bearer", "Cookie: key=", "X-Api-Key", "Referer: http://x/?k=", "X-Forwarded-For:", "User-Agent:"];
  return Array.from({ length: 1 + below(draw, 3) }, () => `${pick(draw, names)} ${key()}`);
}

const groups: Readonly<Record<string, Group>> = {
  "odd methods": {
    count: 260,
    hostile: (draw, key) =>
      once(request({ line: `${pick(draw, oddMethods)} ${pick(draw, [mePath, "/", "/nothing"])} HTTP/1.1`, key: key() })),
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
    hostile: (draw, key) => ({ chunks: [...(below(draw, 2) === 0 ? good(key()) : damaged(draw, good(key())))] }),
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
      return once(request(pick(draw, [{ key: long }, { host: long }, { line: `GET /${long} HTTP/1.1` }, { headers: [`${long}: x`] }])));
    },
  },
  "absolute targets with odd authorities": {
    count: 240,
    hostile: (draw, key) =>
      once(request({ line: `GET ${pick(draw, oddAuthorities)} HTTP/1.1`, host: pick(draw, oddHosts), key: key() })),
  },
  "other uses of a connection": {
    count: 240,
    hostile(draw, key) {
      const line = pick(draw, [
        "OPTIONS * HTTP/1.1", "GET * HTTP/1.1", "CONNECT example.org:443 HTTP/1.1", "CONNECT / HTTP/1.1", `TRACE ${mePath} HTTP/1.1`,
        "PRI * HTTP/2.0", `CONNECT ${key()} HTTP/1.1`, `GET ${mePath} HTTP/1.1`,
      ]);
      const headers = pick(draw, [
        [], ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x"], ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"],
        ["Upgrade: x"], ["Connection: upgrade"], ["Connection: close, keep-alive"], ["Connection: x-api-key"], ["Max-Forwards: 0"],
      ]);
      return once(request({ line, headers, key: key(), body: often(draw, "\0", 30) }), pick(draw, ["end", "end", "end", "listen", "reset"]));
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
      return { chunks: [text, often(draw, "x", 90)], then: pick(draw, ["end", "reset", "end"]) };
    },
  },
  "odd targets": {
    count: 300,
    hostile: (draw, key) =>
      once(request({ line: `${pick(draw, ["GET", "HEAD", "POST"])} ${pick(draw, oddTargets)} HTTP/1.1`, key: key() })),
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
        plain, plain.toUpperCase(), plain.toLowerCase(), plain.replaceAll("_", "%5f"),
        percentEncoded(plain, 0), percentEncoded(plain, 1), percentEncoded(plain, 2), `%53${plain.slice(1)}`, `%2553${plain.slice(1)}`,
      ]);
      const target = pick(draw, [
        `/${spelled}`, `${mePath}/${spelled}`, `${mePath}?key=${spelled}`, `/${spelled}/%`, `/%ff/${spelled}`, `/x?${spelled}`,
        `//${spelled}@x/`, `http://${spelled}/`, `http://x/${spelled}`, `/a${spelled}.json`, `/${spelled}/${spelled}`,
      ]);
      const line = `${pick(draw, ["GET", "GET", "POST", key()])} ${target} HTTP/1.1`;
      return once(request({ line, headers: keyedLines(draw, key), body: key() }));
    },
  },
  "the control plane": {
    count: 400,
    hostile(draw, key) {
      const path = pick(draw, [...controlPaths, `/${key()}`, `/requests?${key()}=1`, `/requests?key=${key()}`, `/requests?path_id=${key()}`, `/${percentEncoded(key(), 0)}`]);
      const prefix = pick(draw, ["/__sandbox", "/__sandbox", "/__sandbox", "/__SANDBOX", "/__sandboxx", "/%5f_sandbox", "http://x/__sandbox"]);
      return once(
        request({
          line: `${pick(draw, ["GET", "GET", "GET", "POST", "HEAD", "OPTIONS", "DELETE"])} ${prefix}${path} HTTP/1.1`,
          host: pick(draw, ["127.0.0.1", "localhost", "evil.example", ...oddHosts]),
          headers: pick(draw, [[], [`Origin: ${key()}`], ["Origin: null"], ["Sec-Fetch-Site: cross-site"], ["If-None-Match: *"], ["Content-Length: 3"], ["Range: bytes=0-0"]]),
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
    hostile: (draw, key) => once(pick(draw, strangers) + (below(draw, 3) === 0 ? good(key()) : ""), pick(draw, ["end", "end", "listen"])),
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
      const text = pick(draw, [good(key()), `CONNECT x:1 HTTP/1.1${crlf}Host: x${crlf}${crlf}`, "nonsense\r\n\r\n", request({ key: key(), headers: ["Content-Length: 9"] })]);
      return { chunks: [text.repeat(1 + below(draw, 3))], then: "reset" };
    },
  },
};

let world: World;
let server: RunningServer;
let port: number;
const defects: unknown[] = [];
const journaled: JournalEntry[] = [];

beforeAll(async () => {
  world = await openWorld(bundledScenarios["key-states"]);
  world.journal.subscribe((entry) => journaled.push(entry));
  server = await serveWorld(world, { port: 0, onDefect: (error) => defects.push(error) });
  port = Number(new URL(server.url).port);
});

afterAll(() => server.close(100));

test.each(Object.keys(groups))("R46 nothing that a client sends ends the server, gets a 5xx or brings a key to light: %s", async (name) => {
  const { count, hostile } = groups[name] as Group;
  const draw = drawsFor(20260302, "hostile", name);
  const { live: _kept, ...secrets } = scenarioSecrets(world);
  const sent: string[] = [];
  // Half of them work here, the other half look like keys of the real service.
  const key = () => {
    const made = below(draw, 2) === 0 ? pick(draw, Object.values(secrets)) : `SVC_live_${draw().toString(36)}${draw().toString(36)}R3aL`;
    sent.push(made);
    return made;
  };
  const sendings = Array.from({ length: count }, () => hostile(draw, key));
  journaled.length = 0;
  const answers = await converseAll(sendings);

  for (const answer of answers) expectDecent(answer, name === "the control plane" || name === "absolute targets with odd authorities");
  expect(keysShown(sent, answers.map(({ head, body }) => head + body))).toEqual([]);
  expect(keysShown(sent, [...journaled, ...world.journal.list()].map((entry) => JSON.stringify(entry)))).toEqual([]);
  expect(defects).toEqual([]);
  const [next] = readAnswers(await converse(port, once(good(scenarioSecret(world, "live")))));
  expect(next?.status).toBe(200);
});

test("there are at least 5,000 hostile requests", () => {
  expect(Object.values(groups).reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(5000);
});

// So many at a time that connections meet each other, so few that none waits long.
const atATime = 40;

async function converseAll(sendings: readonly RawSending[]): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = [];
  const waiting = [...sendings];
  const worker = async () => {
    for (let sending = waiting.pop(); sending !== undefined; sending = waiting.pop()) {
      answers.push(...readAnswers(await converse(port, sending)));
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return answers;
}

function expectDecent({ status, head, body }: RawAnswer, fromControl: boolean): void {
  expect(status, head).toBeLessThan(500);
  if (body === "" || (fromControl && body.startsWith("<!doctype html>"))) return;
  const parsed = JSON.parse(body) as Record<string, unknown>;
  if (fromControl && status === 200) return;
  if (status === 200) expect(Object.keys(parsed)).toEqual(["data"]);
  else {
    const { details: _details, ...error } = parsed.error as Record<string, unknown>;
    expect({ ...parsed, error }).toEqual({ error: { code: expect.any(String), message: expect.any(String) } });
  }
}

/** The texts that show what follows the prefix of one of the keys, however it is spelled. */
function keysShown(keys: readonly string[], texts: readonly string[]): string[] {
  const bodies = [...new Set(keys.map((key) => key.replace(/^.*?_.*?_/, "").toLowerCase()))];
  return [...new Set(texts)].filter((text) => {
    const spelled = everySpelling(text);
    return bodies.some((body) => spelled.includes(body));
  });
}

/** A text as it is and percent-decoded, once and more often, all in lower case. */
function everySpelling(text: string): string {
  const spellings = [text];
  for (let i = 0; i < 4; i++) {
    const last = spellings[i] as string;
    spellings.push(last.replace(/%([0-7][0-9a-f])/gi, (_match, code) => String.fromCharCode(Number.parseInt(code, 16))));
  }
  return spellings.join("\n").toLowerCase();
}
