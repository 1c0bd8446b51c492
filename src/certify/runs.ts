import type { Report } from "../report/report-shape.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { isAnsweredWrongly, type RunConditions } from "../runs/conditions.js";
import { type ClientRun, type ClientRunner, hasFailed, type RunRequest } from "./client-run.js";
import { findDependency, notMade, type Reason } from "./judgment.js";
import { type CertifyPlan, seedCount, seedsOf, timeoutsFor } from "./plan.js";

/** `repetition`: which run under these conditions it is; who names the same one reads the same run. `wait`: how long the client may wait before its next request, in milliseconds. */
interface RunSettings {
  readonly seed?: number;
  readonly wait?: number;
  readonly repetition?: number | string;
  readonly isAlone?: boolean;
}

/** What runs that had failed did when they were made again. */
type Repeated = "failed_again" | "contradicted" | "not_made";

/** The runs of a certification. Each part of it asks for those that it reads; one under the same conditions is made once for all of them. */
export class Runs {
  readonly plan: CertifyPlan;
  /** In the order in which they ended. */
  readonly all: ClientRun[] = [];
  /** Two runs under the same conditions, of which the second passed: no failure shows anything then. */
  contradiction: readonly [failed: ClientRun, passed: ClientRun] | undefined;
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

  get covered(): readonly OutcomeId[] {
    return coveredOutcomes(this.plain.report);
  }

  make(
    name: string,
    { profile = "minimal", ...conditions }: RunConditions,
    { seed = this.plan.seed, wait = 0, repetition = 1, isAlone = false }: RunSettings = {},
  ): Promise<ClientRun | undefined> {
    const [plain] = this.all;
    const plainMs = plain?.result === "passed" ? plain.durationMs : undefined;
    const timeouts = timeoutsFor(this.plan.timeout, plainMs, wait);
    return this.#once({ name, seed, conditions: { profile, ...conditions }, timeouts, isAlone }, repetition);
  }

  /** Makes a run under the conditions of another one. `rows`: the only ones that vary. */
  makeLike(
    { name, seed, conditions, timeouts }: ClientRun,
    { rows = conditions.rows, repetition = 1, isAlone = false }: RunSettings & Pick<RunConditions, "rows">,
  ): Promise<ClientRun | undefined> {
    const changed = { ...conditions, ...(rows && { rows }) };
    return this.#once({ name, seed, conditions: changed, timeouts, isAlone }, repetition);
  }

  /** Makes each of these runs again, and so many in all that a suite which fails at random passes one. */
  async repeat(failures: readonly ClientRun[]): Promise<Repeated> {
    // A command that does not end takes long, and does so by no chance.
    const ended = failures.filter(({ result }) => result === "failed");
    const count = ended.length === 0 ? 0 : Math.max(0, minRepetitions - failures.length);
    const repetitionsOf = [
      ...failures.map((run) => [run, 2] as const),
      ...Array.from({ length: count }, (_, at) => {
        const run = ended[at % ended.length] as ClientRun;
        return [run, 3 + Math.floor(at / ended.length)] as const;
      }),
    ];
    const runs = await Promise.all(
      repetitionsOf.map(([run, repetition]) =>
        this.makeLike(run, { repetition, isAlone: run.isShared === true }),
      ),
    );
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
    const plain = [2, 3].map((repetition) => this.make("plain", {}, { repetition }));
    const [second, ...others] = await Promise.all([this.makeLike(run, { repetition: 2 }), ...plain]);
    if (second === undefined || others.includes(undefined)) return notMade;
    return hasFailed(second) ? undefined : onlySometimes;
  }

  #once(request: RunRequest, repetition: number | string): Promise<ClientRun | undefined> {
    const id = `${idOf(request)} ${repetition}`;
    const run = this.#requested.get(id) ?? this.#run(request);
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
    const [failed, passed] = [alike.find(hasFailed), alike.find(({ result }) => result === "passed")];
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
  return outcomes.flatMap(({ promised, covered, outcome }) =>
    covered && (promised || isSuccess(outcome)) ? outcome : [],
  );
}
