import { isSuccess, type OutcomeId } from "../../rules/outcomes.js";
import { hidesOutcomes } from "../../runs/conditions.js";
import { type Check, nameOf } from "../checks/check.js";
import { type NotJudged, notJudged, type ResultOfCheck } from "../checks/judgment.js";
import {
  type CertifyPlan,
  isOnPurpose,
  type PlannedChecks,
  plannedChecks,
  variedSeeds,
} from "../checks/plan.js";
import {
  type ClientRun,
  type ClientRunner,
  endWords,
  isBroken,
  isNoticed,
  type PlannedRun,
  type RunRequest,
  resultOfPass,
  timeoutsFor,
} from "./client-run.js";
import { progressLines } from "./progress.js";

// There are two ways to ask for a run. What parts ask for once is made once for all of them: the same conditions have the same run. Another
// run, such as the repetition of a failure, is always a new one, which nobody has seen before.

/** Thrown in place of a run that is not made since a signal has stopped certify. The check that needs it is not judged (`unlessStopped`). */
class Stopped extends Error {}

export async function unlessStopped<Shown>(work: Promise<Shown>): Promise<Shown | NotJudged> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    return notJudged("certify was stopped", "Run certify again.");
  }
}

/** Judges each of these checks; one whose runs were stopped is not judged. */
export function judgeEach<Some extends Check>(
  checks: readonly Some[],
  judge: (check: Some) => Promise<ResultOfCheck>,
): Promise<{ readonly check: Some; readonly result: ResultOfCheck }[]> {
  return Promise.all(
    checks.map(async (check) => {
      return { check, result: await unlessStopped(judge(check)) };
    }),
  );
}

/** What to do about a command that passes and fails under the same conditions. */
const whatElse =
  "Find out what else the command depends on: time, order, what your tests leave behind, such as a file or a lock, or a run next to it: add -j 1.";

/** How often the command must fail for a check to hold. Where only one or two of a group are wanted, a command that fails by chance would hold them: three of three. */
export function timesToNotice(wanted: readonly unknown[]): number {
  return wanted.length < 3 ? 3 : 1;
}

/** At least so much time has the repetition of a run that did not end in time, in milliseconds. */
const leastOfRepetition = 10_000;

/** The runs of a certification. Each method that makes runs throws `Stopped` if one of them is not made. */
export class Runs {
  readonly plan: CertifyPlan;
  /** All runs so far, in the order in which they ended. */
  readonly ended: ClientRun[] = [];
  /** Whether a signal stopped certify, and a run was not made. No run is made after it. */
  isStopped = false;
  readonly #runner: ClientRunner;
  /** The runs that are made once, by the id of their conditions. */
  readonly #madeOnce = new Map<string, Promise<ClientRun>[]>();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(plan: CertifyPlan, runner: ClientRunner) {
    this.plan = plan;
    this.#runner = runner;
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

  /** What is tried of the client. */
  get checks(): PlannedChecks {
    return plannedChecks(this.plan, this.outcomesToJudge);
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

  /** Whether so many runs all fail because of what they put in place of a response. */
  async isNoticed(request: RunRequest, times: number): Promise<boolean> {
    if (!isNoticed(await this.makeOnce(request))) return false;
    const all = await this.makeUpTo(request, times);
    return all.every(isNoticed);
  }

  /** A run, and two more of it, each alone: it may have ended as it did because of a run next to it. */
  async threeOf(run: ClientRun): Promise<readonly ClientRun[]> {
    let planned = this.#planned({ ...run, isAlone: true });
    if (run.result === "timed_out") planned = { ...planned, timeouts: this.#timeoutsOfRepetition(run) };
    return Promise.all([run, this.#make(planned), this.#make(planned)]);
  }

  /** The one rule for what a run shows against the client: three of three runs must show it. `seen`: what they show, before "in 1 of 3 runs". What --allow names needs no other run. */
  async judgeAgainst(
    check: Check,
    run: ClientRun,
    isSeen: (run: ClientRun) => boolean,
    seen: string,
  ): Promise<ResultOfCheck> {
    if (isOnPurpose(this.plan, check)) return { kind: "allowed" };
    const three = await this.threeOf(run);
    const count = three.filter(isSeen).length;
    if (count === three.length) return { kind: "failed" };
    return notJudged(`${seen} in ${count} of 3 runs`, whatElse);
  }

  /** Judges a run that the command should have passed. */
  async judgeFailure(check: Check, run: ClientRun): Promise<ResultOfCheck> {
    const seen = `the command ${endWords(run)} with ${nameOf(check)}`;
    const result = await this.judgeAgainst(check, run, isBroken, seen);
    return result.kind === "failed" ? { kind: "failed", byFailure: true } : result;
  }

  /** Makes the run of a seed of varied responses, once for all parts. It has one variant of each row; a mixed one has others in each response. */
  makeVaried(seed: number | "mixed"): Promise<ClientRun> {
    const mixed = seed === "mixed" && ({ mixed: true } as const);
    const conditions = { profile: "varied", ...mixed } as const;
    const seedOfRun = seed === "mixed" ? this.plan.firstSeed : seed;
    return this.makeOnce({ purpose: { kind: "varied", seed }, conditions, seed: seedOfRun });
  }

  /** The varied runs that show that the client accepts what varied. */
  async heldVaried(): Promise<ClientRun[]> {
    const runs = await Promise.all(variedSeeds(this.plan).map((seed) => this.makeVaried(seed)));
    return runs.filter((run) => resultOfPass(this.plain, run, "varied").kind === "held");
  }

  /**
   * Why nothing counts that rests on a failure: of two runs under the same conditions, one failed and one passed. `undefined` if there are no
   * such runs. What hides an outcome from the client, such as a wrong answer, may leave open what it does.
   */
  findContradiction(): NotJudged | undefined {
    const firstFailed = new Map<string, ClientRun>();
    const firstPassed = new Map<string, ClientRun>();
    for (const run of this.ended) {
      if (hidesOutcomes(run.conditions)) continue;

      const id = conditionsId(run);
      const firstAlike = isBroken(run) ? firstFailed : firstPassed;
      if (!firstAlike.has(id)) firstAlike.set(id, run);

      const failed = firstFailed.get(id);
      const passed = firstPassed.get(id);
      if (failed === undefined || passed === undefined) continue;
      const name = nameOf(failed.purpose);
      const why = `the command ${endWords(failed)} in run ${failed.number}, and passed in run ${passed.number} under the same conditions (${name})`;
      return notJudged(why, whatElse);
    }
    return undefined;
  }

  #planned(request: RunRequest): PlannedRun {
    const { purpose, conditions = {}, seed = this.plan.seed, clientMayWaitMs = 0, isAlone = false } = request;
    const { profile = "minimal", ...others } = conditions;
    const [plain] = this.ended;
    const plainMs = plain?.result === "passed" ? plain.durationMs : undefined;
    const timeouts = timeoutsFor(this.plan.timeout, plainMs, clientMayWaitMs);
    return { purpose, seed, conditions: { profile, ...others }, clientMayWaitMs, timeouts, isAlone };
  }

  #timeoutsOfRepetition({ clientMayWaitMs }: ClientRun): PlannedRun["timeouts"] {
    const passed = this.ended.filter(({ result }) => result === "passed");
    const longest = Math.max(...passed.map(({ durationMs }) => durationMs));
    return timeoutsFor(this.plan.timeout, longest, clientMayWaitMs, leastOfRepetition);
  }

  async #make(planned: PlannedRun): Promise<ClientRun> {
    const running = this.#runner.run(planned);
    this.#underWay.add(running);
    const end = await running;
    if (end === "stopped") {
      this.isStopped = true;
      // Certify does not end before the commands do that the signal ends.
      await Promise.all(this.#underWay);
      throw new Stopped();
    }

    const isAgain = this.ended.some((run) => conditionsId(run) === conditionsId(planned));
    const run = { ...planned, ...end, number: this.ended.length + 1 };
    this.ended.push(run);
    for (const line of progressLines(run, isAgain)) this.#runner.say(line);
    return run;
  }
}

function conditionsId({ seed, conditions }: PlannedRun): string {
  return JSON.stringify([seed, conditions]);
}
