import { isSuccess, type OutcomeId } from "../../rules/outcomes.js";
import { hidesOutcomes } from "../../runs/conditions.js";
import { type Check, nameOf } from "../checks/check.js";
import {
  failedResult,
  fixHiddenDependency,
  heldUnless,
  Inconclusive,
  notJudged,
  type Reason,
  type ResultOfCheck,
  runTooLate,
  shownOr,
} from "../checks/judgment.js";
import { type CertifyPlan, isWanted, variedSeeds } from "../checks/plan.js";
import {
  type ClientRun,
  type ClientRunner,
  isBroken,
  type PlannedRun,
  type RunRequest,
  timeoutsFor,
} from "./client-run.js";
import { findDoubtOfPass } from "./doubt-of-pass.js";
import { progressLines } from "./progress.js";

// A question that was chosen for what some runs show, such as a cause that they suggest, must be decided by other runs. So there are two
// ways to ask for a run. What a part asks for once is made once for all parts: the same conditions have the same run. Another run, such as
// the repetition of a failure, is always a new one, which nobody has seen before.

/** A run with varied responses, and what it shows by itself. A failure needs a cause. */
interface VariedRun {
  readonly check: Check;
  /** `undefined` if it was not made. */
  readonly run: ClientRun | undefined;
  readonly result: ResultOfCheck;
}

/** The runs of a certification. Each method that makes runs throws `Inconclusive` if one of them is not made. */
export class Runs {
  readonly plan: CertifyPlan;
  /** The runs so far, in the order in which they ended. */
  readonly ended: ClientRun[] = [];
  readonly #endedInFirstPass: readonly ClientRun[];
  /** Whether a signal stopped certify, and a run was not made. No run is made after it. */
  isStopped = false;
  /** How many runs that did not end in time were repeated so far. */
  repetitionsOfHung = 0;
  readonly #runner: ClientRunner;
  /** The runs that are made once, by the id of their conditions. */
  readonly #madeOnce = new Map<string, Promise<ClientRun>[]>();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(plan: CertifyPlan, runner: ClientRunner, endedInFirstPass: readonly ClientRun[] = []) {
    this.plan = plan;
    this.#endedInFirstPass = endedInFirstPass;
    this.#runner = runner;
  }

  /** All runs, also those of a first pass: what is wrong in any run counts, such as a key in the output. */
  get endedInBothPasses(): readonly ClientRun[] {
    return [...this.#endedInFirstPass, ...this.ended];
  }

  /** The first run: what the client does when nothing is wrong. */
  get plain(): ClientRun {
    return this.ended[0] as ClientRun; // certify makes it before anything else is asked for
  }

  /** What the plain run covers of the promised outcomes, and of the successes of any endpoint. */
  get outcomesToJudge(): OutcomeId[] {
    const outcomes: OutcomeId[] = [];
    for (const row of this.plain.report.outcomes) {
      if (row.covered && (row.promised || isSuccess(row.outcome))) outcomes.push(row.outcome);
    }
    return outcomes;
  }

  async makeOnce(request: RunRequest): Promise<ClientRun> {
    const [run] = await this.makeUpTo(request, 1);
    return run as ClientRun; // one was asked for
  }

  /** Makes as many runs under these conditions as are missing, and returns so many: the run of `makeOnce` is the first. */
  makeUpTo(request: RunRequest, count: number): Promise<ClientRun[]> {
    const planned = this.#planned(request);
    const id = conditionsId(planned);
    const made = this.#madeOnce.get(id) ?? [];
    this.#madeOnce.set(id, made);
    while (made.length < count) made.push(this.#make(planned));
    return Promise.all(made.slice(0, count));
  }

  makeAnother(request: RunRequest): Promise<ClientRun> {
    return this.#make(this.#planned(request));
  }

  /** Whether another run was made under the same conditions. */
  isRepeated(run: ClientRun): boolean {
    const id = conditionsId(run);
    return this.ended.filter((other) => conditionsId(other) === id).length > 1;
  }

  /** Makes the run of each seed of varied responses, once for all parts. Each run has one variant of each row. */
  makeVaried(): Promise<VariedRun[]> {
    return Promise.all(variedSeeds(this.plan).map((seed) => this.#makeSeed(seed)));
  }

  makeMixed(): Promise<VariedRun> {
    return this.#makeSeed("mixed");
  }

  /** The varied runs that show that the client accepts what varied. */
  async heldVaried(): Promise<ClientRun[]> {
    const held: ClientRun[] = [];
    for (const { run, result } of await this.makeVaried()) {
      if (run !== undefined && result.kind === "held") held.push(run);
    }
    return held;
  }

  #makeSeed(seedOrMixed: number | "mixed"): Promise<VariedRun> {
    const check = { kind: "varied", seed: seedOrMixed } as const;
    const seed = seedOrMixed === "mixed" ? this.plan.firstSeed : seedOrMixed;
    const mixed = seedOrMixed === "mixed" && ({ mixed: true } as const);
    const conditions = { profile: "varied", ...mixed } as const;
    const made = this.makeOnce({ purpose: check, conditions, seed }).then((run): VariedRun => {
      if (isBroken(run)) return { check, run, result: failedResult };
      return { check, run, result: heldUnless(findDoubtOfPass(this.plain, run, "varied")) };
    });
    return shownOr(made, (reason) => ({ check, run: undefined, result: notJudged(reason) }));
  }

  /** Makes the run, once, in which the first request with this outcome, or each one, gets the wrong answer: a 401 in place of a success, and a 200 in place of a rejection. */
  makeWrongAnswer(kind: "first" | "each", outcome: OutcomeId): Promise<ClientRun> {
    const onRequest = { which: { kind, outcome }, gets: { kind: "wrong_answer" } } as const;
    return this.makeOnce({ purpose: { kind: "answer", outcome }, conditions: { onRequest } });
  }

  /** Whether judging the answers makes the run of the first wrong answer anyway: another part may then ask for it without adding a run. */
  isFirstWrongAnswerMade(outcome: OutcomeId): boolean {
    if (!this.outcomesToJudge.includes(outcome) || this.plan.allow.includes(outcome)) return false;
    return isWanted(this.plan, { kind: "answer", outcome });
  }

  /**
   * The first contradiction of the runs so far, in the order in which they ended: two runs under the same conditions that ended differently.
   * No failure of any run shows anything then. `undefined` if there is none.
   */
  findContradiction(): { readonly failed: ClientRun; readonly passed: ClientRun } | undefined {
    const firstFailed = new Map<string, ClientRun>();
    const firstPassed = new Map<string, ClientRun>();
    for (const run of this.ended) {
      // A rejection or a wrong answer may leave open what the client does.
      if (hidesOutcomes(run.conditions)) continue;

      const id = conditionsId(run);
      const firstAlike = isBroken(run) ? firstFailed : firstPassed;
      if (!firstAlike.has(id)) firstAlike.set(id, run);

      const failed = firstFailed.get(id);
      const passed = firstPassed.get(id);
      if (failed !== undefined && passed !== undefined) return { failed, passed };
    }
    return undefined;
  }

  /** Why no failure shows anything any more; `undefined` if no two runs contradict each other. */
  whyNoFailureCounts(): Reason | undefined {
    const contradiction = this.findContradiction();
    return contradiction && whyUnstable(contradiction.failed, contradiction.passed);
  }

  throwIfNoFailureCounts(): void {
    const reason = this.whyNoFailureCounts();
    if (reason !== undefined) throw new Inconclusive(reason);
  }

  #planned(request: RunRequest): PlannedRun {
    const {
      purpose,
      conditions = {},
      seed,
      clientMayWaitMs = 0,
      isAlone = false,
      isAfterHang = false,
    } = request;
    const { profile = "minimal", ...others } = conditions;
    const [plain] = this.ended;
    const plainMs = plain?.result === "passed" ? plain.durationMs : undefined;
    const longestPassedMs = isAfterHang ? this.#longestPassedMs() : undefined;
    const timeouts = timeoutsFor(this.plan.timeout, plainMs, clientMayWaitMs, longestPassedMs);
    return {
      purpose,
      seed: seed ?? this.plan.seed,
      conditions: { profile, ...others },
      clientMayWaitMs,
      timeouts,
      isAlone,
      isAfterHang,
    };
  }

  /** How long the longest run took that passed without anything in place of a response: plain, or with responses that vary. */
  #longestPassedMs(): number {
    let longest = 0;
    for (const { result, conditions, durationMs } of this.ended) {
      const isUndisturbed = result === "passed" && conditions.onRequest === undefined;
      if (isUndisturbed) longest = Math.max(longest, durationMs);
    }
    return longest;
  }

  async #make(planned: PlannedRun): Promise<ClientRun> {
    const running = this.#runner.run(planned);
    this.#underWay.add(running);
    const end = await running;
    if (end === "stopped") {
      this.isStopped = true;
      // Certify does not end before the commands do that the signal ends.
      await Promise.all(this.#underWay);
      throw new Inconclusive({ why: "certify was stopped", whatToDo: "Run certify again." });
    }

    const number = this.endedInBothPasses.length + 1;
    const run = { ...planned, ...end, number };
    this.ended.push(run);
    const lines = progressLines(run, this.plan, this.plain, this.isRepeated(run));
    for (const line of lines) this.#runner.say(line);
    return run;
  }
}

function conditionsId({ seed, conditions }: PlannedRun): string {
  return JSON.stringify([seed, conditions]);
}

function whyUnstable(failed: ClientRun, passed: ClientRun): Reason {
  if (failed.purpose.kind !== "plain" || failed.number < passed.number) {
    const name = nameOf(failed.purpose);
    return {
      why: `the command passes and fails under the same conditions (${name}, runs ${failed.number} and ${passed.number})`,
      whatToDo: fixHiddenDependency,
    };
  }
  if (failed.result === "timed_out") {
    return {
      why: `the command no longer passes: the plain run passed in run ${passed.number}, and did not end in time in run ${failed.number}`,
      whatToDo: `${runTooLate.whatToDo} If it never ends, find out what your tests leave behind, such as a lock or a connection.`,
    };
  }
  return {
    why: `the command no longer passes: the plain run passed in run ${passed.number}, and failed in run ${failed.number}`,
    whatToDo:
      "Find out what your tests leave behind, such as a row, a file or a name that must be new, or what they use up. If it fails at random, find out what else it depends on: time, order, other tests.",
  };
}
