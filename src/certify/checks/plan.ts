import type { Profile } from "../../rules/assumptions.js";
import { asksFor, type Check, seedIn } from "./check.js";

/** What a call of certify asks for: its flags, read. */
export interface CertifyPlan {
  /** The seed of the plain run, and of all others but the varied ones. */
  readonly seed: number;
  /** The first of the eight seeds of varied runs. */
  readonly firstSeed: number;
  /** Whether it tries every fault. Default: the four that break most clients. */
  readonly hasAllFaults?: boolean;
  /** The names of the only runs, besides the plain one. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** The outcomes whose wrong answer the client survives on purpose, and the faults that it does not survive on purpose. */
  readonly allow: readonly string[];
  /** Those that the given scenario sets: no run varies them. */
  readonly ownAssumptions?: readonly string[];
  /** The profile of the given scenario, which `exec` uses without `--profile`. */
  readonly profile?: Profile | undefined;
  /** The key whose requests are rejected to find resends, if the client sends it and it fits. */
  readonly defaultKey: string | undefined;
  /** The flags of the call that each command needs which shows a problem again, such as `--now`. */
  readonly flags: readonly string[];
  /** The other such flags, which only `certify` has, such as `--timeout`. */
  readonly certifyFlags: readonly string[];
  /** Milliseconds for each run. Default: 60 s for the plain run; for others five times its duration, at least 30 s, and the time that the client may wait. */
  readonly timeout?: number | undefined;
}

/** Whether `--only` asks for a check: by its name or the start of it. */
export function isWanted({ only }: Pick<CertifyPlan, "only">, check: Check): boolean {
  return only === undefined || only.some((name) => asksFor(name, check));
}

/** So many seeds in a row show every variant of each row. */
const seedCount = 8;

/** Whether the varied runs show every variant of each row: `--only` may ask for some of them. */
export function areAllSeedsTried({ only }: Pick<CertifyPlan, "only">): boolean {
  return only === undefined || only.includes("varied");
}

export function variedSeeds(plan: Pick<CertifyPlan, "only" | "firstSeed">): number[] {
  const { only = [], firstSeed } = plan;
  const seeds = new Set<number>();
  for (let number = 0; areAllSeedsTried(plan) && number < seedCount; number++) seeds.add(firstSeed + number);
  for (const name of only) {
    const seed = seedIn(name);
    if (seed !== undefined) seeds.add(seed);
  }
  return [...seeds];
}
