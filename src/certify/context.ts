import type { OutcomeId } from "../rules/outcomes.js";
import type { RunConditions } from "../runs/conditions.js";
import type { Check, Finding, Note, ResultOfCheck } from "./certificate.js";
import { type CertifyPlan, timeoutsFor } from "./plan.js";
import type { ClientRun, Reason, RunRequest, Tools } from "./run.js";

/** What a part of the runs has shown. */
export interface Judgment {
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
  /** Two runs under the same conditions, of which the second passed: no failure shows anything then. */
  contradiction: readonly [ClientRun, ClientRun] | undefined;
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
  make(
    name: string,
    { profile = "minimal", ...conditions }: RunConditions,
    options: { readonly seed?: number; readonly wait?: number } = {},
  ): Promise<ClientRun | undefined> {
    const { seed = this.#plan.seed, wait = 0 } = options;
    const timeouts = timeoutsFor(this.#plan.timeout, this.#plainMs, wait);
    return this.#run({ name, seed, conditions: { profile, ...conditions }, timeouts });
  }

  /** Makes a run again. `rows`: the only ones that vary. */
  again(
    { name, seed, conditions, timeouts }: ClientRun,
    { isAlone, rows }: { readonly isAlone?: boolean; readonly rows?: RunConditions["rows"] } = {},
  ): Promise<ClientRun | undefined> {
    const changed = { ...conditions, ...(rows && { rows }) };
    return this.#run({ name, seed, conditions: changed, timeouts, isAlone: isAlone === true });
  }

  /** Makes runs that failed again: each once, and so many in all that a suite which fails at random passes one. */
  async failAgain(failed: readonly ClientRun[]): Promise<void> {
    // A command that does not end takes long, and does so by no chance.
    const more = failed.filter(({ result }) => result === "failed");
    const left = more.length === 0 ? 0 : Math.max(0, minRepeats - failed.length);
    const extra = Array.from({ length: left }, (_, at) => more[at % more.length] as ClientRun);
    this.expectMore(failed.length + left);
    const repeat = async (run: ClientRun) => {
      const again = await this.again(run, { isAlone: run.isShared === true });
      if (again?.result === "passed") this.contradict(run, again);
    };
    await Promise.all([...failed, ...extra].map(repeat));
  }

  contradict(failed: ClientRun, passed: ClientRun): void {
    this.contradiction ??= [failed, passed];
  }

  async #run(request: RunRequest): Promise<ClientRun | undefined> {
    this.#begun += 1;
    const end = await this.#tools.runClient(request);
    if (end === undefined) return undefined;
    const run = { ...request, ...end, number: this.all.length + 1 };
    this.all.push(run);
    for (const scenario of run.scenarios) this.scenarios.add(scenario);
    this.#tools.ended(run, Math.max(this.#begun, this.#expected));
    return run;
  }
}

/** With five, one of 30 suites that fail in half of their runs gets to the search for causes. */
const minRepeats = 5;

/** What every part of a certification reads. */
export interface Context {
  readonly plan: CertifyPlan;
  readonly runs: Runs;
  readonly plain: ClientRun;
  readonly covered: readonly OutcomeId[];
  readonly varied: Promise<Variations>;
  readonly answerOn: (outcome: OutcomeId) => Promise<Answer>;
  /** Whether the command passes when one request with this outcome gets a 404, which no client keeps as an accepted response. */
  readonly survives404: (outcome: OutcomeId) => Promise<boolean>;
  /** Why a failure that comes only once may not show, such as a runner that repeats tests; `undefined` if it shows. */
  readonly whyHidden: () => Promise<Reason | undefined>;
}

export function checkOf(name: string, result: ResultOfCheck): Check {
  const [group = ""] = name.split(".");
  return { group: group as Check["group"], name, result };
}

export type NotJudged = ResultOfCheck & { readonly is: "not judged" };

export const notJudged = (reason: Reason): NotJudged => ({ is: "not judged", ...reason });

export const heldCheck = (name: string): Judgment => judgment([checkOf(name, { is: "held" })]);
export const notJudgedCheck = (name: string, reason: Reason): Judgment =>
  judgment([checkOf(name, notJudged(reason))]);
export const failedCheck = (name: string, ...problems: readonly Finding[]): Judgment =>
  judgment([checkOf(name, { is: "failed" })], problems);
export const noteJudgment = (what: string, reason: Reason): Judgment =>
  judgment([], [], [{ what, ...reason }]);

export function judgment(
  checks: Judgment["checks"],
  problems: Judgment["problems"] = [],
  notes: Judgment["notes"] = [],
): Judgment {
  return { checks, problems, notes };
}

export function joinJudgments(parts: readonly Judgment[]): Judgment {
  return {
    checks: parts.flatMap(({ checks }) => checks),
    problems: parts.flatMap(({ problems }) => problems),
    notes: parts.flatMap(({ notes }) => notes),
  };
}

/** What is left if a failure shows nothing: checks that failed are not judged, for this reason. */
export function withoutFailures({ checks, notes }: Judgment, reason: Reason): Judgment {
  const left = checks.map((check) =>
    check.result.is === "failed" ? checkOf(check.name, notJudged(reason)) : check,
  );
  return judgment(left, [], notes);
}

/** How the varied runs ended. */
export interface Variations extends Pick<Judgment, "checks"> {
  readonly passed: readonly ClientRun[];
  readonly failed: readonly ClientRun[];
}

/** Whether the command fails when an outcome has the wrong answer: already once, or only always. */
export type Answer =
  | { readonly kind: "noticed once" | "noticed" | "unnoticed" }
  | { readonly kind: "not judged"; readonly reason: Reason };
