import { isSuccess, type OutcomeId } from "../../rules/outcomes.js";
import type { RunConditions } from "../../runs/conditions.js";
import type { RunPurpose } from "../checks/check.js";
import type { CertifyPlan } from "../checks/plan.js";
import type { ClientRun, ClientRunner, NotMade, PlannedRun } from "./client-run.js";
import { type Contradiction, conditionsId, findContradiction } from "./contradiction.js";
import { progressLines } from "./progress.js";
import { timeoutsFor } from "./timeouts.js";

// A question that was chosen for what some runs show, such as a cause that they suggest, must be decided by other runs. So there are two
// ways to ask for a run. What a part asks for once is made once for all parts: the same conditions have the same run. Another run is always
// a new one, which nobody has seen before.

/** What a part asks for. A run that has ended can be asked for again. */
export interface RunRequest {
  readonly purpose: RunPurpose;
  /** Default of the profile: `minimal`. */
  readonly conditions?: RunConditions;
  /** Default: the seed of the plan. */
  readonly seed?: number;
  /** How long the client may wait before its next request. Default: 0. */
  readonly clientMayWaitMs?: number;
  /** Whether no other run may be under way. Default: false. */
  readonly isAlone?: boolean;
}

/** What the plain run is asked for with. */
export const plainRun: RunRequest = { purpose: { kind: "plain" } };

/** The runs of a certification. */
export class Runs {
  readonly plan: CertifyPlan;
  /** The runs of a first pass, if all runs are made again. Only what is wrong in any run counts of them, such as a key in the output. */
  readonly before: readonly ClientRun[];
  /** In the order in which they ended. */
  readonly all: ClientRun[] = [];
  /** Whether a run was not made, because certify was stopped: what it would show stays open. */
  isStopped = false;
  readonly #runner: ClientRunner;
  /** The runs that are made once, by the id of their conditions. */
  readonly #madeOnce = new Map<string, Promise<ClientRun | NotMade>[]>();

  constructor(plan: CertifyPlan, runner: ClientRunner, before: readonly ClientRun[] = []) {
    this.plan = plan;
    this.before = before;
    this.#runner = runner;
  }

  /** The first run, in which the sandbox only does what the specification promises: what the client does when nothing is wrong. */
  get plain(): ClientRun {
    return this.all[0] as ClientRun; // certify makes it before it asks for anything else
  }

  /** What the plain run covers of the promised outcomes, and of the successes of any endpoint. */
  get outcomesToJudge(): OutcomeId[] {
    const outcomes: OutcomeId[] = [];
    for (const row of this.plain.report.outcomes) {
      if (row.covered && (row.promised || isSuccess(row.outcome))) outcomes.push(row.outcome);
    }
    return outcomes;
  }

  /** The first contradiction of the runs so far. */
  get contradiction(): Contradiction | undefined {
    return findContradiction(this.all);
  }

  /** Makes the run under these conditions, or returns the one that was asked for before. */
  makeOnce(request: RunRequest): Promise<ClientRun | NotMade> {
    const [run] = this.#runsMadeOnce(request, 1);
    return run as Promise<ClientRun | NotMade>; // there is one
  }

  /** Makes as many runs under these conditions as are missing, and returns so many: the run of `makeOnce` is the first. */
  makeUpTo(request: RunRequest, count: number): Promise<(ClientRun | NotMade)[]> {
    return Promise.all(this.#runsMadeOnce(request, count));
  }

  /** Makes another run under these conditions: always a new one. */
  makeAnother(request: RunRequest): Promise<ClientRun | NotMade> {
    return this.#make(this.#planned(request));
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
    const [plain] = this.all;
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

    const run = { ...planned, ...end, number: this.all.length + 1 };
    this.all.push(run);
    for (const line of progressLines(run, this.plan, this.plain)) this.#runner.say(line);
    return run;
  }
}
