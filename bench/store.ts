import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { noRedis, startRedis } from "../test/support/redis-server.js";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { type ServerChild, startClient, startServer } from "./children.js";
import { startCommand } from "./command.js";
import { type Figure, figureOf } from "./figure.js";
import { alternate, connections, takeTurns } from "./rounds.js";
import { benchScenario } from "./scenario.js";
import { answerOf } from "./throughput.js";

/** Replicas over one Redis against a server of its own, against a bare one that counts in Redis, and against each other. */
export async function measureStore({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  if (noRedis !== undefined) {
    console.error(`The store is left out: ${noRedis}`);
    return [];
  }
  const file = join(bundle.folder, "store.yaml");
  await writeFile(file, stringify(benchScenario(10)));
  const redis = await startRedis(["--appendonly", "yes", "--appendfsync", "everysec"]);
  const replica = () => startCommand(node, file, ["--store", redis.url]);
  const amount = { rounds: quick ? 3 : 11, requests: quick ? 3000 : 15_000 };
  try {
    const alone = await startCommand(node, file);
    const answer = await answerOf(alone);
    const stored = await alternate(bundle, { ours: await replica(), theirs: alone }, amount);
    const counted = await alternate(
      bundle,
      {
        ours: await replica(),
        theirs: await startServer(bundle.server, node, { kind: "bare", ...answer, redis: redis.url }),
      },
      amount,
    );
    return [
      figureOf(
        "requests per second: one replica / without a store",
        stored.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond),
      ),
      figureOf(
        "milliseconds that a store adds at the median, 32 requests under way",
        stored.map(({ ours, theirs }) => ours.p50 - theirs.p50),
      ),
      figureOf(
        "requests per second: one replica / bare node:http with an INCR for each",
        counted.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond),
      ),
      ...(await measureReplicas(bundle, replica, amount)),
      await measureMemory(bundle, replica, () => startCommand(node, file), amount.requests),
      await measureStart(replica, () => startCommand(node, file), quick ? 3 : 11),
    ];
  } finally {
    await redis.close();
  }
}

type Start = () => Promise<ServerChild>;

/** The same load on several replicas at once as on the first of them alone. */
async function measureReplicas(bundle: Bundle, start: Start, { rounds, requests }: Amount) {
  const replicas = [await start(), await start(), await start()];
  const clients = replicas.map(() => startClient(bundle.client));
  const loadOn = (count: number) => async () => {
    const begin = performance.now();
    const readings = await Promise.all(
      replicas.slice(0, count).map(({ port, keys }, i) =>
        (clients[i] as (typeof clients)[number]).load({
          port,
          keys,
          connections: Math.ceil(connections / count),
          requests: Math.ceil(requests / count),
        }),
      ),
    );
    const [{ p50, p99 }] = readings as [(typeof readings)[number]];
    return { perSecond: requests / ((performance.now() - begin) / 1000), p50, p99 };
  };
  const figures: Figure[] = [];
  for (const [count, words] of [
    [2, "two replicas / one"],
    [3, "three replicas / one"],
  ] as const) {
    const readings = await takeTurns({ ours: loadOn(count), theirs: loadOn(1) }, rounds);
    figures.push(
      figureOf(
        `requests per second: ${words} of three, all of one store`,
        readings.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond),
      ),
    );
  }
  await Promise.all([...clients, ...replicas].map((one) => one.stop()));
  return figures;
}

interface Amount {
  readonly rounds: number;
  readonly requests: number;
}

/** The resident memory of a replica against that of a server without a store, after the same requests. */
async function measureMemory(bundle: Bundle, replica: Start, alone: Start, requests: number) {
  const residentOf = async (start: Start) => {
    const client = startClient(bundle.client);
    const server = await start();
    await client.load({ ...server, connections, requests: 3 * requests });
    const status = await readFile(`/proc/${server.pid}/status`, "utf8");
    await Promise.all([client.stop(), server.stop()]);
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
  };
  const ratio = (await residentOf(replica)) / (await residentOf(alone));
  return figureOf("resident memory: a replica / a server without a store", [ratio]);
}

/** From the start of the command until it listens, on a log of all the requests before, against one without a store. */
async function measureStart(replica: Start, alone: Start, rounds: number) {
  const timeOf = async (start: Start) => {
    const begin = performance.now();
    const server = await start();
    const time = performance.now() - begin;
    await server.stop();
    return time;
  };
  const ratios = [];
  for (let round = 0; round <= rounds; round++) {
    const ratio = (await timeOf(replica)) / (await timeOf(alone));
    if (round > 0) ratios.push(ratio);
  }
  return figureOf("start of a late replica / of a server without a store", ratios);
}
