import { setTimeout as sleep } from "node:timers/promises";
import { pick, type RandomStream, randomStream } from "../../src/spec/seed.js";
import { below } from "../../test/support/hostile-requests.js";
import { ask } from "./clients.js";
import type { Process, Replicas } from "./replicas.js";

/** Makes something fail; resolves when it works again. */
type Disturbance = (replicas: Replicas, one: Process, draw: RandomStream) => Promise<void>;

/** What a replica's proxy does to its connections until it is mended, and the longest time for that. */
const troubles = { cut: 3000, stall: 4000, loseReplies: 500 } as const;
const troublesOfProxy = Object.entries(troubles).map(([name, longest]) => {
  const trouble: Disturbance = async (_, { proxy }, draw) => {
    proxy[name as keyof typeof troubles]();
    await sleep(100 + below(draw, longest));
    proxy.mend();
  };
  return Object.defineProperty(trouble, "name", { value: name });
});

const disturbances: readonly Disturbance[] = [
  ...troublesOfProxy,
  async function killReplica(_, one, draw) {
    await one.kill();
    await sleep(below(draw, 1000));
    await one.start();
  },
  async function pauseReplica(_, one, draw) {
    await one.pause(1000 + below(draw, 2000));
  },
  async function pauseRedis({ redis }, _, draw) {
    redis.signal("SIGSTOP");
    await sleep(500 + below(draw, 4000));
    redis.signal("SIGCONT");
  },
  async function killRedis({ redis }, _, draw) {
    await redis.crash();
    await sleep(below(draw, 1500));
    await redis.restart();
  },
];

const maxRecovery = 15_000;

/** Disturbs one thing after the other until it is stopped, which resolves to the times until all replicas were back. */
export function startDisturbing(replicas: Replicas, seed: number): { stop: () => Promise<number[]> } {
  const draw = randomStream(seed, "disturb");
  const recoveries: number[] = [];
  let isStopped = false;
  const run = async () => {
    while (!isStopped) {
      await sleep(below(draw, 1500));
      const disturb = pick(draw, disturbances);
      await disturb(replicas, pick(draw, replicas.all), draw);
      recoveries.push(await recovery(replicas, disturb.name));
    }
    return recoveries;
  };
  const running = run();
  // The one who stops it gets the error.
  running.catch(() => {});
  return {
    stop() {
      isStopped = true;
      return running;
    },
  };
}

async function recovery({ all, probeKey }: Replicas, after: string): Promise<number> {
  const from = performance.now();
  const probe = async (replica: Process): Promise<void> => {
    while (performance.now() - from < maxRecovery) {
      const got = await ask(replica, "GET /v1/relying-party/me", { key: probeKey, timeout: 3000 });
      if (typeof got === "object" && got.status === 200) return;
      await sleep(20);
    }
    throw new Error(`${after}: replica ${replica.index} did not come back within ${maxRecovery} ms`);
  };
  await Promise.all(all.map(probe));
  return performance.now() - from;
}
