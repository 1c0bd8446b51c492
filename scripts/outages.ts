import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { alignColumns } from "../src/report/plain-text.js";
import { inParallel } from "../test/support/in-parallel.js";
import { noRedis, type RedisServer, startRedis } from "../test/support/redis-server.js";
import { dataOf, type Server, send, sendPatiently, startServer, stopServers } from "./outages/server.js";
import { update } from "./outages/update.js";
import { createTally } from "./tally.js";

// Repeats outages that servers must survive with 256 MB of memory. Words choose those whose names contain one of them. `--quick`
// sends a fiftieth of the requests.
//
// What counts: nothing is lost or counted twice, and what got 503 succeeds when it is sent again.

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false } },
});
const amount = (whole: number) => (values.quick ? Math.ceil(whole / 50) : whole);

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
/** Milliseconds until a condition is true; rejects after ten seconds. */
const waitFor = async (what: string, holds: () => Promise<boolean>): Promise<number> => {
  const before = performance.now();
  while (!(await holds())) {
    if (performance.now() - before > 10_000) throw new Error(`not within 10 seconds: ${what}`);
    await sleep(100);
  }
  return Math.round(performance.now() - before);
};
/** Sends requests to instances on two replicas in turn; resolves to the instances, each with its 503, and how often each status came. */
async function serveInstances(replicas: readonly Server[], instances: number, requests: number) {
  const made = await Promise.all(
    Array.from({ length: instances }, () =>
      sendPatiently(`${replicas[0]?.controlUrl}/instances`, { body: {} }),
    ),
  );
  for (const { response } of made) expectStatus("POST /instances", response?.status, 201);
  const all = made.map(({ response }) => {
    const { id, keys } = dataOf(response) as { id: string; keys: Record<string, string> };
    return { path: `/i/${id}`, keys, unavailable: 0 };
  });
  const statuses: Record<string, number> = {};
  await inParallel(requests, 32, async (n) => {
    const one = all[n % instances] as (typeof all)[number];
    const { url } = replicas[Math.floor(n / instances) % replicas.length] as Server;
    const { response, unavailable } = await sendPatiently(url + one.path + mePath, { key: one.keys.active });
    one.unavailable += unavailable;
    for (const status of [...Array<number>(unavailable).fill(503), response?.status ?? 0])
      statuses[status] = (statuses[status] ?? 0) + 1;
    expectStatus("a request", response?.status, 200, 429);
  });
  return { instances: all, statuses };
}

/** Instances send their requests to two replicas in turn; a late one must start and have the same counts. */
const fillInstances = (instances: number, requests: number) =>
  withReplicas([], async (replicas, _redis, argv) => {
    const served = await serveInstances(replicas, instances, instances * requests);
    const before = performance.now();
    const late = await startServer(argv);
    const start = Math.round(performance.now() - before);
    for (const { path, unavailable } of served.instances) {
      const { response } = await sendPatiently(`${late.url}${path}/__sandbox/report`);
      const { requests: counted } = dataOf(response);
      if (counted < requests || counted > requests + unavailable)
        failures.push(`a late replica counts ${counted} requests`);
    }
    return `${JSON.stringify(served.statuses)}, late replica in ${start} ms`;
  });

/** Instances in a small Redis must all be served. */
const fitIn = (instances: number, megabytes: number, requests: number) =>
  withReplicas(["--maxmemory", `${megabytes}mb`], async (replicas, redis) => {
    const { statuses } = await serveInstances(replicas, instances, requests);
    const used = /used_memory_peak:(\d+)/.exec(String(await redis.command("INFO", "memory")))?.[1];
    return `${JSON.stringify(statuses)}, Redis had ${(Number(used) / 1e6).toFixed(1)} MB at most`;
  });

/** Something else fills Redis to the last byte, and is removed. */
const fillRedis = () =>
  withReplicas(["--maxmemory", "16mb"], async (replicas, redis, argv) => {
    const { instances } = await serveInstances(replicas, 10, amount(5000));
    const paths = instances.map(({ path }) => path);
    const { keys } = replicas[0];
    const statusesOf = () =>
      Promise.all(
        paths.map(async (path, n) => {
          const { url } = replicas[n % 2] as Server;
          return (await send(url + path + mePath, { key: keys["rate-limited"] }))?.status;
        }),
      );
    for (let size = 1_000_000; size >= 1000; size /= 10) {
      const fill = (n: number) => redis.command("SETRANGE", `ballast-${size}-${n}`, String(size), "x");
      for (let n = 0; await fill(n).then(Boolean, () => false); n += 1);
    }
    let rejected = 0;
    await inParallel(amount(3000), 32, async (n) => {
      const { url } = replicas[n % 2] as Server;
      const response = await send(url + paths[n % 10] + longPath + n);
      expectStatus("a request", response?.status, 404, 503);
      if (response?.status === 503) rejected += 1;
    });
    for (const { controlUrl } of replicas)
      expectStatus("a read", (await send(`${controlUrl}/keys`))?.status, 200);
    for (const key of (await redis.command("KEYS", "ballast-*")) as string[]) await redis.command("DEL", key);
    const recovery = await waitFor("all instances are served", async () => {
      return (await statusesOf()).every((status) => status === 429);
    });
    const late = await startServer(argv);
    const { response: limited } = await sendPatiently(late.url + mePath, { key: late.keys["rate-limited"] });
    expectStatus("a late replica", limited?.status, 429);
    return `${rejected} of ${amount(3000)} got 503, all served after ${recovery} ms`;
  });

/** The disk of a state fills up, and the server is killed; the next one continues from the state. */
async function fillDisk(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
  try {
    const argv = ["key-states", "--state", join(folder, "state.json")];
    const first = await startServer(argv);
    const made = dataOf(await send(`${first.controlUrl}/instances`, { body: {} }));
    const fill = () => writeFileSync(join(folder, "ballast"), Buffer.alloc(2_000_000));
    try {
      fill();
    } catch {
      // It has filled the rest.
    }
    const change = await send(`${first.controlUrl}/instances`, { body: {} });
    expectStatus("a change on a full disk", change?.status, 507);
    const served = await send(first.url + mePath, { key: first.keys.active });
    expectStatus("a request on a full disk", served?.status, 200);
    const ready = JSON.parse(String((await send(`${first.controlUrl}/ready`))?.bytes));
    if (ready.state !== "full") failures.push(`/ready shows ${JSON.stringify(ready)}`);
    await first.kill();
    // It serves what it has; only changes need the disk.
    const next = await startServer(argv);
    const ask = async () =>
      (await send(`${next.url}/i/${made.id}${mePath}`, { key: made.keys.active }))?.status;
    const make = async () => (await send(`${next.controlUrl}/instances`, { body: {} }))?.status;
    expectStatus("the instance after a start on a full disk", await ask(), 200);
    expectStatus("a change after a start on a full disk", await make(), 507);
    rmSync(join(folder, "ballast"));
    expectStatus("a change after the disk has room", await make(), 201);
    expectStatus("the instance after that", await ask(), 200);
    return "";
  } finally {
    await stopServers();
    execFileSync("umount", [folder]);
    rmSync(folder, { recursive: true });
  }
}

/** A server without a store gets long paths in four instances. */
async function fillJournals(): Promise<string> {
  const { url, controlUrl } = await startServer(["key-states"]);
  const made = await Promise.all([1, 2, 3, 4].map(() => send(`${controlUrl}/instances`, { body: {} })));
  const ids: string[] = made.map((one) => dataOf(one).id);
  await inParallel(amount(8000), 32, async (n) => {
    expectStatus("a request", (await send(`${url}/i/${ids[n % 4]}${longPath}${n}`))?.status, 404);
  });
  return "";
}

const shown = (whole: number) => amount(whole).toLocaleString("en");
const outages: Readonly<Record<string, () => Promise<string>>> = {
  [`${shown(100)} instances, ${shown(500)} requests each`]: () => fillInstances(amount(100), amount(500)),
  [`${shown(1000)} instances, ${shown(50)} requests each`]: () => fillInstances(amount(1000), amount(50)),
  [`30 instances in a Redis of 8 MB, ${shown(100_000)} requests`]: () => fitIn(30, 8, amount(100_000)),
  [`50 instances in a Redis of 32 MB, ${shown(100_000)} requests`]: () => fitIn(50, 32, amount(100_000)),
  "a Redis of 16 MB that is filled on purpose": fillRedis,
  "a full disk of --state, and a kill": fillDisk,
  [`${shown(8000)} long paths in four instances, no store`]: fillJournals,
  "a rolling update of three replicas": () => update(failures),
};

if (noRedis !== undefined) {
  console.error(noRedis);
  process.exit(2);
}
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
process.exit();
