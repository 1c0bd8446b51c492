import { setTimeout as sleep } from "node:timers/promises";
import { pick, type RandomStream, randomStream } from "../../src/domain/seed.js";
import { below } from "../../test/support/hostile-requests.js";
import { ask } from "./clients.js";
import type { Process, Replicas } from "./replicas.js";

/** Makes something fail; resolves when that is over. */
type Disturbance = (replicas: Replicas, one: Process, draw: RandomStream) => Promise<void>;

const disturbances: Readonly<Record<string, Disturbance>> = {
  "a replica killed": async (_, one, draw) => {
    await one.kill();
    await sleep(below(draw, 1000));
    await one.start();
  },
  "a replica paused": async (_, one, draw) => {
    one.signal("SIGSTOP");
    await sleep(1000 + below(draw, 2000));
    one.signal("SIGCONT");
  },
  "a replica cut off": async (_, { proxy }, draw) => {
    proxy.cut();
    await sleep(100 + below(draw, 3000));
    proxy.mend();
  },
  "a replica's connections stalled": async (_, { proxy }, draw) => {
    proxy.stall();
    await sleep(100 + below(draw, 4000));
    proxy.mend();
  },
  "replies lost on the way to a replica": async (_, { proxy }, draw) => {
    proxy.loseReplies();
    await sleep(100 + below(draw, 500));
    proxy.mend();
  },
  "Redis killed": async ({ redis }, _, draw) => {
    await redis.crash();
    await sleep(below(draw, 1500));
    await redis.restart();
  },
};

/** Longer than this to come back is a failure; milliseconds. */
const mostRecovery = 15_000;

/** How often each disturbance was, and how long the replicas took to come back. */
export type Recoveries = ReadonlyMap<string, readonly number[]>;

/** Disturbs one thing after the other until it is stopped. */
export function startDisturbing(replicas: Replicas, seed: number) {
  const draw = randomStream(seed, "disturb");
  const recoveries = new Map<string, number[]>();
  let isStopped = false;
  const run = async () => {
    while (!isStopped) {
      await sleep(below(draw, 1500));
      const name = pick(draw, Object.keys(disturbances));
      await disturbances[name]?.(replicas, pick(draw, replicas.all), draw);
      const took = await recovery(replicas);
      recoveries.set(name, [...(recoveries.get(name) ?? []), took]);
    }
  };
  const running = run();
  // Whoever stops it hears of it.
  running.catch(() => {});
  return {
    recoveries: recoveries as Recoveries,
    stop() {
      isStopped = true;
      return running;
    },
  };
}

/** Resolves to the milliseconds until every replica answers a request with 200 again. */
async function recovery({ all, probeKey }: Replicas): Promise<number> {
  const from = performance.now();
  const probe = async (replica: Process): Promise<void> => {
    while (performance.now() - from < mostRecovery) {
      const got = await ask(replica, "GET /v1/relying-party/me", { key: probeKey, timeout: 3000 });
      if (typeof got === "object" && got.status === 200) return;
      await sleep(20);
    }
    throw new Error(`replica ${replica.index} did not come back within ${mostRecovery} ms`);
  };
  await Promise.all(all.map(probe));
  return performance.now() - from;
}
