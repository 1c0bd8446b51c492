import { record } from "./clients.js";
import { startDisturbing } from "./disturb.js";
import { type History, line, linearize } from "./linearize.js";
import { startReplicas } from "./replicas.js";

export interface HistoriesOptions {
  readonly count: number;
  readonly seed: number;
  readonly disturb?: boolean;
  /** When Redis writes its log to the disk. Default: `always`. */
  readonly fsync?: string;
  readonly onProgress?: (recorded: number) => void;
}

export interface Found {
  readonly histories: number;
  readonly operations: number;
  /** How many have an outcome that their client does not know. */
  readonly unknown: number;
  /** How many of these got 503, because the store did not respond in time. */
  readonly unavailable: number;
  readonly disturbances: number;
  /** The longest time until all replicas were back, in milliseconds. */
  readonly slowest: number;
  readonly failures: readonly string[];
}

// How many histories run in parallel. A disturbed one takes its time, so that something happens in it; if nothing fails,
// a busy machine has time to respond. Times are milliseconds.
const quiet = { atOnce: 4, rest: 0, timeouts: 60_000, storeTimeout: 30_000 };
const disturbed = { atOnce: 10, rest: 500, timeouts: 10_000, storeTimeout: 2000 };

export async function runHistories(options: HistoriesOptions): Promise<Found> {
  const { count, seed, disturb = false, fsync = "always", onProgress = () => {} } = options;
  const { atOnce, rest, timeouts, storeTimeout } = disturb ? disturbed : quiet;
  const replicas = await startReplicas(fsync, storeTimeout);
  const disturbing = disturb ? startDisturbing(replicas, seed) : undefined;
  const failures: string[] = [];
  const recorded = new Map<number, History>();
  let [started, histories, operations, unknown, unavailable] = [0, 0, 0, 0, 0];
  const work = async () => {
    while (started < count) {
      started += 1;
      const number = started;
      try {
        const history = await record({ seed, number, replicas: replicas.all, rest, timeouts });
        const open = history.filter(({ outcome }) => outcome === undefined);
        const away = open.filter(({ reason = "" }) => reason.startsWith("503"));
        // If nothing fails, every outcome is known, unless the machine is too busy for the store.
        const lost = disturb ? [] : open.filter((one) => !away.includes(one));
        unavailable += away.length;
        failures.push(...lost.map((one) => `history ${number}: ${line(one)}`));
        recorded.set(number, history);
        operations += history.length;
        unknown += open.length;
        histories += 1;
        onProgress(histories);
      } catch (error) {
        failures.push(`history ${number}: ${(error as Error).message}`);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
    const recoveries = (await disturbing?.stop().catch((error) => void failures.push(error.message))) ?? [];
    failures.push(...replicas.complaints());
    // Not before: a check takes seconds, and the clients and the connections of the replicas are in this process.
    for (const [number, history] of recorded)
      failures.push(...check(history).map((failure) => `history ${number}: ${failure}`));
    const slowest = Math.max(0, ...recoveries);
    return {
      histories,
      operations,
      unknown,
      unavailable,
      disturbances: recoveries.length,
      slowest,
      failures,
    };
  } finally {
    await replicas.close();
  }
}

/** Checks one history; returns what is wrong with it, with all of its operations. */
export function check(history: History): readonly string[] {
  const { is, longest, stuck } = linearize(history);
  if (is === "linearizable") return [];
  const bySending = [...history].sort((a, b) => a.sent - b.sent);
  const failure = [
    `it is ${is}`,
    "what the clients saw:",
    ...bySending.map((seen) => `  ${line(seen)}`),
    "the longest order that explains it:",
    ...longest.map((seen) => `  ${line(seen)}`),
    "none of these can follow:",
    ...stuck.map((one) => `  ${one}`),
  ];
  return [failure.join("\n    ")];
}
