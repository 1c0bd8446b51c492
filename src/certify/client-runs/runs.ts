import { isSuccess, type OutcomeId } from "../../rules/outcomes.js";
import type { RunConditions } from "../../runs/conditions.js";
import type { RunPurpose } from "../checks/check.js";
import type { CertifyPlan } from "../checks/plan.js";
import type { ClientRun, ClientRunner, NotMade, PlannedRun } from "./client-run.js";
import { type Contradiction, conditionsId, findContradiction } from "./contradiction.js";
import { progressLines } from "./progress.js";
import { timeoutsFor } from "./timeouts.js";

// A question that was chosen for what some runs show, such as a cause that they suggest, must be decided by other runs. So there are two
// ways to ask for a run. What a part asks for once is made once for all parts: the same conditions have the same run. Another run, such as
// the repetition of a failure, is always a new one, which nobody has seen before.

/** What a part asks for. A run that has ended can be asked for again. */
export interface RunRequest {
  readonly purpose: RunPurpose;
  /** Default of the profile: `minimal`. */
  readonly conditions?: RunConditions;
  /** Default: the seed of the plan. */
  readonly seed?: number;
  /** How long the client may wait before its next request. Default: 0. A run that is made already stays as it is. */
  readonly clientMayWaitMs?: number;
  /** Whether no other run may be under way. Default: false. A run that is made already stays as it is. */
  readonly isAlone?: boolean;
}

/** Asks for a run in which the sandbox does only what the specification promises. */
export const plainRunRequest: RunRequest = { purpose: { kind: "plain" } };

/** The repetition of a failure shows nothing: it was not made, because certify was stopped; or two runs contradict each other, of which it may be one. */
export interface NothingShown {
  readonly kind: "nothing_shown";
  readonly because: "stopped" | "contradicted";
}

const contradicted: NothingShown = { kind: "nothing_shown", because: "contradicted" };

/** Asks for a run as this one was asked for, next to others. */
function sameRequestAs({ purpose, conditions, seed, clientMayWaitMs }: ClientRun): RunRequest {
  return { purpose, conditions, seed, clientMayWaitMs };
}

/** The runs of a certification. */
export class Runs {
  readonly plan: CertifyPlan;
  /** The runs so far, in the order in which they ended. */
  readonly ended: ClientRun[] = [];
  /** The runs of a first pass, if this is the second one. */
  readonly #endedInFirstPass: readonly ClientRun[];
  /** Whether a signal stopped certify, and a run was not made. */
  isStopped = false;
  readonly #runner: ClientRunner;
  /** The runs that are made once, by the id of their conditions. */
  readonly #madeOnce = new Map<string, Promise<ClientRun | NotMade>[]>();

  constructor(plan: CertifyPlan, runner: ClientRunner, endedInFirstPass: readonly ClientRun[] = []) {
    this.plan = plan;
    this.#endedInFirstPass = endedInFirstPass;
    this.#runner = runner;
  }

  /** All runs, also those of a first pass: what is wrong in any run counts, such as a key in the output. */
  get endedInBothPasses(): readonly ClientRun[] {
    return [...this.#endedInFirstPass, ...this.ended];
  }

  /** The first run, in which the sandbox only does what the specification promises: what the client does when nothing is wrong. */
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

  /** The first contradiction of the runs so far; `undefined` if there is none. */
  findContradiction(): Contradiction | undefined {
    return findContradiction(this.ended);
  }

  /** Makes the run under these conditions, or returns the one that was asked for before. */
  makeOnce(request: RunRequest): Promise<ClientRun | NotMade> {
    const [run] = this.#runsMadeOnce(request, 1);
    return run as Promise<ClientRun | NotMade>; // there is one
  }

  /** Makes the second run under the conditions of one that `makeOnce` has made, or returns it. */
  makeSecond(run: ClientRun): Promise<ClientRun | NotMade> {
    const [, second] = this.#runsMadeOnce(sameRequestAs(run), 2);
    return second as Promise<ClientRun | NotMade>; // two were asked for
  }

  /** Makes as many runs under these conditions as are missing, and returns so many: the run of `makeOnce` is the first. */
  makeUpTo(request: RunRequest, count: number): Promise<(ClientRun | NotMade)[]> {
    return Promise.all(this.#runsMadeOnce(request, count));
  }

  /** Makes another run under these conditions: always a new one. */
  makeAnother(request: RunRequest): Promise<ClientRun | NotMade> {
    return this.#make(this.#planned(request));
  }

  /** Makes a run that failed again, with these changes. A repetition without other conditions that passes contradicts the failure. */
  async repeatFailure(
    run: ClientRun,
    changes: Pick<RunRequest, "conditions" | "isAlone">,
  ): Promise<ClientRun | NothingShown> {
    // After a contradiction, no failure shows anything.
    if (this.findContradiction() !== undefined) return contradicted;
    const repetition = await this.makeAnother({ ...sameRequestAs(run), ...changes });
    if (repetition.kind === "not_made") return { kind: "nothing_shown", because: "stopped" };
    // The repetition may have passed, or another run may have ended meanwhile.
    return this.findContradiction() === undefined ? repetition : contradicted;
  }

  #runsMadeOnce(request: RunRequest, count: number): Promise<ClientRun | NotMade>[] {
    const planned = this.#planned(request);
    const id = conditionsId(planned);
    const runs = this.#madeOnce.get(id) ?? [];
    this.#madeOnce.set(id, runs);
    while (runs.length < count) runs.push(this.#make(planned));
    return runs.slice(0, count);
  }

  #planned({ purpose, conditions = {}, seed, clientMayWaitMs = 0, isAlone = false }: RunRequest): PlannedRun {
    const { profile = "minimal", ...others } = conditions;
    const [plain] = this.ended;
    const plainMs = plain?.result === "passed" ? plain.durationMs : undefined;
    return {
      purpose,
      seed: seed ?? this.plan.seed,
      conditions: { profile, ...others },
      clientMayWaitMs,
      timeouts: timeoutsFor(this.plan.timeout, plainMs, clientMayWaitMs),
      isAlone,
    };
  }

  async #make(planned: PlannedRun): Promise<ClientRun | NotMade> {
    const end = await this.#runner.run(planned);
    if (end.kind === "not_made") {
      this.isStopped = true;
      return end;
    }

    const run = { ...planned, ...end, number: this.ended.length + 1 };
    this.ended.push(run);
    for (const line of progressLines(run, this.plan, this.plain)) this.#runner.say(line);
    return run;
  }
}
