import { setTimeout as sleep } from "node:timers/promises";
import { alignColumns } from "../src/report/plain-text.js";
import { noRedis, startRedis } from "../test/support/redis-server.js";
import { inParallel, type Server, send, startServer, stopServers } from "./outages/server.js";
import { createTally } from "./tally.js";

// Repeats outages that servers must survive with 256 MB of memory. Words choose those whose names contain one of them.

interface Outage {
  readonly name: string;
  readonly expected: string;
  /** Resolves to what was found, and to the figures to print. */
  readonly run: () => Promise<readonly [found: string, figures: string]>;
}

const mePath = "/v1/relying-party/me";
const longPath = `/v1/${"words/".repeat(2300)}`;

/** Instances send their requests to two replicas in turn; a late one must start and have the same counts. */
async function fillInstances(instances: number, requests: number, redisSettings: readonly string[] = []) {
  const redis = await startRedis([
    "--appendonly",
    "no",
    "--maxmemory-policy",
    "noeviction",
    ...redisSettings,
  ]);
  try {
    const argv = ["key-states", "--store", redis.url];
    const replicas = [await startServer(argv), await startServer(argv)];
    const at = (index: number) => replicas[index % 2] as Server;
    const failures = new Map<string, number>();
    let rejected = 0;
    const fail = (what: string) => void failures.set(what, (failures.get(what) ?? 0) + 1);
    await inParallel(instances, async (index) => {
      const made = await post(`${at(index).controlUrl}/instances`, {});
      if (made?.status !== 201) return fail(`POST /instances got ${made?.status}`);
      const { id, keys } = JSON.parse(String(made.bytes)).data;
      for (let n = 0; n < requests; n += 1) {
        const url = `${at(index + n).url}/i/${id}${mePath}`;
        const headers = { "x-api-key": keys.active };
        const response = await send(url, { headers });
        if (response?.status === 503) rejected += 1;
        else if (![200, 429].includes(response?.status ?? 0)) fail(`a request got ${response?.status}`);
      }
    });
    // Each reports what it has counted.
    await Promise.all(replicas.map(countOf));
    const before = performance.now();
    const late = await startServer(argv);
    const start = Math.round(performance.now() - before);
    const counted = await Promise.all([at(0), late].map(countOf));
    if (counted[0] !== counted[1]) fail(`a late replica counts ${counted[1]} requests, not ${counted[0]}`);
    const missing = instances * requests - (counted[0] as number);
    // A request that got 503 may be stored.
    if (missing < 0 || missing > rejected) fail(`${missing} requests are not counted`);
    if (rejected > 0 && redisSettings.length === 0) fail(`${rejected} requests got 503`);
    return verdict([...replicas, late], failures, `${rejected} got 503, late replica in ${start} ms`);
  } finally {
    await stopServers();
    await redis.close();
  }
}

/** A client fills a small Redis with long paths; when it ends, the replicas must recover without any traffic. */
async function fillRedis() {
  const redis = await startRedis(["--appendonly", "no", "--maxmemory", "32mb"]);
  try {
    // What others keep there.
    await redis.command("SETRANGE", "ballast", String(27_000_000), "x");
    const argv = ["key-states", "--store", redis.url];
    const replicas = [await startServer(argv), await startServer(argv)];
    const failures = new Map<string, number>();
    let rejected = 0;
    await inParallel(6000, async (n) => {
      const response = await send((replicas[n % 2] as Server).url + longPath + n);
      if (response?.status === 503) rejected += 1;
      else if (response?.status !== 404) failures.set(`a request got ${response?.status}`, 1);
    });
    const isBack = async () => {
      const all = await Promise.all(replicas.map(({ controlUrl }) => send(`${controlUrl}/ready`)));
      return all.every((response) => response?.status === 200);
    };
    const before = performance.now();
    while (!(await isBack()) && performance.now() - before < 10_000) await sleep(100);
    const recovery = Math.round(performance.now() - before);
    const { url, keys } = await startServer(argv);
    const after = await send(url + mePath, { headers: { "x-api-key": keys.active as string } });
    if (!(await isBack())) failures.set("a replica is not ready after 10 seconds without traffic", 1);
    if (after?.status !== 200) failures.set(`a late replica returned ${after?.status}`, 1);
    return verdict(replicas, failures, `${rejected} of 6000 got 503, ready after ${recovery} ms`);
  } finally {
    await stopServers();
    await redis.close();
  }
}

/** A server without a store gets long paths in four instances. */
async function fillJournals() {
  try {
    const server = await startServer(["key-states"]);
    const failures = new Map<string, number>();
    const ids = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const made = await post(`${server.controlUrl}/instances`, {});
        return JSON.parse(String(made?.bytes)).data.id as string;
      }),
    );
    await inParallel(8000, async (n) => {
      const response = await send(`${server.url}/i/${ids[n % 4]}${longPath}${n}`);
      if (response?.status !== 404) failures.set(`a request got ${response?.status}`, 1);
    });
    return verdict([server], failures, "");
  } finally {
    await stopServers();
  }
}

function post(url: string, body: object) {
  const headers = { "content-type": "application/json" };
  return send(url, { method: "POST", headers, body: JSON.stringify(body) });
}

async function countOf({ controlUrl }: Server): Promise<number> {
  const response = await send(`${controlUrl}/report`);
  return JSON.parse(String(response?.bytes)).data.requests;
}

function verdict(servers: readonly Server[], failures: ReadonlyMap<string, number>, figures: string) {
  const problems = servers.flatMap((server) => server.problem() ?? []);
  const found = [...problems, ...Array.from(failures, ([what, times]) => `${what} (${times} times)`)];
  const peak = Math.max(...servers.map((server) => server.peak()));
  return [found.join("; ") || "survived", [`${peak} MB`, figures].filter(Boolean).join(", ")] as const;
}

const all: readonly Outage[] = [
  { name: "100 instances, 500 requests each", run: () => fillInstances(100, 500), expected: "survived" },
  { name: "1,000 instances, 50 requests each", run: () => fillInstances(1000, 50), expected: "survived" },
  {
    name: "1,000 instances, 50 requests each, a Redis of 32 MB",
    run: () => fillInstances(1000, 50, ["--maxmemory", "32mb"]),
    expected: "survived",
  },
  { name: "6,000 long paths, 3 MB left in a Redis of 32 MB", run: fillRedis, expected: "survived" },
  { name: "8,000 long paths in four instances, no store", run: fillJournals, expected: "survived" },
];

if (noRedis !== undefined) {
  console.error(noRedis);
  process.exit(2);
}
const words = process.argv.slice(2);
const chosen = all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
const tally = createTally("outages");
const rows = [["outage", "expected", "found", "figures"]];
for (const { name, expected, run } of chosen) {
  const [found, figures] = await run().catch((error: Error) => [error.message, ""]);
  rows.push([name, expected, found, figures]);
  tally.count(`${name}: ${expected}`, found === expected ? undefined : found);
}
console.log(`\n${alignColumns(rows).join("\n")}\n`);
tally.close();
process.exit();
