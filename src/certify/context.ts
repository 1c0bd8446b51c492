import type { PathId } from "../rules/outcomes.js";
import type { RunConditions } from "../runs/conditions.js";
import type { Judgment, Problem } from "./certificate.js";
import { type CertifyPlan, timeoutsFor } from "./plan.js";
import type { ClientRun, Reason, Tools } from "./run.js";

/** What a part of the runs has shown. */
export type Judged = { readonly checks: readonly Judgment[]; readonly problems: readonly Problem[] };

/** A run, by its name in `--only`. */
interface NamedRun extends Pick<ClientRun, "report"> {
  readonly name: string;
}

/** The runs of one client. */
export interface Runs {
  readonly all: () => readonly NamedRun[];
  readonly scenarios: () => readonly string[];
  /** Later runs have the time that the plain one shows they need. `expected`: how many runs there will be. */
  readonly measured: (plain: ClientRun, expected: number) => void;
  /** A search begins, which takes about so many more. */
  readonly expectMore: (count: number) => void;
  /** `wait`: how long the client may wait before its next request, in milliseconds. */
  readonly make: (
    name: string,
    conditions: RunConditions,
    options?: { readonly seed?: number; readonly wait?: number; readonly isAlone?: boolean },
  ) => Promise<ClientRun | undefined>;
}

export function createRuns(plan: CertifyPlan, tools: Tools): Runs {
  const all: NamedRun[] = [];
  let begun = 0;
  let expected = 0;
  let plainMs: number | undefined;
  const scenarios = new Set<string>();
  return {
    all: () => all,
    scenarios: () => [...scenarios],
    measured(plain, count) {
      plainMs = plain.durationMs;
      expected = count;
    },
    expectMore(count) {
      expected = Math.max(begun, expected) + count;
    },
    async make(
      name,
      { profile = "minimal", ...conditions },
      { seed = plan.seed, wait = 0, isAlone = false } = {},
    ) {
      begun += 1;
      const timeouts = timeoutsFor(plan.timeout, plainMs, wait);
      const run = await tools.runClient({
        name,
        seed,
        conditions: { profile, ...conditions },
        timeouts,
        isAlone,
      });
      if (run === undefined) return undefined;
      all.push({ name, report: run.report });
      for (const scenario of run.scenarios) scenarios.add(scenario);
      tools.ended(name, run, { number: all.length, expected: Math.max(begun, expected) });
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
  /** The run whose first request on a path gets the wrong answer; `undefined` if `--allow` names the path. */
  readonly wrongOnce: (pathId: PathId) => Promise<ClientRun | undefined>;
  readonly answerOn: (pathId: PathId) => Promise<Answer>;
  /** Why a client that keeps accepted responses may hide a runner that repeats tests; it keeps no 404. */
  readonly whyRepeated: (pathId: PathId) => Promise<Reason | undefined>;
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

/** How the varied runs ended. */
export interface Variations {
  readonly passed: readonly ClientRun[];
  readonly failed: readonly { readonly seed: number; readonly run: ClientRun }[];
  readonly checks: readonly Judgment[];
}

/** Whether the command fails when a path has the wrong answer: already once, or only always. */
export type Answer =
  | { readonly kind: "noticed once" | "noticed" | "unnoticed" }
  | { readonly kind: "not judged"; readonly reason: Reason };
