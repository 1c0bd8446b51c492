import type { OutcomeId } from "../rules/outcomes.js";
import type { RunConditions } from "../runs/conditions.js";
import type { Judgment, Problem } from "./certificate.js";
import { type CertifyPlan, timeoutsFor } from "./plan.js";
import type { ClientRun, NamedRun, Reason, Tools } from "./run.js";

/** What a part of the runs has shown. */
export type Judged = { readonly checks: readonly Judgment[]; readonly problems: readonly Problem[] };

/** The runs of one client. */
export class Runs {
  readonly #plan: CertifyPlan;
  readonly #tools: Tools;
  readonly all: NamedRun[] = [];
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
    const request = { name, seed, conditions: { profile, ...conditions }, timeouts, isAlone };
    const run = await this.#tools.runClient(request);
    if (run === undefined) return undefined;
    this.all.push({ name, result: run.result, report: run.report });
    for (const scenario of run.scenarios) this.scenarios.add(scenario);
    const expected = Math.max(this.#begun, this.#expected);
    this.#tools.ended(name, run, { number: this.all.length, expected });
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

export const check = (name: string, result: Judgment["result"], reason?: Reason): Judgment => ({
  name,
  result,
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

/** Whether the command fails when an outcome has the wrong answer: already once, or only always. */
export type Answer =
  | { readonly kind: "noticed once" | "noticed" | "unnoticed" }
  | { readonly kind: "not judged"; readonly reason: Reason };
