import type { Profile } from "../../rules/assumptions.js";
import type { FaultOutcomeId } from "../../rules/fault-effects.js";
import { faultOutcomeIds, type OutcomeId } from "../../rules/outcomes.js";
import { asksFor, type Check, nameOf, type RunPurpose, resendChecks, seedIn } from "./check.js";

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
  /** What would be a problem, and is none: names as in `only`, and outcomes whose wrong answer the client survives on purpose. */
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

/** Whether `--allow` names a check, or the outcome of a wrong answer: what would be a problem is none then. */
export function isOnPurpose({ allow }: Pick<CertifyPlan, "allow">, check: RunPurpose): boolean {
  return allow.some((name) => asksFor(name, check) || (check.kind === "answer" && check.outcome === name));
}

/** The faults that break most clients; `--faults` tries the others as well. */
const defaultFaults: readonly FaultOutcomeId[] = [
  "fault.hang",
  "fault.status",
  "fault.truncate",
  "fault.malformed",
];

/** The checks of faults that the plan has. */
export function faultChecks(plan: Pick<CertifyPlan, "only" | "hasAllFaults">) {
  const { only, hasAllFaults } = plan;
  const wanted = faultOutcomeIds.filter((outcome) => {
    if (!isWanted(plan, { kind: "fault", outcome })) return false;
    return hasAllFaults || only?.includes(outcome) || defaultFaults.includes(outcome);
  });
  return wanted.map((outcome) => ({ kind: "fault", outcome }) as const);
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
  const checks: Check[] = [{ kind: "varied", seed: "mixed" }, ...resendChecks(outcomes)];
  for (const outcome of outcomes) checks.push({ kind: "answer", outcome });
  for (const outcome of faultOutcomeIds) checks.push({ kind: "fault", outcome });
  const names = [...groupNames, ...checks.map(nameOf)];

  for (const name of only) {
    if (names.includes(name) || checks.some((check) => asksFor(name, check))) continue;
    if (seedIn(name) === undefined) return { unknown: name, names };
  }
  return undefined;
}
