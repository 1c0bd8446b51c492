import { Agent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import { pick, type RandomStream } from "../../src/domain/seed.js";
import { exchange, type Incoming } from "../../test/support/exchange.js";
import { hostileGroups, hostileSending, requestText } from "../../test/support/hostile-requests.js";
import { floods, sendFlood } from "../../test/support/http2-frames.js";
import { converse, type RawAnswer, readAnswers } from "../../test/support/raw-socket.js";
import { sendOnHttp2 } from "../../test/support/send-on-http2.js";
import { type Product, steadyKeys } from "./product.js";
import { below, type Work, type Worker } from "./worker.js";

/** Longer than anything here may take on a busy machine. */
export const patience = 30_000;

const mePath = "/v1/relying-party/me";

/** A request whose response differs from all others. */
interface Paired {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isOwn: (status: number, body: string) => boolean;
}

let number = 0;

/** The next request of a good client: with any of the steady keys, to a handler, or to a path that does not exist. */
function pairedRequest({ draw, product }: Pick<Worker, "draw" | "product">): Paired {
  number += 1;
  const id = String(number);
  const kind = below(draw, 10);
  if (kind < 6) {
    const { ref, perMinute } = pick(draw, steadyKeys);
    const isOwn = (status: number, body: string) =>
      status === 200 && JSON.parse(body).data.limits.per_minute === perMinute;
    return { method: "GET", path: mePath, headers: { "x-api-key": product.keys[ref] as string }, isOwn };
  }
  if (kind === 6) {
    const isOwn = (status: number, body: string) =>
      status === 404 && JSON.parse(body).error.code === "not_found";
    return { method: "GET", path: `/v1/${id}`, headers: {}, isOwn };
  }
  const body = id.repeat(1 + below(draw, 400));
  return {
    ...{ method: "POST", path: `/${kind === 9 ? "late" : "echo"}/${id}`, body },
    headers: { "content-type": "text/plain" },
    isOwn(status, got) {
      const { echo, text } = JSON.parse(got);
      return status === 200 && echo === id && text === body;
    },
  };
}

/** Whether the response is that to the request; one that is not JSON is not. */
function isPaired(paired: Paired, { status, body }: Pick<RawAnswer, "status" | "body">): boolean {
  try {
    return paired.isOwn(status, body);
  } catch {
    return false;
  }
}

function textOf({ method, path, headers, body = "" }: Paired, isLast = false): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const length = body === "" ? [] : [`Content-Length: ${body.length}`];
  const close = isLast ? ["Connection: close"] : [];
  return requestText({ line: `${method} ${path} HTTP/1.1`, headers: [...lines, ...length, ...close], body });
}

/** A text in pieces of any size. */
function fragments(draw: RandomStream, text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + below(draw, below(draw, 4) === 0 ? 12 : text.length);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** Options to trust the certificate of a product. */
export const trust = ({ ca }: Product) => (ca === undefined ? {} : { ca });

/** Sends a request with a key on its own connection. */
export function ask(product: Product, key: string, base = product.url): Promise<Incoming> {
  const signal = AbortSignal.timeout(patience);
  return exchange(`${base}${mePath}`, { headers: { "x-api-key": key }, signal, ...trust(product) });
}

function agentOf({ ca }: Product): Agent {
  // Shorter than the server keeps a connection: a request that is sent as it closes gets no response.
  const options = { keepAlive: true, maxSockets: 4, timeout: 3000 };
  return ca === undefined ? new Agent(options) : new TlsAgent({ ...options, ca });
}

/** Sends on connections that stay open, several requests in parallel. */
export const keepAliveClient: Work = (worker) => {
  const { product, figures, draw } = worker;
  const agent = agentOf(product);
  const send = async () => {
    const paired = pairedRequest(worker);
    const signal = AbortSignal.timeout(patience);
    const { status, bytes } = await exchange(product.url + paired.path, { ...paired, agent, signal });
    figures.count("requests");
    if (!isPaired(paired, { status, body: String(bytes) }))
      figures.fail("a response was not that to its request", `${status} ${bytes}`);
  };
  return {
    step: () => Promise.all(Array.from({ length: 1 + below(draw, 12) }, send)),
    leave: () => agent.destroy(),
  };
};

/** Hostile bytes after good requests on a connection; none in most cases. */
const tails: readonly string[] = [
  ...Array.from({ length: 9 }, () => ""),
  "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n",
  "nonsense\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n",
  "POST /echo/0 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nabc",
  "POST /late/0 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  "POST /careless/0 HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\nabc",
  `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(70_000)}\r\n\r\n`,
  "GET /v1/relying-party/me HTTP/1.1\r\nHos",
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
];

/**
 * Sends many requests at once on one connection, in pieces of any size, sometimes with hostile bytes after them.
 *
 * Each gets its own response. A client that breaks off may be rejected early; nobody gets the response to another request.
 */
export const pipeliningClient: Work = (worker) => {
  const { product, figures, draw } = worker;
  return {
    async step() {
      const all = Array.from({ length: 1 + below(draw, 20) }, () => pairedRequest(worker));
      const tail = pick(draw, tails);
      const isGood = tail === "";
      const text = all.map((paired, index) => textOf(paired, isGood && index === all.length - 1)).join("");
      const after = pick(draw, isGood ? (["stay"] as const) : (["end", "listen", "reset"] as const));
      const sending = { chunks: fragments(draw, text + tail), after };
      const responses = wholeAnswers(await converse(product.port, sending, product.ca));
      figures.count("requests", all.length);
      if (isGood && responses.length !== all.length)
        figures.fail("a pipeline got too few responses", `${responses.length} of ${all.length}`);
      for (const [index, response] of responses.entries()) {
        if (!isGood) expectDecent(response, worker);
        const isRejection = !isGood && [400, 431].includes(response.status);
        const paired = all[index];
        if (paired !== undefined && !isPaired(paired, response) && !isRejection)
          figures.fail("a response in a pipeline was not that to its request", response.head + response.body);
      }
    },
  };
};

const groups = Object.entries(hostileGroups);

/** Hostile requests of every kind, each on its own connection. */
export const hostileClient: Work = (worker) => {
  const { product, figures, secrets, draw } = worker;
  return {
    async step() {
      const [name, group] = pick(draw, groups);
      const sending = hostileSending(group, draw, () => secrets.invent(draw));
      const bytes = await converse(product.port, sending, product.ca).catch((error) => {
        throw Object.assign(error, { cause: `${name}: ${JSON.stringify(sending).slice(0, 700)}` });
      });
      figures.count("hostile pieces");
      for (const response of readAnswers(bytes)) expectDecent(response, worker);
    },
  };
};

// The connection may be closed in the middle of the last response.
function wholeAnswers(bytes: Buffer): RawAnswer[] {
  try {
    return readAnswers(bytes);
  } catch {
    const last = bytes.lastIndexOf("HTTP/1.1 ");
    return last <= 0 ? [] : wholeAnswers(bytes.subarray(0, last));
  }
}

function expectDecent({ status, head, body }: RawAnswer, { figures, secrets }: Worker): void {
  if (status >= 500) figures.fail("a hostile request got a 5xx", head + body);
  if (secrets.isIn(head + body)) figures.fail("a key is in a response", head + body);
}

/** A flood of HTTP/2 frames, and a good request that it must not affect; over TLS. */
export const floodingClient: Work = ({ product, figures, secrets, draw }) => ({
  async step() {
    const [name, flood] = pick(draw, Object.entries(floods));
    const ca = product.ca as string;
    const { frames } = await sendFlood(product.port, ca, flood, 2000);
    figures.count("hostile frames", frames);
    const { send, session } = sendOnHttp2(product.url, ca);
    try {
      const { status, body } = await send({ headers: { "x-api-key": secrets.invent(draw) } });
      if (status !== 401) figures.fail(`after ${name} a wrong key did not get 401`, `${status} ${body}`);
    } finally {
      session.destroy();
    }
  },
});
