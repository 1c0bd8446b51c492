import { Agent, get } from "node:http";
import { connect } from "node:net";
import { startServer } from "../../src/node/server/start-server.js";
import type { Fault } from "../../src/sandbox/faults.js";
import { scenarioWith } from "./faulty.js";
import { mePath } from "./send.js";

// Sends so many requests for each fault, over sockets and through `sandbox.fetch`, and prints by how many bytes each
// of them made the heap grow, and what else they left behind. Clients give up on a request that hangs.

const [count = 10_000, warmUp = 1_500, atOnce = 40] = process.argv.slice(2).map(Number);

const faults: Readonly<Record<string, Fault["then"]>> = {
  latency: { latency: "1ms" },
  status: { status: 503 },
  reset: { reset: true },
  hang: { hang: true },
  truncate: { truncate: true },
  malformed: { malformed: true },
  slow: { slow: 10_000 },
};

const server = await startServer({ scenario: scenarioWith([]) });
const port = Number(new URL(server.url).port);
const headers = { "x-api-key": server.sandbox.secret("main") };
const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

/** A request whose answer, however it ends, is of no interest. */
function callOnSocket(): Promise<void> {
  return new Promise((resolve) => {
    const sending = get({ port, host: "127.0.0.1", path: mePath, headers, agent }, (response) => {
      response.on("error", () => {});
      response.on("close", resolve);
      response.resume();
    });
    sending.on("error", () => resolve());
  });
}

/** A request on a connection that the client closes after a moment of silence. */
function giveUpOnSocket(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET ${mePath} HTTP/1.1\r\nHost: x\r\nx-api-key: ${headers["x-api-key"]}\r\n\r\n`);
      setTimeout(() => socket.resetAndDestroy(), 4);
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}

async function callInProcess(): Promise<void> {
  const response = await server.sandbox.fetch(`https://any.example${mePath}`, { headers }).catch(() => {});
  await response?.text().catch(() => {});
}

async function giveUpInProcess(): Promise<void> {
  const abort = new AbortController();
  const answer = server.sandbox.fetch(`https://any.example${mePath}`, { headers, signal: abort.signal });
  setImmediate(() => abort.abort());
  await answer.catch(() => {});
}

async function repeat(times: number, work: () => Promise<void>): Promise<void> {
  let left = times;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function settled(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return process.memoryUsage().heapUsed;
}

async function growth(work: () => Promise<void>): Promise<number> {
  await repeat(warmUp, work);
  const before = await settled();
  await repeat(count, work);
  return Math.round(((await settled()) - before) / count);
}

const grown: Record<string, number> = {};
for (const [name, then] of Object.entries(faults)) {
  server.sandbox.faults.set([{ then }]);
  grown[`${name} on a socket`] = await growth(then.hang ? giveUpOnSocket : callOnSocket);
  grown[`${name} in process`] = await growth(then.hang ? giveUpInProcess : callInProcess);
}

/** Whether a request that hangs still ends with the client's signal once all that nobody holds is gone. */
async function endsAfterCollection(): Promise<boolean> {
  const abort = new AbortController();
  server.sandbox.faults.set([{ then: { hang: true } }]);
  const request = () => new Request(`https://any.example${mePath}`, { headers, signal: abort.signal });
  let ended = false;
  server.sandbox.fetch(request()).catch(() => {
    ended = true;
  });
  await settled();
  abort.abort();
  await settled();
  return ended;
}

agent.destroy();
const today = server.sandbox.keys.get("main").usage.today;
const total = server.sandbox.requests.total();
const ended = await endsAfterCollection();
await server.close();
const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
process.stdout.write(
  `${JSON.stringify({ grown, ended, timers, today, total, requests: (count + warmUp) * 14 })}\n`,
);
