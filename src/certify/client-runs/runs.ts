import { isSuccess, type OutcomeId } from "../../rules/outcomes.js";
import type { RunConditions } from "../../runs/conditions.js";
import type { RunPurpose } from "../checks/check.js";
import type { CertifyPlan } from "../checks/plan.js";
import type { ClientRun, ClientRunner, NotMade, PlannedRun } from "./client-run.js";
import { type Contradiction, conditionsId, findContradiction } from "./contradiction.js";
import { progressLines } from "./progress.js";
import { timeoutsFor } from "./timeouts.js";

// A question that was chosen for what some runs show, such as a cause that they suggest, must be decided by other runs. So there are two
// ways to ask for a run. The first runs under some conditions are made once, and kept for all parts of certify. Another run is always a
// new one, which nobody has seen before.

/** What a part asks for. A run that has ended can be asked for again. */
export interface RunRequest {
  readonly purpose: RunPurpose;
  /** Default of the profile: `minimal`. */
  readonly conditions?: RunConditions;
  /** Default: the seed of the plan. */
  readonly seed?: number;
  /** How long the client may wait before its next request, in milliseconds. Default: 0. */
  readonly wait?: number;
  /** Whether no other run may be under way. Default: false. */
  readonly isAlone?: boolean;
}

/** What the plain run is asked for with. */
export const plainRun: RunRequest = { purpose: { kind: "plain" } };

/** The runs of a certification. */
export class Runs {
  readonly plan: CertifyPlan;
  /** In the order in which they ended. */
  readonly all: ClientRun[] = [];
  /** Whether a run was not made, because certify was stopped: what it would show stays open. */
  isStopped = false;
  readonly #runner: ClientRunner;
  /** The first runs under each conditions. */
  readonly #kept = new Map<string, Promise<ClientRun | NotMade>[]>();

  constructor(plan: CertifyPlan, runner: ClientRunner) {
    this.plan = plan;
    this.#runner = runner;
  }

  /** The first run, in which the sandbox only does what the specification promises: what the client does when nothing is wrong. */
  get plain(): ClientRun {
    return this.all[0] as ClientRun; // all but its own judgment come after it
  }

  /** The promised outcomes and the successes that the plain run covers. */
  get covered(): OutcomeId[] {
    const covered: OutcomeId[] = [];
    for (const row of this.plain.report.outcomes) {
      if (row.covered && (row.promised || isSuccess(row.outcome))) covered.push(row.outcome);
    }
    return covered;
  }

  /** The first contradiction of the runs so far. */
  get contradiction(): Contradiction | undefined {
    return findContradiction(this.all);
  }

  /** The first run under these conditions, which is kept. */
  first(request: RunRequest): Promise<ClientRun | NotMade> {
    const [run] = this.#keptRuns(request, 1);
    return run as Promise<ClientRun | NotMade>; // there is one
  }

  /** So many first runs under these conditions, which are kept. */
  firstRuns(request: RunRequest, count: number): Promise<(ClientRun | NotMade)[]> {
    return Promise.all(this.#keptRuns(request, count));
  }

  /** Another run under these conditions: always a new one. */
  another(request: RunRequest): Promise<ClientRun | NotMade> {
    return this.#make(this.#planned(request));
  }

  #keptRuns(request: RunRequest, count: number): Promise<ClientRun | NotMade>[] {
    const planned = this.#planned(request);
    const id = conditionsId(planned);
    const runs = this.#kept.get(id) ?? [];
    this.#kept.set(id, runs);
    while (runs.length < count) runs.push(this.#make(planned));
    return runs.slice(0, count);
  }

  #planned({ purpose, conditions = {}, seed, wait = 0, isAlone = false }: RunRequest): PlannedRun {
    const { profile = "minimal", ...others } = conditions;
    const [plain] = this.all;
    const plainMs = plain?.result === "passed" ? plain.durationMs : undefined;
    return {
      purpose,
      seed: seed ?? this.plan.seed,
      conditions: { profile, ...others },
      wait,
      timeouts: timeoutsFor(this.plan.timeout, plainMs, wait),
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
    for (const line of progressLines(run, this.plan)) this.#runner.say(line);
    return run;
  }
}
