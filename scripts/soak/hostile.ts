import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { pick } from "../../src/domain/seed.js";
import {
  type HostileGroup,
  hostileGroups,
  hostileSending,
  requestText,
} from "../../test/support/hostile-requests.js";
import { type Flood, floods, sendFlood } from "../../test/support/http2-frames.js";
import { converse, type RawAnswer, readAnswers } from "../../test/support/raw-socket.js";
import { sendOnHttp2 } from "../../test/support/send-on-http2.js";
import { fragments, isPaired, type Paired, pairedRequest, textOf } from "./clients.js";
import { below, type Work, type Worker } from "./worker.js";

const groups = Object.entries(hostileGroups);

/** What is no good request, behind good ones on a connection. */
const tails: readonly string[] = [
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

/** Hostile requests of every kind, each on a connection of its own. */
export const hostileClient: Work = ({ product, figures, secrets, draw }) => ({
  async step() {
    const [name, group] = pick(draw, groups) as [string, HostileGroup];
    const sending = hostileSending(group, draw, () => secrets.invent(draw));
    const bytes = await converse(product.port, sending, product.ca).catch((error) => {
      throw Object.assign(error, { cause: `${name}: ${JSON.stringify(sending).slice(0, 700)}` });
    });
    const answers = readAnswers(bytes);
    figures.count("hostile pieces");
    for (const answer of answers) expectDecent(answer, { figures, secrets });
  },
});

/** A flood of frames of HTTP/2, and a good request to which it must make no difference; over TLS. */
export const floodingClient: Work = ({ product, figures, secrets, draw }) => ({
  async step() {
    const [name, flood] = pick(draw, Object.entries(floods)) as [string, Flood];
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

/** Good requests and something hostile behind them, in pieces of any size: the good ones have their own answers. */
export const mixedClient: Work = (worker) => {
  const { product, figures, draw } = worker;
  return {
    async step() {
      const good = Array.from({ length: 1 + below(draw, 8) }, () => pairedRequest(worker));
      const text = good.map((paired) => textOf(paired)).join("") + pick(draw, tails);
      const after = pick(draw, ["end", "listen", "reset"] as const);
      const sending = { chunks: fragments(draw, text), after };
      const bytes = await converse(product.port, sending, product.ca);
      figures.count("hostile pieces");
      for (const [index, answer] of wholeAnswers(bytes).entries()) {
        expectDecent(answer, worker);
        const paired = good[index] as Paired | undefined;
        // Who breaks off may be refused before his turn; nobody gets the answer to another request.
        const isRefusal = answer.status === 400 || answer.status === 431;
        if (paired !== undefined && !isPaired(paired, answer) && !isRefusal)
          figures.fail(
            "an answer before something hostile was not that to its request",
            answer.head + answer.body,
          );
      }
    },
  };
};

// A connection may have been closed in the middle of the last answer.
function wholeAnswers(bytes: Buffer): RawAnswer[] {
  try {
    return readAnswers(bytes);
  } catch {
    const last = bytes.lastIndexOf("HTTP/1.1 ");
    return last <= 0 ? [] : wholeAnswers(bytes.subarray(0, last));
  }
}

function expectDecent(
  { status, head, body }: RawAnswer,
  { figures, secrets }: Pick<Worker, "figures" | "secrets">,
) {
  if (status >= 500) figures.fail("a hostile request got a 5xx", head + body);
  if (secrets.isIn(head + body)) figures.fail("a key stood in an answer", head + body);
}

/** Connections that are held: silent, or in the middle of a request; some are reset, some half-closed, some left alone. */
export const holdingClient: Work = ({ product, figures, secrets, draw, over }) => {
  const held = new Set<Socket>();
  return {
    async step() {
      const { port } = product;
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      held.add(socket);
      socket.on("error", () => {}).on("close", () => held.delete(socket));
      socket.resume();
      const text = requestText({ key: secrets.invent(draw), headers: ["Content-Length: 50"], body: "abc" });
      if (below(draw, 3) > 0) socket.write(text.slice(0, below(draw, text.length)));
      figures.count("hostile pieces");
      const end = below(draw, 3);
      if (end === 0) socket.resetAndDestroy();
      else if (end === 1) socket.end();
      // Some hundred at one time.
      else if (held.size > 200) for (const one of held) one.resetAndDestroy();
      await sleep(50, undefined, { signal: over }).catch(() => {});
    },
    leave() {
      for (const socket of held) socket.destroy();
    },
  };
};
