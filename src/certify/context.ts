import type { OutcomeId } from "../rules/outcomes.js";
import type { RunConditions } from "../runs/conditions.js";
import type { Check, CheckResult, Finding, Note } from "./certificate.js";
import { type CertifyPlan, timeoutsFor } from "./plan.js";
import type { ClientRun, Reason, RunRequest, Tools } from "./run.js";

/** What a part of the runs has shown. */
export interface Judged {
  readonly checks: readonly Check[];
  readonly problems: readonly Finding[];
  readonly notes: readonly Note[];
}

/** The runs of one client. */
export class Runs {
  readonly #plan: CertifyPlan;
  readonly #tools: Tools;
  readonly all: ClientRun[] = [];
  readonly scenarios = new Set<string>();
  #begun = 0;
  #expected = 0;
  #plainMs: number | undefined;

  constructor(plan: CertifyPlan, tools: Tools) {
    this.#plan = plan;
    this.#tools = tools;
  }

  /** Later runs have the time that the plain one shows they need. `expected`: how many runs there will be. */
  measured({ durationMs }: ClientRun, expected: number): void {
    this.#plainMs = durationMs;
    this.#expected = expected;
  }

  /** A search begins, which takes about so many more. */
  expectMore(count: number): void {
    this.#expected = Math.max(this.#begun, this.#expected) + count;
  }

  /** `wait`: how long the client may wait before its next request, in milliseconds. */
  async make(
    name: string,
    { profile = "minimal", ...conditions }: RunConditions,
    options: { readonly seed?: number; readonly wait?: number; readonly isAlone?: boolean } = {},
  ): Promise<ClientRun | undefined> {
    const { seed = this.#plan.seed, wait = 0, isAlone = false } = options;
    this.#begun += 1;
    const timeouts = timeoutsFor(this.#plan.timeout, this.#plainMs, wait);
    const request: RunRequest = { name, seed, conditions: { profile, ...conditions }, timeouts, isAlone };
    const end = await this.#tools.runClient(request);
    if (end === undefined) return undefined;
    const run = { ...request, ...end, number: this.all.length + 1 };
    this.all.push(run);
    for (const scenario of run.scenarios) this.scenarios.add(scenario);
    this.#tools.ended(run, Math.max(this.#begun, this.#expected));
    return run;
  }
}

/** What every part of a certification reads. */
export interface Context {
  readonly plan: CertifyPlan;
  readonly runs: Runs;
  readonly plain: ClientRun;
  readonly covered: readonly OutcomeId[];
  readonly varied: Promise<Variations>;
  /** The run whose first request on an outcome gets the wrong answer; `undefined` if `--allow` names the outcome. */
  readonly wrongOnce: (outcome: OutcomeId) => Promise<ClientRun | undefined>;
  readonly answerOn: (outcome: OutcomeId) => Promise<Answer>;
  /** Why a client that keeps accepted responses may hide a runner that repeats tests; it keeps no 404. */
  readonly whyRepeated: (outcome: OutcomeId) => Promise<Reason | undefined>;
  /** Why a failure that comes only once may not show, such as a runner that repeats tests; `undefined` if it shows. */
  readonly whyHidden: () => Promise<Reason | undefined>;
}

export function checkOf(name: string, result: CheckResult): Check {
  const [group = ""] = name.split(".");
  return { group: group as Check["group"], name, result };
}

export const held = (name: string): Judged => shown([checkOf(name, { is: "held" })]);
export const open = (name: string, reason: Reason): Judged =>
  shown([checkOf(name, { is: "not judged", ...reason })]);
export const failed = (name: string, ...problems: readonly Finding[]): Judged =>
  shown([checkOf(name, { is: "failed" })], problems);
export const noted = (what: string, reason: Reason): Judged => shown([], [], [{ what, ...reason }]);

export function shown(
  checks: Judged["checks"],
  problems: Judged["problems"] = [],
  notes: Judged["notes"] = [],
): Judged {
  return { checks, problems, notes };
}

/** What is left if a failure shows nothing: checks that failed are not judged, for this reason. */
export function withoutFailures({ checks, notes }: Judged, reason: Reason): Judged {
  const left = checks.map((check) =>
    check.result.is === "failed" ? checkOf(check.name, { is: "not judged", ...reason }) : check,
  );
  return shown(left, [], notes);
}

/** How the varied runs ended. */
export interface Variations extends Pick<Judged, "checks"> {
  readonly passed: readonly ClientRun[];
  readonly failed: readonly ClientRun[];
}

/** Whether the command fails when an outcome has the wrong answer: already once, or only always. */
export type Answer =
  | { readonly kind: "noticed once" | "noticed" | "unnoticed" }
  | { readonly kind: "not judged"; readonly reason: Reason };
