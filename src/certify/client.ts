import type { OutcomeId } from "../rules/outcomes.js";
import type { RunConditions } from "../runs/conditions.js";
import { notMade, onlySometimes, type Reason } from "./judgment.js";
import { type CertifyPlan, coveredOutcomes, seedCount, seedsOf, timeoutsFor } from "./plan.js";
import { type ClientRun, hasFailed, type RunRequest, type Tools } from "./run.js";

/** `time`: which run under these conditions it is, from 1. `wait`: how long the client may wait before its next request, in milliseconds. */
interface ClientRunOptions {
  readonly seed?: number;
  readonly wait?: number;
  readonly time?: number;
  readonly isAlone?: boolean;
}

/** Runs a client. Each part of a certification asks for the runs that it reads; a run under the same conditions is made once for all of them. */
export class Client {
  readonly plan: CertifyPlan;
  readonly #tools: Tools;
  readonly all: ClientRun[] = [];
  /** Two runs under the same conditions, of which the second passed: no failure shows anything then. */
  contradiction: readonly [ClientRun, ClientRun] | undefined;
  /** Whether a run was stopped, or not made for that reason: what it would show stays open. */
  isStopped = false;
  /** By their conditions. */
  readonly #made = new Map<string, Promise<ClientRun | undefined>[]>();
  #plain: ClientRun | undefined;

  constructor(plan: CertifyPlan, tools: Tools) {
    this.plan = plan;
    this.#tools = tools;
  }

  /** The run that shows what the client does if the sandbox only does what the specification promises. */
  get plain(): ClientRun {
    return this.#plain as ClientRun; // all but its own judgment come after it
  }

  get covered(): readonly OutcomeId[] {
    return coveredOutcomes(this.plain.report);
  }

  /** Later runs have the time that the plain one shows they need. */
  follow(plain: ClientRun): void {
    this.#plain = plain;
  }

  run(
    name: string,
    { profile = "minimal", ...conditions }: RunConditions,
    { seed = this.plan.seed, wait = 0, time = 1, isAlone = false }: ClientRunOptions = {},
  ): Promise<ClientRun | undefined> {
    const timeouts = timeoutsFor(this.plan.timeout, this.#plain?.durationMs, wait);
    return this.#make({ name, seed, conditions: { profile, ...conditions }, timeouts, isAlone }, time);
  }

  /** Makes a run again. `rows`: the only ones that vary. */
  again(
    { name, seed, conditions, timeouts }: ClientRun,
    {
      rows = conditions.rows,
      time = 1,
      isAlone = false,
    }: ClientRunOptions & Pick<RunConditions, "rows"> = {},
  ): Promise<ClientRun | undefined> {
    const changed = { ...conditions, ...(rows && { rows }) };
    return this.#make({ name, seed, conditions: changed, timeouts, isAlone }, time);
  }

  /** Makes runs that failed again: each once, and so many in all that a suite which fails at random passes one. Resolves to whether all were made. */
  async failAgain(failed: readonly ClientRun[]): Promise<boolean> {
    // A command that does not end takes long, and does so by no chance.
    const more = failed.filter(({ result }) => result === "failed");
    const left = more.length === 0 ? 0 : Math.max(0, minRepeats - failed.length);
    const again = (run: ClientRun, time: number) => this.again(run, { time, isAlone: run.isShared === true });
    const extra = Array.from({ length: left }, (_, at) =>
      again(more[at % more.length] as ClientRun, 3 + Math.floor(at / more.length)),
    );
    const runs = await Promise.all([...failed.map((run) => again(run, 2)), ...extra]);
    return runs.every((run) => run !== undefined);
  }

  /** How often a command must fail under the same conditions before that shows something: all varied runs show whether it fails at random. */
  get failuresThatCount(): 1 | 2 {
    return seedsOf(this.plan).length >= seedCount ? 1 : 2;
  }

  /** Why a failure may be one of a suite that fails at random. All varied runs show that; without them it must come again, and the plain run pass. */
  async whyUnsure(run: ClientRun): Promise<Reason | undefined> {
    if (this.failuresThatCount === 1) return undefined;
    const plain = [2, 3].map((time) => this.run("plain", {}, { time }));
    const [again, ...others] = await Promise.all([this.again(run, { time: 2 }), ...plain]);
    if (again === undefined || others.includes(undefined)) return notMade;
    return hasFailed(again) ? undefined : onlySometimes;
  }

  #make(request: RunRequest, time: number): Promise<ClientRun | undefined> {
    const id = idOf(request);
    const made = this.#made.get(id) ?? [];
    this.#made.set(id, made);
    while (made.length < time) made.push(this.#begin(request));
    return made[time - 1] as Promise<ClientRun | undefined>;
  }

  async #begin(request: RunRequest): Promise<ClientRun | undefined> {
    const end = await this.#tools.runClient(request);
    if (end === undefined) {
      this.isStopped = true;
      return undefined;
    }
    const run = { ...request, ...end, number: this.all.length + 1 };
    this.all.push(run);
    this.#tools.ended(run);
    // A rejection or a wrong answer may leave open what the client does.
    if ((request.conditions.answer ?? request.conditions.refusal) !== undefined) return run;
    const alike = this.all.filter((one) => idOf(one) === idOf(run));
    const [failed, passed] = [alike.find(hasFailed), alike.find(({ result }) => result === "passed")];
    if (failed !== undefined && passed !== undefined) this.contradiction ??= [failed, passed];
    return run;
  }
}

const idOf = ({ seed, conditions }: RunRequest) => JSON.stringify([seed, conditions]);

/** With five, one of 30 suites that fail in half of their runs gets to the search for causes. */
const minRepeats = 5;
