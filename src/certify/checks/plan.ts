import type { Profile } from "../../rules/assumptions.js";
import { faultOutcomeIds, type OutcomeId } from "../../rules/outcomes.js";
import { resendKinds } from "../resends/resend-kinds.js";
import { asksFor, type Check, nameOf, seedIn } from "./check.js";

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

/** So many seeds in a row show every variant of each row. */
export const seedCount = 8;

/** Whether `--only` asks for a check: by its name or the start of it. */
export function isWanted({ only }: Pick<CertifyPlan, "only">, check: Check): boolean {
  return only === undefined || only.some((name) => asksFor(name, check));
}

export function variedSeeds({ only, firstSeed }: Pick<CertifyPlan, "only" | "firstSeed">): number[] {
  const seeds = new Set(only === undefined || only.includes("varied") ? seedsInARow(firstSeed) : []);
  for (const name of only ?? []) {
    const seed = seedIn(name);
    if (seed !== undefined) seeds.add(seed);
  }
  return [...seeds];
}

/** Whether these seeds together show every variant of each row. */
export function showEveryVariant(seeds: readonly number[]): boolean {
  return seeds.some((first) => seedsInARow(first).every((seed) => seeds.includes(seed)));
}

function seedsInARow(first: number): number[] {
  return Array.from({ length: seedCount }, (_, index) => first + index);
}

/** The words that names of runs begin with. */
const groupNames = ["plain", "varied", "answer", "resend", "fault"];

/**
 * Finds the first name of `--only` that asks for no run of a client that covers these outcomes, and returns all names with it; `undefined` if
 * each asks for one. A name is that of a run, the start of such a name, or a seed.
 */
export function findUnknownOnly(
  only: readonly string[],
  outcomes: readonly OutcomeId[],
): { readonly unknown: string; readonly names: readonly string[] } | undefined {
  const checks: Check[] = [{ kind: "varied", seed: "mixed" }];
  for (const outcome of outcomes) checks.push({ kind: "answer", outcome });
  for (const { check } of resendKinds(outcomes)) checks.push(check);
  for (const outcome of faultOutcomeIds) checks.push({ kind: "fault", outcome });
  const names = [...groupNames, ...checks.map(nameOf)];

  for (const name of only) {
    if (names.includes(name) || checks.some((check) => asksFor(name, check))) continue;
    if (seedIn(name) === undefined) return { unknown: name, names };
  }
  return undefined;
}
