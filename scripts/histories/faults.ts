import { setTimeout as sleep } from "node:timers/promises";
import { pick, randomStream } from "../../src/rules/seed.js";
import { below } from "../../test/support/hostile-requests.js";
import type { RedisServer } from "../../test/support/redis-server.js";
import { ask, type Server } from "./servers.js";

type Act = (one: Server, redis: RedisServer) => unknown;
const mend: Act = ({ proxy }) => proxy.mend();
const start: Act = (one) => one.start();

/** What fails, for how many milliseconds at most, and how it fails and works again. */
const faults: readonly (readonly [name: string, most: number, fail: Act, mend: Act])[] = [
  ["cut connections", 3000, ({ proxy }) => proxy.cut(), mend],
  ["stalled connections", 4000, ({ proxy }) => proxy.stall(), mend],
  ["dropped replies", 500, ({ proxy }) => proxy.loseReplies(), mend],
  ["killed servers", 1000, (one) => one.stop("SIGKILL"), start],
  ["restarted servers", 1000, (one) => one.stop("SIGTERM"), start],
  ["frozen servers", 3000, (one) => one.signal("SIGSTOP"), (one) => one.signal("SIGCONT")],
  ["frozen Redis", 4000, (_, redis) => redis.signal("SIGSTOP"), (_, redis) => redis.signal("SIGCONT")],
  ["killed Redis", 1500, (_, redis) => redis.crash(), (_, redis) => redis.restart()],
  ["full Redis", 3000, (_, redis) => setMemory(redis, "1"), (_, redis) => setMemory(redis, "0")],
];

const setMemory = (redis: RedisServer, max: string) => redis.command("CONFIG", "SET", "maxmemory", max);

const maxRecovery = 30_000;

/** Lets one thing fail after the other until the returned function is called, which resolves to how often each did, and the slowest recovery. */
export function startFaults(redis: RedisServer, servers: readonly Server[], seed: number) {
  const draw = randomStream(seed, "faults");
  const counts: Record<string, number> = {};
  let [slowest, isStopped] = [0, false];
  // Each once, in any order, before one comes again.
  let left: typeof faults = [];
  const run = async () => {
    while (!isStopped) {
      await sleep(below(draw, 1000));
      if (left.length === 0) left = faults;
      const fault = pick(draw, left);
      left = left.filter((one) => one !== fault);
      const [name, most, fail, mend] = fault;
      const one = pick(draw, servers);
      await fail(one, redis);
      await sleep(100 + below(draw, most));
      await mend(one, redis);
      slowest = Math.max(slowest, await recovery(servers, name));
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return { counts, slowest };
  };
  const running = run();
  // The one who stops it gets the error.
  running.catch(() => {});
  return () => {
    isStopped = true;
    return running;
  };
}

async function recovery(servers: readonly Server[], after: string): Promise<number> {
  const from = performance.now();
  for (const one of servers) {
    for (;;) {
      const got = await ask(one, "GET /v1/relying-party/me", { "x-api-key": one.probeKey() });
      if (typeof got === "object" && got.status === 200) break;
      if (performance.now() - from > maxRecovery)
        throw new Error(`${after}: a server did not come back within ${maxRecovery} ms`);
      await sleep(20);
    }
  }
  return performance.now() - from;
}
