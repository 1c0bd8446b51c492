import { readFileSync } from "node:fs";
import { defaultSeed } from "../src/rules/seed.js";
import { inParallel } from "../test/support/in-parallel.js";
import { type RedisServer, startRedis } from "../test/support/redis-server.js";
import { type Figure, figureOf } from "./figure.js";
import type { Bundle, ClientChild, ServerChild } from "./programs.js";
import { benchScenario, scenarioFile, startClient, startCommand } from "./programs.js";
import { type BenchArguments, connections } from "./rounds.js";

/** As many instances as a server accepts by default; a few are for other measurements. */
const many = 1000;
const containerMegabytes = 256;

/** What a request costs a replica and Redis, what three replicas do in parallel, and their memory with a thousand instances. */
export async function measureReplicas(args: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const file = await scenarioFile(bundle, benchScenario(10));
  const redis = await startRedis(["--appendonly", "yes"]);
  // Its own memory and its requests, in addition to the sandboxes.
  const flags = ["--store", redis.url, "--max-memory", `${Math.floor(0.7 * containerMegabytes)}MB`];
  const client = startClient(bundle.client);
  const running: ServerChild[] = [];
  const start = async (...more: readonly string[]) => {
    const server = await startCommand(args.node, file, more);
    running.push(server);
    return server;
  };
  try {
    const single = await start();
    const replicas = [await start(...flags), await start(...flags), await start(...flags)];
    return [
      ...(await costs(args, client, { single, replicas, redis })),
      ...(await together(args, bundle, replicas)),
      await thousand(replicas),
    ];
  } finally {
    await Promise.all([client.stop(), ...running.map((one) => one.stop())]);
    await redis.close();
  }
}

type Servers = Readonly<{ single: ServerChild; replicas: readonly ServerChild[]; redis: RedisServer }>;

async function costs({ quick }: BenchArguments, client: ClientChild, servers: Servers): Promise<Figure[]> {
  const { single, redis } = servers;
  const [replica, other] = servers.replicas;
  const requests = quick ? 5000 : 20_000;
  const redisPid = Number(/process_id:(\d+)/.exec(String(await redis.command("INFO", "server")))?.[1]);
  const instance = await create(replica as ServerChild);
  const measure = async (clients: number) => {
    const load = async (server: ServerChild, bases: readonly string[], pids: readonly number[]) => {
      const before = pids.map(cpuOf);
      await client.load({ port: server.port, keys: single.keys, bases, connections: clients, requests });
      return pids.map((pid, index) => cpuOf(pid) - (before[index] as number));
    };
    const rounds: (readonly number[])[] = [];
    for (let round = 0; round < (quick ? 4 : 8); round += 1) {
      const [alone = 0] = await load(single, [""], [single.pid]);
      const pids = [(replica as ServerChild).pid, redisPid, (other as ServerChild).pid];
      const own = await load(replica as ServerChild, [""], pids);
      const inside = await load(replica as ServerChild, [instance], pids);
      if (round > 1) rounds.push([...own, ...inside].map((cpu) => cpu / alone));
    }
    const figure = (what: string, index: number, target?: Figure["target"]) =>
      figureOf(
        `processor time for a request / without a store, ${clients} clients: ${what}`,
        rounds.map((round) => round[index] as number),
        target,
      );
    return [
      figure("replica", 0),
      figure("Redis", 1),
      figure("another replica", 2, { atMost: 0.1 }),
      figure("replica, of an instance", 3),
      figure("Redis, of an instance", 4),
      figure("another replica, of an instance", 5, { atMost: 0.1 }),
    ];
  };
  return [...(await measure(32)), ...(await measure(4))];
}

async function together({ quick }: BenchArguments, bundle: Bundle, replicas: readonly ServerChild[]) {
  const requests = quick ? 5000 : 20_000;
  const keys = replicas[0]?.keys ?? [];
  const clients = replicas.map(() => startClient(bundle.client));
  const tenOf = (server: ServerChild) => Promise.all(Array.from({ length: 10 }, () => create(server)));
  const instances = await Promise.all(replicas.map(tenOf));
  const shared = replicas.map(() => [""]);
  const loadAll = async (number: number, bases: readonly (readonly string[])[]) => {
    const before = replicas.map(({ pid }) => cpuOf(pid));
    const readings = await Promise.all(
      replicas.slice(0, number).map(({ port }, index) => {
        const client = clients[index] as ClientChild;
        return client.load({ port, keys, bases: bases[index] as string[], connections, requests });
      }),
    );
    const cpu = replicas.reduce((sum, { pid }, index) => sum + cpuOf(pid) - (before[index] as number), 0);
    const each = readings.map((one) => one.perSecond);
    const perSecond = each.reduce((sum, one) => sum + one, 0);
    return { perSecond, slowest: Math.min(...each) / perSecond, cpu: cpu / (number * requests) };
  };
  const throughput: number[] = [];
  const capacity: number[] = [];
  const ofOne: number[] = [];
  const slowest: number[] = [];
  for (let round = 0; round < (quick ? 4 : 8); round += 1) {
    const [one, three] = [await loadAll(1, instances), await loadAll(3, instances)];
    const [alone, all] = [await loadAll(1, shared), await loadAll(3, shared)];
    if (round < 2) continue;
    throughput.push(three.perSecond / one.perSecond);
    capacity.push((3 * one.cpu) / three.cpu);
    ofOne.push(all.perSecond / alone.perSecond);
    slowest.push(all.slowest);
  }
  await Promise.all(clients.map((client) => client.stop()));
  return [
    figureOf("requests per second: three replicas with own instances / one", throughput, { atLeast: 2.2 }),
    figureOf("the same by processor time, for machines of their own", capacity, { atLeast: 2.4 }),
    figureOf("requests per second: three replicas of one sandbox / one", ofOne, { atLeast: 0.5 }),
    figureOf("the slowest of these three / all", slowest, { atLeast: 0.2 }),
  ];
}

async function thousand(replicas: readonly ServerChild[]): Promise<Figure> {
  await inParallel(many - 40, 24, async (index) => {
    const server = replicas[index % replicas.length] as ServerChild;
    const base = await create(server);
    for (let n = 0; n < 20; n += 1) await ask(server, base);
  });
  return figureOf(
    `memory of a replica with ${many} instances / ${containerMegabytes} MB`,
    replicas.map(({ pid }) => memoryOf(pid) / containerMegabytes),
    { atMost: 1 },
  );
}

/** Makes an instance with the server's seed, and so with its keys; resolves with the path in front of the API's. */
export async function create({ port }: ServerChild): Promise<string> {
  const body = JSON.stringify({ seed: defaultSeed });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body };
  const response = await fetch(`http://127.0.0.1:${port}/__sandbox/instances`, init);
  if (response.status !== 201)
    throw new Error(`POST /instances: ${response.status} ${await response.text()}`);
  return `/i/${((await response.json()) as { data: { id: string } }).data.id}`;
}

async function ask({ port, keys }: ServerChild, base: string): Promise<void> {
  const headers = { "x-api-key": keys[0] as string };
  const response = await fetch(`http://127.0.0.1:${port}${base}/v1/relying-party/me`, { headers });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`expected a 200 and got ${response.status}`);
}

export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
