import { record } from "./clients.js";
import { type Recoveries, startDisturbing } from "./disturb.js";
import { type History, line, linearize } from "./linearize.js";
import { brokenPromises } from "./promises.js";
import { startReplicas } from "./replicas.js";

export interface HistoriesOptions {
  readonly count: number;
  readonly seed: number;
  readonly disturb?: boolean;
  /** When Redis writes what it has appended to the disk. Default: `always`. */
  readonly fsync?: string;
  readonly onProgress?: (checked: number) => void;
}

/** What was found. */
export interface Found {
  readonly histories: number;
  readonly operations: number;
  /** Those of which no client knows what came of them. */
  readonly unknown: number;
  /** The situations that the search looked at: all of them, and the most for one history. */
  readonly looked: number;
  readonly mostLooked: number;
  readonly recoveries: Recoveries;
  readonly failures: readonly string[];
}

// How many histories there are at a time. A disturbed one takes its time, so that something happens in it; where nothing fails,
// a machine that is busy has time to answer. Times are milliseconds.
const quiet = { atOnce: 4, rest: 0, patience: 60_000, storeTimeout: 30_000 };
const disturbed = { atOnce: 10, rest: 500, patience: 5000, storeTimeout: 2000 };

/** Records histories on three replicas over a Redis, and checks each. */
export async function runHistories(options: HistoriesOptions): Promise<Found> {
  const { count, seed, disturb = false, fsync = "always", onProgress = () => {} } = options;
  const { atOnce, rest, patience, storeTimeout } = disturb ? disturbed : quiet;
  const replicas = await startReplicas(fsync, storeTimeout);
  const disturbing = disturb ? startDisturbing(replicas, seed) : undefined;
  const failures: string[] = [];
  let [begun, checked, operations, unknown, looked, mostLooked] = [0, 0, 0, 0, 0, 0];
  const take = (number: number, history: History) => {
    const verdict = check(history);
    const ofUnknown = history.filter(({ answer }) => answer === undefined);
    // Where nothing fails, everything has an outcome.
    if (!disturb) failures.push(...ofUnknown.map((seen) => `history ${number}: ${line(seen)}`));
    failures.push(...verdict.failures.map((failure) => `history ${number}: ${failure}`));
    operations += history.length;
    unknown += ofUnknown.length;
    looked += verdict.looked;
    mostLooked = Math.max(mostLooked, verdict.looked);
    checked += 1;
    onProgress(checked);
  };
  const work = async () => {
    while (begun < count) {
      begun += 1;
      const number = begun;
      try {
        take(number, await record({ seed, number, replicas: replicas.all, rest, patience }));
      } catch (error) {
        failures.push(`history ${number}: ${(error as Error).message}`);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
    await disturbing?.stop().catch((error) => void failures.push(error.message));
    failures.push(...replicas.complaints());
  } finally {
    await replicas.close();
  }
  const recoveries: Recoveries = disturbing?.recoveries ?? new Map();
  return { histories: checked, operations, unknown, looked, mostLooked, recoveries, failures };
}

/** Checks one history: what is wrong with it, with all of its operations. */
export function check(history: History): { readonly failures: readonly string[]; readonly looked: number } {
  const promises = brokenPromises(history);
  const { is, looked, longest, stuck } = linearize(history);
  if (is === "linearizable" && promises.length === 0) return { failures: [], looked };
  const bySending = [...history].sort((a, b) => a.sent - b.sent);
  const failure = [
    `it is ${is}, ${looked} situations looked at`,
    ...promises,
    "what the clients saw:",
    ...bySending.map((seen) => `  ${line(seen)}`),
    ...(is === "linearizable"
      ? []
      : ["the longest order that explains it:", ...longest.map((seen) => `  ${line(seen)}`)]),
    ...(stuck.length === 0 ? [] : ["after which none of these fits:", ...stuck.map((one) => `  ${one}`)]),
  ];
  return { failures: [failure.join("\n    ")], looked };
}
