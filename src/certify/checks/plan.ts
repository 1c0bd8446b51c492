import type { Profile } from "../../rules/assumptions.js";
import type { FaultOutcomeId } from "../../rules/fault-effects.js";
import { faultOutcomeIds, type OutcomeId } from "../../rules/outcomes.js";
import {
  asksFor,
  type Check,
  type Group,
  groups,
  nameOf,
  type RunPurpose,
  resendChecks,
  seedIn,
} from "./check.js";

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

/** What decides which checks there are. */
type Choice = Pick<CertifyPlan, "only" | "hasAllFaults" | "firstSeed">;

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

/** The checks of each group, in the order in which they are listed. */
export type PlannedChecks = { readonly [Kind in Group]: readonly Extract<Check, { readonly kind: Kind }>[] }; // a new group is an error here

/** What a plan tries of a client that covers these outcomes. `varied.mixed` follows the seeds, if all of them hold. */
export function plannedChecks(plan: Choice, outcomes: readonly OutcomeId[]): PlannedChecks {
  const { only, hasAllFaults } = plan;
  const seeds = [...variedSeeds(plan), "mixed" as const];
  const faults = faultOutcomeIds.filter((outcome) => {
    return hasAllFaults || only?.includes(outcome) || defaultFaults.includes(outcome);
  });
  return {
    varied: wantedOf(
      plan,
      seeds.map((seed) => ({ kind: "varied", seed })),
    ),
    answer: wantedOf(
      plan,
      outcomes.map((outcome) => ({ kind: "answer", outcome })),
    ),
    resend: wantedOf(plan, resendChecks(outcomes)),
    fault: wantedOf(
      plan,
      faults.map((outcome) => ({ kind: "fault", outcome })),
    ),
  };
}

/** Those that `--only` asks for, by their names or the starts of these. */
function wantedOf<Some extends Check>({ only }: Choice, checks: readonly Some[]): readonly Some[] {
  if (only === undefined) return checks;
  return checks.filter((check) => only.some((name) => asksFor(name, check)));
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

/**
 * Finds the first name of `--only` that asks for no run of a client that covers these outcomes, and returns all names with it; `undefined` if
 * each asks for one. A name is that of a run, the start of such a name, or a seed.
 */
export function findUnknownOnly(
  only: readonly string[],
  outcomes: readonly OutcomeId[],
): { readonly unknown: string; readonly names: readonly string[] } | undefined {
  const all = plannedChecks({ firstSeed: 1, hasAllFaults: true }, outcomes);
  const checks = Object.values(all).flat();
  const names = ["plain", ...groups, ...checks.map(nameOf)];

  for (const name of only) {
    if (names.includes(name) || checks.some((check) => asksFor(name, check))) continue;
    if (seedIn(name) === undefined) return { unknown: name, names };
  }
  return undefined;
}
