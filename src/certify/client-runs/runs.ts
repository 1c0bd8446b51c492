import type { Report } from "../../report/report-shape.js";
import { isSuccess, type OutcomeId } from "../../rules/outcomes.js";
import { isAnsweredWrongly, type RunConditions } from "../../runs/conditions.js";
import type { RunPurpose } from "../checks/check.js";
import {
  countingEvidence,
  findDependency,
  type NotJudged,
  notAllMade,
  notJudged,
  type Reason,
  type RunEvidence,
} from "../checks/judgment.js";
import { type CertifyPlan, seedCount, variedSeeds } from "../checks/plan.js";
import { type ClientRun, type ClientRunner, hasFailed, type NotMade, type PlannedRun } from "./client-run.js";
import { timeoutsFor } from "./timeouts.js";

// A question that was chosen for what some runs show, such as a cause that they suggest, must be decided by other runs. So there are two
// ways to ask for a run: the first one of its kind, which all parts of certify share, and another one, which nobody has seen before.

/** What a part asks for. */
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

/** A contradiction: two runs under the same conditions that ended differently. */
export interface ContradictingRuns {
  readonly failed: ClientRun;
  readonly passed: ClientRun;
}

/** What runs that had failed did when they were made again: all failed, or one passed; not judged if one was not made. */
type RepeatResult = { readonly kind: "failed_again" | "contradicted" } | NotJudged;

/** How often failures are repeated, in all. With five, one of 30 suites that fail in half of their runs gets to the search for causes. */
const minRepetitions = 5;

/** How many plain runs must pass next to a failure before it counts, if too few seeds show whether the command fails at random. */
const plainRunsNextToFailure = 3;

/** The runs of a certification. */
export class Runs {
  readonly plan: CertifyPlan;
  /** In the order in which they ended. */
  readonly all: ClientRun[] = [];
  /** The first two runs that contradict each other, if there are: no failure shows anything then. */
  contradiction: ContradictingRuns | undefined;
  /** Whether a run was not made, because certify was stopped: what it would show stays open. */
  isStopped = false;
  readonly #runner: ClientRunner;
  /** The first run under each conditions. */
  readonly #firstRuns = new Map<string, Promise<ClientRun | NotMade>>();
  /** The plain runs that all parts share. */
  readonly #plainRuns: Promise<ClientRun | NotMade>[] = [];
  /** Whether a failure counts, by its run. */
  readonly #evidence = new Map<ClientRun, Promise<RunEvidence>>();

  constructor(plan: CertifyPlan, runner: ClientRunner) {
    this.plan = plan;
    this.#runner = runner;
  }

  /** The first run, in which the sandbox only does what the specification promises: what the client does when nothing is wrong. */
  get plain(): ClientRun {
    return this.all[0] as ClientRun; // all but its own judgment come after it
  }

  /** The promised outcomes and the successes that the plain run covers. */
  get covered(): readonly OutcomeId[] {
    return coveredOutcomes(this.plain.report);
  }

  /** The first run under these conditions. It is made once, and kept for all who read it. */
  first(request: RunRequest): Promise<ClientRun | NotMade> {
    const planned = this.#planned(request);
    const id = conditionsId(planned);
    const kept = this.#firstRuns.get(id);
    if (kept !== undefined) return kept;

    const run = this.#make(planned);
    this.#firstRuns.set(id, run);
    return run;
  }

  /** Another run under these conditions: always a new one. */
  another(request: RunRequest): Promise<ClientRun | NotMade> {
    return this.#make(this.#planned(request));
  }

  /** Another run under the conditions of this one. `rows`: the only ones that vary. Default: those that varied there. */
  anotherLike(like: ClientRun, rows = like.conditions.rows, isAlone = false): Promise<ClientRun | NotMade> {
    const { purpose, seed, timeouts } = like;
    const conditions = { ...like.conditions, ...(rows && { rows }) };
    return this.#make({ purpose, seed, conditions, timeouts, isAlone });
  }

  /** So many plain runs, with the first one. They are kept for all who read them. */
  plainRuns(count: number): Promise<(ClientRun | NotMade)[]> {
    const plain = this.#plainRuns;
    while (plain.length < count) {
      plain.push(plain.length === 0 ? this.first(plainRun) : this.another(plainRun));
    }
    return Promise.all(plain.slice(0, count));
  }

  /** Makes the plain run again, after all others. A command that no longer passes at all contradicts its first run then. */
  async makeLastPlain(): Promise<void> {
    if (this.contradiction !== undefined || this.isStopped) return;
    await this.another({ ...plainRun, isAlone: true });
  }

  /** Makes each of these runs again that ended, and so many in all that a suite which fails at random passes one. */
  async repeat(failures: readonly ClientRun[]): Promise<RepeatResult> {
    const again = (run: ClientRun) => this.anotherLike(run, run.conditions.rows, run.isShared === true);
    // A command that does not end takes long, and does so by no chance.
    const ended = failures.filter(({ result }) => result === "failed");
    const repetitions = ended.map(again);
    for (let at = 0; ended.length > 0 && repetitions.length < minRepetitions; at++) {
      repetitions.push(again(ended[at % ended.length] as ClientRun)); // there is one
    }

    const made = countMade(await Promise.all(repetitions));
    if (made < repetitions.length) {
      return notJudged(notAllMade(failures.length + made, failures.length + repetitions.length));
    }
    return { kind: this.contradiction === undefined ? "failed_again" : "contradicted" };
  }

  /** How often a command must fail under the same conditions before that shows something. If all seeds are tried, these runs show whether it fails at random. */
  get failuresNeeded(): 1 | 2 {
    return variedSeeds(this.plan).length >= seedCount ? 1 : 2;
  }

  /** Whether this failure counts, or may be chance. */
  failureEvidence(run: ClientRun): Promise<RunEvidence> {
    const kept = this.#evidence.get(run);
    if (kept !== undefined) return kept;

    const evidence = this.#failAgain(run);
    this.#evidence.set(run, evidence);
    return evidence;
  }

  /** Whether failures that came as often as needed count: plain runs pass next to them. One that fails is a contradiction. */
  async repeatedFailureEvidence(): Promise<RunEvidence> {
    if (this.failuresNeeded === 1) return countingEvidence;
    const made = countMade(await this.plainRuns(plainRunsNextToFailure));
    if (made < plainRunsNextToFailure) return notJudged(notAllMade(made, plainRunsNextToFailure));
    return countingEvidence;
  }

  /** Makes a failed run again, and plain runs next to it. */
  async #failAgain(run: ClientRun): Promise<RunEvidence> {
    if (this.failuresNeeded === 1) return countingEvidence;
    const [plain, second] = await Promise.all([this.repeatedFailureEvidence(), this.anotherLike(run)]);
    if (second.kind === "not_made") return notJudged(notAllMade(1, 2));
    if (plain.kind === "not_judged") return plain;
    return hasFailed(second) ? countingEvidence : notJudged(failsOnlySometimes);
  }

  #planned({ purpose, conditions = {}, seed, wait = 0, isAlone = false }: RunRequest): PlannedRun {
    const { profile = "minimal", ...others } = conditions;
    const [plain] = this.all;
    const plainMs = plain?.result === "passed" ? plain.durationMs : undefined;
    return {
      purpose,
      seed: seed ?? this.plan.seed,
      conditions: { profile, ...others },
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
    this.#runner.onEnd(run);
    this.#lookForContradiction(run);
    return run;
  }

  /** Compares a run that has ended with those under the same conditions. */
  #lookForContradiction(run: ClientRun): void {
    // A rejection or a wrong answer may leave open what the client does.
    if (isAnsweredWrongly(run.conditions)) return;

    const alike = this.all.filter((other) => conditionsId(other) === conditionsId(run));
    const failed = alike.find(hasFailed);
    const passed = alike.find(({ result }) => result === "passed");
    if (failed !== undefined && passed !== undefined) this.contradiction ??= { failed, passed };
  }
}

function countMade(runs: readonly (ClientRun | NotMade)[]): number {
  return runs.filter(({ kind }) => kind === "ended").length;
}

/** What the plain run is asked for with. */
export const plainRun: RunRequest = { purpose: { kind: "plain" } };

/** Equal for runs under the same conditions: their purposes may differ. */
const conditionsId = ({ seed, conditions }: PlannedRun) => JSON.stringify([seed, conditions]);

const failsOnlySometimes: Reason = {
  why: "the command fails, but only in some runs",
  whatToDo: findDependency,
};

function coveredOutcomes({ outcomes }: Report): OutcomeId[] {
  const covered = outcomes.filter((row) => row.covered && (row.promised || isSuccess(row.outcome)));
  return covered.map(({ outcome }) => outcome);
}
