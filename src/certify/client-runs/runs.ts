import { isSuccess, type OutcomeId } from "../../rules/outcomes.js";
import type { RunConditions } from "../../runs/conditions.js";
import type { RunPurpose } from "../checks/check.js";
import { certifyStopped, type Reason } from "../checks/judgment.js";
import type { CertifyPlan } from "../checks/plan.js";
import {
  type ClientRun,
  type ClientRunner,
  type EndedRun,
  noRequestFacts,
  type PlannedRun,
} from "./client-run.js";
import { type Contradiction, conditionsId, findContradiction, whyUnstable } from "./contradiction.js";
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

/** What is to be seen of a run that was not made. */
const notMadeRun = {
  result: "not_made",
  code: null,
  output: [],
  ...noRequestFacts,
} as const;

/** The runs of a certification. */
export class Runs {
  readonly plan: CertifyPlan;
  /** The runs so far, in the order in which they ended. */
  readonly ended: EndedRun[] = [];
  /** The runs of a first pass, if this is the second one. */
  readonly #endedInFirstPass: readonly EndedRun[];
  /** Whether a signal stopped certify, and a run was not made. No run is made after it. */
  isStopped = false;
  readonly #runner: ClientRunner;
  /** The runs that are made once, by the id of their conditions. */
  readonly #madeOnce = new Map<string, Promise<ClientRun>[]>();

  constructor(plan: CertifyPlan, runner: ClientRunner, endedInFirstPass: readonly EndedRun[] = []) {
    this.plan = plan;
    this.#endedInFirstPass = endedInFirstPass;
    this.#runner = runner;
  }

  /** All runs, also those of a first pass: what is wrong in any run counts, such as a key in the output. */
  get endedInBothPasses(): readonly EndedRun[] {
    return [...this.#endedInFirstPass, ...this.ended];
  }

  /** The first run, in which the sandbox only does what the specification promises: what the client does when nothing is wrong. */
  get plain(): EndedRun {
    return this.ended[0] as EndedRun; // certify makes it before anything else is asked for
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

  /** Why no failure shows anything any more: two runs contradict each other, or certify was stopped. Once there is a reason, there always is one. */
  findDoubtOfFailures(): Reason | undefined {
    const contradiction = this.findContradiction();
    if (contradiction !== undefined) return whyUnstable(contradiction);
    return this.isStopped ? certifyStopped : undefined;
  }

  /** Makes the run under these conditions, or returns the one that was asked for before. */
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

  /** Makes another run under these conditions: always a new one. */
  makeAnother(request: RunRequest): Promise<ClientRun> {
    return this.#make(this.#planned(request));
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

  async #make(planned: PlannedRun): Promise<ClientRun> {
    const end = await this.#runner.run(planned);
    if (end.kind === "not_made") {
      this.isStopped = true;
      return { ...planned, ...notMadeRun };
    }

    const number = this.endedInBothPasses.length + 1;
    const run = { ...planned, ...end, number };
    this.ended.push(run);
    for (const line of progressLines(run, this.plan, this.plain)) this.#runner.say(line);
    return run;
  }
}
