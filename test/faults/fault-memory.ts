import { Agent, request } from "node:http";
import { stateOf } from "../../src/library/sandbox-api.js";
import type { Fault } from "../../src/sandbox/faults.js";
import { startServer } from "../../src/server/start-server.js";
import { scenarioWith } from "../support/faulty.js";
import { inParallel } from "../support/in-parallel.js";
import { mePath } from "../support/send.js";

// Prints by how many bytes each request with a fault makes the heap grow; with a count of 0, only what else it leaves behind.

const [count = 4_000, warmUp = 1_500, atOnce = 40] = process.argv.slice(2).map(Number);

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

function nextRequest(): Promise<void> {
  return new Promise((resolve) => {
    const stop = stateOf(server.sandbox).journal.subscribe(() => {
      stop();
      resolve();
    });
  });
}

/** A request whose response, however it ends, is of no interest; `givesUp` once it has arrived. */
function callOnSocket(givesUp: boolean): Promise<void> {
  return new Promise((resolve) => {
    const how = { port, host: "127.0.0.1", path: mePath, headers, agent: givesUp ? (false as const) : agent };
    const sending = request(how, (response) => {
      response.on("error", () => {});
      response.on("close", resolve);
      response.resume();
    });
    sending.on("error", () => resolve());
    if (givesUp) nextRequest().then(() => sending.destroy());
    sending.end();
  });
}

async function callInProcess(givesUp: boolean): Promise<void> {
  const abort = new AbortController();
  const response = server.sandbox.fetch(`https://any.example${mePath}`, { headers, signal: abort.signal });
  if (givesUp) setImmediate(() => abort.abort());
  await response.then((response) => response.text()).catch(() => {});
}

async function settled(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return process.memoryUsage().heapUsed;
}

/**
 * By how many bytes each request makes the heap grow: the least of three passes, as a leak grows in each of them, and
 * what V8 or Node keeps once (a table that doubles, code that is compiled anew) in one.
 */
async function growth(work: () => Promise<void>, workers: number): Promise<number> {
  await inParallel(warmUp, workers, work);
  let min = Number.POSITIVE_INFINITY;
  for (let pass = 0; pass < (count === 0 ? 0 : 3); pass++) {
    const before = await settled();
    await inParallel(count, workers, work);
    min = Math.min(min, Math.round(((await settled()) - before) / count));
  }
  return min;
}

const grown: Record<string, number> = {};
const arrived: Record<string, number> = {};
for (const [name, then] of Object.entries(faults)) {
  server.sandbox.faults.set([{ then }]);
  const givesUp = then.hang === true;
  for (const [where, call] of Object.entries({ "on a socket": callOnSocket, "in process": callInProcess })) {
    const before = server.sandbox.requests.total();
    grown[`${name} ${where}`] = await growth(() => call(givesUp), givesUp ? 1 : atOnce);
    arrived[`${name} ${where}`] = server.sandbox.requests.total() - before;
  }
}

/** Whether a request that hangs still ends with the client's signal once all that nobody holds is gone. */
async function endsAfterCollection(): Promise<boolean> {
  const abort = new AbortController();
  server.sandbox.faults.set([{ then: { hang: true } }]);
  let ended = false;
  const asking = () => new Request(`https://any.example${mePath}`, { headers, signal: abort.signal });
  server.sandbox.fetch(asking()).catch(() => {
    ended = true;
  });
  await settled();
  abort.abort();
  await settled();
  return ended;
}

agent.destroy();
const today = server.sandbox.keys.get("main").usage.today;
const ended = await endsAfterCollection();
await server.close();
const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
const each = count * 3 + warmUp;
process.stdout.write(`${JSON.stringify({ grown, arrived, each, ended, timers, today })}\n`);
