import { setTimeout as sleep } from "node:timers/promises";
import { alignColumns } from "../src/report/plain-text.js";
import { inParallel } from "../test/support/in-parallel.js";
import { noRedis, type RedisServer, startRedis } from "../test/support/redis-server.js";
import { dataOf, type Server, send, startServer, stopServers } from "./outages/server.js";
import { update } from "./outages/update.js";
import { createTally } from "./tally.js";

// Repeats outages that servers must survive with 256 MB of memory. Words choose those whose names contain one of them.

const mePath = "/v1/relying-party/me";
const longPath = `/v1/${"words/".repeat(2300)}`;

/** Runs an outage of two replicas. It collects failures, and returns figures to print. */
async function withReplicas(
  settings: readonly string[],
  run: (replicas: readonly [Server, Server], redis: RedisServer, argv: readonly string[]) => Promise<string>,
): Promise<string> {
  const redis = await startRedis(["--appendonly", "no", "--maxmemory-policy", "noeviction", ...settings]);
  const argv = ["key-states", "--store", redis.url];
  try {
    return await run([await startServer(argv), await startServer(argv)], redis, argv);
  } finally {
    await redis.close();
  }
}

let failures: string[] = [];
const expectStatus = (what: string, found: number | undefined, ...expected: number[]) => {
  if (!expected.includes(found ?? 0)) failures.push(`${what} got ${found}`);
};
/** Milliseconds until something holds; rejects after ten seconds. */
const waitFor = async (what: string, holds: () => Promise<boolean>): Promise<number> => {
  const before = performance.now();
  while (!(await holds())) {
    if (performance.now() - before > 10_000) throw new Error(`not within 10 seconds: ${what}`);
    await sleep(100);
  }
  return Math.round(performance.now() - before);
};
const countOf = async ({ controlUrl }: Server) => dataOf(await send(`${controlUrl}/report`)).requests;

/** Instances send their requests to two replicas in turn; a late one must start and have the same counts. */
const fillInstances = (instances: number, requests: number) =>
  withReplicas([], async (replicas, _redis, argv) => {
    await inParallel(instances, 32, async (index) => {
      const made = await send(`${replicas[0].controlUrl}/instances`, { body: {} });
      expectStatus("POST /instances", made?.status, 201);
      const { id, keys } = dataOf(made);
      for (let n = 0; n < requests; n += 1) {
        const { url } = replicas[(index + n) % 2] as Server;
        expectStatus(
          "a request",
          (await send(`${url}/i/${id}${mePath}`, { key: keys.active }))?.status,
          200,
          429,
        );
      }
    });
    // Each reports what it has counted.
    await Promise.all(replicas.map(countOf));
    const before = performance.now();
    const late = await startServer(argv);
    const start = Math.round(performance.now() - before);
    const counted = await countOf(late);
    if (counted !== instances * requests) failures.push(`a late replica counts ${counted} requests`);
    return `late replica in ${start} ms`;
  });

/** A client fills a small Redis with long paths; when it ends, the replicas must recover without any traffic. */
const fillRedis = () =>
  withReplicas(["--maxmemory", "32mb"], async (replicas, redis, argv) => {
    // What others keep there.
    await redis.command("SETRANGE", "ballast", "27000000", "x");
    let rejected = 0;
    await inParallel(6000, 32, async (n) => {
      const response = await send((replicas[n % 2] as Server).url + longPath + n);
      expectStatus("a request", response?.status, 404, 503);
      if (response?.status === 503) rejected += 1;
    });
    const isBack = async () => {
      const all = await Promise.all(replicas.map(({ controlUrl }) => send(`${controlUrl}/ready`)));
      return all.every((response) => response?.status === 200);
    };
    const recovery = await waitFor("all replicas are ready without traffic", isBack);
    const { url, keys } = await startServer(argv);
    await waitFor("a late replica serves", async () => {
      return (await send(url + mePath, { key: keys.active }))?.status === 200;
    });
    return `${rejected} of 6000 got 503, ready after ${recovery} ms`;
  });

/** A server without a store gets long paths in four instances. */
async function fillJournals(): Promise<string> {
  const { url, controlUrl } = await startServer(["key-states"]);
  const made = await Promise.all([1, 2, 3, 4].map(() => send(`${controlUrl}/instances`, { body: {} })));
  const ids: string[] = made.map((one) => dataOf(one).id);
  await inParallel(8000, 32, async (n) => {
    expectStatus("a request", (await send(`${url}/i/${ids[n % 4]}${longPath}${n}`))?.status, 404);
  });
  return "";
}

const outages: Readonly<Record<string, () => Promise<string>>> = {
  "100 instances, 500 requests each": () => fillInstances(100, 500),
  "1,000 instances, 50 requests each": () => fillInstances(1000, 50),
  "6,000 long paths, 3 MB left in a Redis of 32 MB": fillRedis,
  "8,000 long paths in four instances, no store": fillJournals,
  "a rolling update of three replicas": () => update(failures),
};

if (noRedis !== undefined) {
  console.error(noRedis);
  process.exit(2);
}
const words = process.argv.slice(2);
const tally = createTally("outages");
const rows = [["outage", "expected", "found", "memory", "figures"]];
for (const [name, run] of Object.entries(outages)) {
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  failures = [];
  const figures = await run().catch((error: Error) => {
    failures.push(error.message);
    return "";
  });
  const { problems, peak } = await stopServers();
  const [first, ...others] = [...new Set([...problems, ...failures])];
  const found = first === undefined ? "survived" : `${first} (and ${others.length} others)`;
  rows.push([name, "survived", found, `${peak} MB`, figures]);
  tally.count(`${name}: survived`, first === undefined ? undefined : found);
}
console.log(`\n${alignColumns(rows).join("\n")}\n`);
tally.close();
process.exit();
