import type { PathId } from "../rules/outcomes.js";
import type { RunConditions } from "../sandbox/conditions.js";
import type { FailedRun } from "./causes.js";
import { type CertifyPlan, timeoutsFor } from "./plan.js";
import type { Judgment, Problem } from "./report.js";
import type { ClientRun, Reason, Tools } from "./run.js";

/** What a part of the runs has shown. */
export type Judged = { readonly checks: readonly Judgment[]; readonly problems: readonly Problem[] };

/** The runs of one client. */
export interface Runs {
  /** How many were made. */
  readonly count: () => number;
  readonly scenarios: () => readonly string[];
  /** A later run has the time that the plain one shows it needs. */
  readonly measured: (plain: ClientRun) => void;
  /** `wait`: how long the client may wait before its next request, in milliseconds. */
  readonly run: (
    name: string,
    conditions: RunConditions,
    options?: { readonly seed?: number; readonly wait?: number; readonly isAlone?: boolean },
  ) => Promise<ClientRun | undefined>;
}

export function createRuns(plan: CertifyPlan, tools: Tools): Runs {
  let count = 0;
  let plainMs: number | undefined;
  const scenarios = new Set<string>();
  return {
    count: () => count,
    scenarios: () => [...scenarios],
    measured(plain) {
      plainMs = plain.durationMs;
    },
    async run(
      name,
      { profile = "minimal", ...conditions },
      { seed = plan.seed, wait = 0, isAlone = false } = {},
    ) {
      const timeouts = timeoutsFor(plan.timeout, plainMs, wait);
      const run = await tools.run({ name, seed, conditions: { profile, ...conditions }, timeouts, isAlone });
      count += run === undefined ? 0 : 1;
      for (const scenario of run?.scenarios ?? []) scenarios.add(scenario);
      return run;
    },
  };
}
/** What every part of a certification reads. */
export interface Context {
  readonly plan: CertifyPlan;
  readonly runs: Runs;
  readonly plain: ClientRun;
  readonly covered: readonly PathId[];
  readonly varied: Promise<Variations>;
  readonly answerOn: (path: PathId) => Promise<Answer>;
  /** Why a failure that comes only once may not show, such as a runner that repeats tests; `undefined` if it shows. */
  readonly whyHidden: () => Promise<Reason | undefined>;
}

export const check = (name: string, outcome: Judgment["outcome"], reason?: Reason): Judgment => ({
  name,
  outcome,
  ...reason,
});
export const held = (name: string): Judged => ({ checks: [check(name, "held")], problems: [] });
export const open = (name: string, reason: Reason): Judged => ({
  checks: [check(name, "not_judged", reason)],
  problems: [],
});
/** For a run that ended differently although the sandbox behaved the same. */
export const findDependency = "Find out what else the command depends on: time, order, other tests.";

/** How the varied runs ended. */
export interface Variations {
  readonly asked: number;
  readonly passed: readonly ClientRun[];
  readonly failed: readonly FailedRun[];
  readonly checks: readonly Judgment[];
}

/** Whether the command fails when a path has the wrong answer: already once, or only always. */
export type Answer =
  | { readonly kind: "noticed once" | "noticed" | "unnoticed" }
  | { readonly kind: "not judged"; readonly reason: Reason };
