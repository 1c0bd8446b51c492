import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inParallel } from "../../test/support/in-parallel.js";
import { startRedis } from "../../test/support/redis-server.js";
import { record } from "./clients.js";
import { startFaults } from "./faults.js";
import { explain, type Seen, undecided } from "./linearize.js";
import { historyScenario } from "./model.js";
import { type Server, startServer } from "./servers.js";

// A history with faults takes its time, so that something happens in it.
const calm = { atOnce: 4, rest: 0 };
const faulty = { atOnce: 10, rest: 500 };

/** Runs histories on three servers with one Redis, which fail with `faults`, and checks what their clients saw. */
export async function runHistories(count: number, seed: number, faults: boolean) {
  const { atOnce, rest } = faults ? faulty : calm;
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-histories-"));
  const file = join(folder, "histories.json");
  writeFileSync(file, JSON.stringify(historyScenario()));
  const failures = new Set<string>();
  const redis = await startRedis();
  const servers: Server[] = [];
  const stopAll = () => Promise.all(servers.map((one) => one.stop("SIGKILL")));
  try {
    for (let n = 0; n < 3; n += 1) servers.push(await startServer(file, redis.port, failures));
    const stopFaults = faults ? startFaults(redis, servers, seed) : undefined;
    const recorded = new Map<number, readonly Seen[]>();
    let [operations, unknown] = [0, 0];
    await inParallel(count, atOnce, async (number) => {
      try {
        const { seen, requests } = await record(seed * 1_000_000 + number, servers, rest);
        operations += seen.length + requests.known + requests.unknown;
        unknown += seen.filter(({ outcome }) => outcome === undefined).length + requests.unknown;
        recorded.set(number, seen);
        if (recorded.size % 30 === 0) console.log(`${recorded.size} histories`);
      } catch (error) {
        failures.add(`history ${number}: ${(error as Error).message}`);
      }
    });
    const failed = await stopFaults?.().catch((error) => void failures.add(error.message));
    // Not before: a check takes seconds, and the clients and the connections of the servers are in this process.
    let open = 0;
    for (const [number, seen] of recorded) {
      const failure = explain(seen);
      if (failure === undecided) open += 1;
      else if (failure !== undefined) failures.add(`history ${number}: ${failure}`);
    }
    await stopAll();
    return { operations, unknown, open, failed, failures: [...failures] };
  } finally {
    await stopAll();
    for (const { proxy } of servers) proxy.close();
    await redis.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
