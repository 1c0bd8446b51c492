import type { Report } from "../report/report-shape.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { isAnsweredWrongly, type RunConditions } from "../runs/conditions.js";
import { type ClientRun, type ClientRunner, hasFailed, type PlannedRun } from "./client-run.js";
import { findDependency, type Reason, runNotMade } from "./judgment.js";
import { type CertifyPlan, seedCount, timeoutsFor, variedSeeds } from "./plan.js";

/** Which one is meant of the runs under the same conditions. Parts that ask for the same one read the same run. */
export interface WhichRun {
  /** Its number in its series, from 1. Default: 1. */
  readonly nth?: number;
  /**
   * A series has runs of its own. A question that was chosen for what some runs show, such as a cause that they suggest,
   * must be decided by others. Default: the runs that all parts share.
   */
  readonly series?:
    | "first search"
    | "second search"
    | "after search"
    | "in turn"
    | "in turn again"
    | "end"
    | undefined;
}

interface RunSettings extends WhichRun {
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

/** What runs that had failed did when they were made again: all failed, one passed, or one was not made. */
type RepeatResult = "failed_again" | "contradicted" | "not_made";

/** How often failures are repeated, in all. With five, one of 30 suites that fail in half of their runs gets to the search for causes. */
const minRepetitions = 5;

/** The runs of a certification. Its parts ask for those that they read; each run is made once for all parts that ask for it. */
export class Runs {
  readonly plan: CertifyPlan;
  /** In the order in which they ended. */
  readonly all: ClientRun[] = [];
  /** The first two runs that contradict each other, if there are: no failure shows anything then. */
  contradiction: ContradictingRuns | undefined;
  /** Whether a run was stopped, or not made for that reason: what it would show stays open. */
  isStopped = false;
  readonly #runner: ClientRunner;
  readonly #runsById = new Map<string, Promise<ClientRun | undefined>>();

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

  /** Makes the run of this name; `undefined` if it was stopped. Default of the profile: `minimal`. */
  make(
    name: string,
    { profile = "minimal", ...others }: RunConditions,
    settings: RunSettings = {},
  ): Promise<ClientRun | undefined> {
    const { seed = this.plan.seed, wait = 0, isAlone = false } = settings;
    const [plain] = this.all;
    const plainMs = plain?.result === "passed" ? plain.durationMs : undefined;
    const timeouts = timeoutsFor(this.plan.timeout, plainMs, wait);
    const conditions = { profile, ...others };
    return this.#makeOnce({ name, seed, conditions, timeouts, isAlone }, settings);
  }

  /** Makes a run under the conditions of another one. `rows`: the only ones that vary. Default: those that varied there. */
  makeLike(
    like: ClientRun,
    settings: WhichRun & Pick<RunConditions, "rows"> & { readonly isAlone?: boolean },
  ): Promise<ClientRun | undefined> {
    const { name, seed, timeouts } = like;
    const { rows = like.conditions.rows, isAlone = false } = settings;
    const conditions = { ...like.conditions, ...(rows && { rows }) };
    return this.#makeOnce({ name, seed, conditions, timeouts, isAlone }, settings);
  }

  /** Makes the first plain runs that all parts share, so many. */
  plainRuns(count: number): Promise<(ClientRun | undefined)[]> {
    const plain: Promise<ClientRun | undefined>[] = [];
    for (let nth = 1; nth <= count; nth++) plain.push(this.make("plain", {}, { nth }));
    return Promise.all(plain);
  }

  /** Makes the plain run again, after all others. A command that no longer passes at all contradicts its first run then. */
  async makeLastPlain(): Promise<void> {
    if (this.contradiction !== undefined || this.isStopped) return;
    await this.make("plain", {}, { series: "end", isAlone: true });
  }

  /** Makes each of these runs again, and so many in all that a suite which fails at random passes one. */
  async repeat(failures: readonly ClientRun[]): Promise<RepeatResult> {
    const again = (run: ClientRun, nth: number) =>
      this.makeLike(run, { nth, isAlone: run.isShared === true });
    const repetitions = failures.map((run) => again(run, 2));

    // A command that does not end takes long, and does so by no chance: once is enough.
    const ended = failures.filter(({ result }) => result === "failed");
    for (let nth = 3; ended.length > 0 && repetitions.length < minRepetitions; nth++) {
      const missing = minRepetitions - repetitions.length;
      for (const run of ended.slice(0, missing)) repetitions.push(again(run, nth));
    }

    const runs = await Promise.all(repetitions);
    if (runs.includes(undefined)) return "not_made";
    return this.contradiction === undefined ? "failed_again" : "contradicted";
  }

  /** How often a command must fail under the same conditions before that shows something. If all seeds are tried, these runs show whether it fails at random. */
  get failuresNeeded(): 1 | 2 {
    return variedSeeds(this.plan).length >= seedCount ? 1 : 2;
  }

  /** Why this failure may be chance; `undefined` if it counts. Makes the run again, and plain runs: one that fails is a contradiction. */
  async whyFailureMayBeChance(run: ClientRun): Promise<Reason | undefined> {
    if (this.failuresNeeded === 1) return undefined;
    const [plain, second] = await Promise.all([this.plainRuns(3), this.makeLike(run, { nth: 2 })]);
    if (second === undefined || plain.includes(undefined)) return runNotMade;
    return hasFailed(second) ? undefined : failsOnlySometimes;
  }

  #makeOnce(request: PlannedRun, { nth = 1, series }: WhichRun): Promise<ClientRun | undefined> {
    const id = JSON.stringify([conditionsId(request), nth, series]);
    const requested = this.#runsById.get(id);
    if (requested !== undefined) return requested;
    const run = this.#makeNow(request);
    this.#runsById.set(id, run);
    return run;
  }

  async #makeNow(request: PlannedRun): Promise<ClientRun | undefined> {
    const end = await this.#runner.run(request);
    if (end === undefined) {
      this.isStopped = true;
      return undefined;
    }
    const run = { ...request, ...end, number: this.all.length + 1 };
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

/** Equal for runs under the same conditions: their names may differ. */
const conditionsId = ({ seed, conditions }: PlannedRun) => JSON.stringify([seed, conditions]);

const failsOnlySometimes: Reason = {
  why: "the command fails, but only in some runs",
  whatToDo: findDependency,
};

function coveredOutcomes({ outcomes }: Report): OutcomeId[] {
  const covered = outcomes.filter((row) => row.covered && (row.promised || isSuccess(row.outcome)));
  return covered.map(({ outcome }) => outcome);
}
