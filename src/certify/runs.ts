import type { Report } from "../report/report-shape.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { isAnsweredWrongly, type RunConditions } from "../runs/conditions.js";
import { type ClientRun, type ClientRunner, hasFailed, type RunRequest } from "./client-run.js";
import { findDependency, notMade, type Reason } from "./judgment.js";
import { type CertifyPlan, seedCount, seedsOf, timeoutsFor } from "./plan.js";

/** Which of the runs under the same conditions it is. Who asks for the same one reads the same run. */
export interface WhichRun {
  /** From 1. Default: 1. */
  readonly nth?: number;
  /** One that no other part reads: what it shows rests on no run that was chosen before. Default: the runs that all parts share. */
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
  readonly seed?: number;
  /** How long the client may wait before its next request, in milliseconds. */
  readonly wait?: number;
  readonly isAlone?: boolean;
}

/** Two runs under the same conditions. */
export type Contradiction = readonly [failed: ClientRun, passed: ClientRun];

/** What runs that had failed did when they were made again. */
type Repeated = "failed_again" | "contradicted" | "not_made";

/** The runs of a certification. Each part of it asks for those that it reads; one under the same conditions is made once for all of them. */
export class Runs {
  readonly plan: CertifyPlan;
  /** In the order in which they ended. */
  readonly all: ClientRun[] = [];
  /** Two runs under the same conditions, of which the second passed: no failure shows anything then. */
  contradiction: Contradiction | undefined;
  /** Whether a run was stopped, or not made for that reason: what it would show stays open. */
  isStopped = false;
  readonly #runner: ClientRunner;
  readonly #requested = new Map<string, Promise<ClientRun | undefined>>();

  constructor(plan: CertifyPlan, runner: ClientRunner) {
    this.plan = plan;
    this.#runner = runner;
  }

  /** The run that shows what the client does if the sandbox only does what the specification promises. It is made before all others. */
  get plain(): ClientRun {
    return this.all[0] as ClientRun; // all but its own judgment come after it
  }

  /** Makes the plain run again, after all others. A command that no longer passes at all contradicts its first run then. */
  async makeLastPlain(): Promise<void> {
    if (this.contradiction !== undefined || this.isStopped) return;
    await this.make("plain", {}, { series: "end", isAlone: true });
  }

  /** The first plain runs that all parts share, so many. */
  firstPlain(count: number): Promise<(ClientRun | undefined)[]> {
    const plain: Promise<ClientRun | undefined>[] = [];
    for (let nth = 1; nth <= count; nth++) plain.push(this.make("plain", {}, { nth }));
    return Promise.all(plain);
  }

  get covered(): readonly OutcomeId[] {
    return coveredOutcomes(this.plain.report);
  }

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
    return this.#once({ name, seed, conditions, timeouts, isAlone }, settings);
  }

  /** Makes a run under the conditions of another one. `rows`: the only ones that vary. */
  makeLike(
    like: ClientRun,
    settings: WhichRun & Pick<RunConditions, "rows"> & { readonly isAlone?: boolean },
  ): Promise<ClientRun | undefined> {
    const { name, seed, timeouts } = like;
    const { rows = like.conditions.rows, isAlone = false } = settings;
    const conditions = { ...like.conditions, ...(rows && { rows }) };
    return this.#once({ name, seed, conditions, timeouts, isAlone }, settings);
  }

  /** Makes each of these runs again, and so many in all that a suite which fails at random passes one. */
  async repeat(failures: readonly ClientRun[]): Promise<Repeated> {
    const again = (run: ClientRun, nth: number) =>
      this.makeLike(run, { nth, isAlone: run.isShared === true });
    const repetitions = failures.map((run) => again(run, 2));

    // A command that does not end takes long, and does so by no chance.
    const ended = failures.filter(({ result }) => result === "failed");
    for (let nth = 3; ended.length > 0 && repetitions.length < minRepetitions; nth++) {
      const missing = minRepetitions - repetitions.length;
      for (const run of ended.slice(0, missing)) repetitions.push(again(run, nth));
    }

    const runs = await Promise.all(repetitions);
    if (runs.includes(undefined)) return "not_made";
    return this.contradiction === undefined ? "failed_again" : "contradicted";
  }

  /** How often a command must fail under the same conditions before that shows something: all varied runs show whether it fails at random. */
  get failuresThatCount(): 1 | 2 {
    return seedsOf(this.plan).length >= seedCount ? 1 : 2;
  }

  /** Why a failure may be one of a suite that fails at random: one that must come twice does not, or a plain run fails. */
  async whyUnsure(run: ClientRun): Promise<Reason | undefined> {
    if (this.failuresThatCount === 1) return undefined;
    const [plain, second] = await Promise.all([this.firstPlain(3), this.makeLike(run, { nth: 2 })]);
    if (second === undefined || plain.includes(undefined)) return notMade;
    return hasFailed(second) ? undefined : onlySometimes;
  }

  #once(request: RunRequest, { nth = 1, series }: WhichRun): Promise<ClientRun | undefined> {
    const id = JSON.stringify([idOf(request), nth, series]);
    const requested = this.#requested.get(id);
    if (requested !== undefined) return requested;
    const run = this.#run(request);
    this.#requested.set(id, run);
    return run;
  }

  async #run(request: RunRequest): Promise<ClientRun | undefined> {
    const end = await this.#runner.run(request);
    if (end === undefined) {
      this.isStopped = true;
      return undefined;
    }
    const run = { ...request, ...end, number: this.all.length + 1 };
    this.all.push(run);
    this.#runner.onEnd(run);

    // A rejection or a wrong answer may leave open what the client does.
    if (isAnsweredWrongly(request.conditions)) return run;
    const alike = this.all.filter((other) => idOf(other) === idOf(run));
    const failed = alike.find(hasFailed);
    const passed = alike.find(({ result }) => result === "passed");
    if (failed !== undefined && passed !== undefined) this.contradiction ??= [failed, passed];
    return run;
  }
}

const idOf = ({ seed, conditions }: RunRequest) => JSON.stringify([seed, conditions]);

const onlySometimes: Reason = {
  why: "the command fails, but only in some runs",
  whatToDo: findDependency,
};

/** With five, one of 30 suites that fail in half of their runs gets to the search for causes. */
const minRepetitions = 5;

function coveredOutcomes({ outcomes }: Report): OutcomeId[] {
  const covered = outcomes.filter((row) => row.covered && (row.promised || isSuccess(row.outcome)));
  return covered.map(({ outcome }) => outcome);
}
