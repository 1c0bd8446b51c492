import { availableParallelism, constants } from "node:os";
import { join } from "node:path";
import { apiVersion } from "../../api/openapi.js";
import { type BrokenPromise, breaking, brokenPromises, promisesOn } from "../../api/promises.js";
import { type Narrowed, narrowFault, narrowVaried, type Repeat } from "../../certify/narrow.js";
import { causedRun, faultsOn, type PlannedRun, patienceFor, planOf, verdictOf } from "../../certify/plan.js";
import { promiseRun, promisesIn, unmetGates, whyTooLittle } from "../../certify/promises.js";
import type { CertifyResult, PromiseRun, RetryResult, Run } from "../../certify/result.js";
import {
  type CountedRun,
  controlFor,
  type Experiment,
  experimentsFor,
  type Made,
  retryResults,
  startExperiment,
  withRetries,
} from "../../certify/retries.js";
import { stopwatch, wallTime } from "../../library/real-time.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { version } from "../../node/package-files.js";
import { nodePlatform } from "../../node/platform.js";
import { commandLine, pluralize } from "../../report/plain-text.js";
import { mergeReports } from "../../report/report.js";
import type { Trial } from "../../sandbox/sandbox.js";
import type { Assumptions } from "../../spec/assumptions.js";
import type { PathId } from "../../spec/outcomes.js";
import { canonicalJson } from "../../spec/schema/json.js";
import { listed } from "../../spec/schema/words.js";
import { defaultSeed } from "../../spec/seed.js";
import type { CommandCall } from "../command.js";
import { sayWhyNotRun } from "../serve/run-served.js";
import type { ServeFlags } from "../serve/serve-options.js";
import { tell } from "../terminal.js";
import { type ClientRun, type ClientRuns, createClientRuns } from "./client-runs.js";
import { createProgress, type Progress } from "./progress.js";

interface Planned {
  /** The number of parallel runs. */
  readonly jobs: number;
  readonly plan: readonly [PlannedRun, ...PlannedRun[]];
  /** Assumptions of every run. */
  readonly like: Partial<Assumptions> | undefined;
  /** Milliseconds for each run. Default: see {@link patienceFor}. */
  readonly timeout: number | undefined;
  /** The promises to break. */
  readonly kinds: CertifyResult["promises"]["kinds"];
  /** The names of the only runs to make after the first. */
  readonly only: readonly string[] | undefined;
  /** Whether to stop after the first failure. */
  readonly bail: boolean;
  /** Maximum milliseconds for all runs together. */
  readonly budget: number;
  /** Called with each failed run of the plan, before its cause is searched. */
  readonly onFailure: (run: PlannedRun, made: ClientRun) => Promise<void>;
}

/** The input of a certification. */
export interface Asked extends Pick<CertifyResult, "command" | "seeds" | "faults" | "like" | "gates"> {
  readonly loaded: LoadedScenario;
  readonly kinds: CertifyResult["promises"]["kinds"];
  readonly only?: readonly string[] | undefined;
}

export interface CertifyFlags extends ServeFlags {
  readonly jobs?: number;
  readonly bail?: boolean;
  readonly budget?: number;
  readonly timeout?: number;
  readonly capture?: string;
  readonly now?: number;
  readonly frozen?: boolean;
  readonly color?: boolean;
  readonly json?: boolean;
  readonly format?: string;
}

export interface Certified {
  /** Returns the output lines of a failed run. */
  readonly outputOf: (run: Run) => readonly string[];
  /** `undefined` if not even the first run ended. */
  readonly result: CertifyResult | undefined;
  /** Problems in the first run between the client and the proxy of `--intercept`, as sentences. */
  readonly notes: readonly string[];
  /** The exit code of an incomplete certification, because of a signal or an unknown command. */
  readonly cutShort: number | undefined;
  /** Stops taking signals. Call it after writing the certificate, which a signal must not interrupt. */
  readonly release: () => void;
}

/** Certifies a client with all its runs, and shows the progress. */
export async function certifyClient(asked: Asked, call: CommandCall<CertifyFlags>): Promise<Certified> {
  const { loaded, command, seeds, faults, like, kinds, gates, only } = asked;
  const { flags, io } = call;
  const {
    now,
    frozen,
    jobs = availableParallelism(),
    timeout,
    bail = false,
    budget = Number.POSITIVE_INFINITY,
    capture,
    ...served
  } = flags;
  const seed = loaded.scenario.seed ?? defaultSeed;
  const [baseline, ...others] = planOf(seed, seeds, faults);
  const plan = [baseline, ...others.filter(({ name }) => only?.includes(name) ?? true)] as const;
  const client = createClientRuns(loaded, { io, rest: command, flags: served }, { now, frozen }, jobs);
  const progress = createProgress(call);
  const release = io.takeSignals(client.stop);
  const startedAt = new Date(wallTime()).toISOString();
  const started = stopwatch();
  const onFailure = async ({ name }: PlannedRun, { sandboxes }: ClientRun) => {
    if (capture === undefined) return;
    const { writeCaptures } = await import("../serve/capture-files.js");
    await writeCaptures(join(capture, name.replaceAll(" ", "-")), sandboxes, { io, flags: { quiet: true } });
  };
  progress.begin(`Running ${commandLine(command)}: ${plan.length} runs, ${jobs} in parallel`, 1);
  const { runs, promises, retries, report, failure, outputOf } = await makeRuns(
    client,
    { jobs, plan, like, kinds, only, timeout, bail, budget, onFailure },
    progress,
  );
  const stopped = client.stoppedBy();
  if (failure !== undefined) {
    const cutShort = sayWhyNotRun(command[0] as string, failure, call);
    return { result: undefined, cutShort, outputOf, notes: [], release };
  }
  if (report === undefined) {
    tell(io.stderr, "Stopped before the first run ended: there is no result.\n");
  }
  const isSeen = report !== undefined && runs[0].outcome === "passed" && whyTooLittle(report) === undefined;
  const facts = report && {
    scenario: loaded.name,
    scenarioDigest: nodePlatform.sha256(canonicalJson(loaded.scenario)),
    specification: apiVersion,
    sandbox: version,
    ...(flags.intercept !== undefined && { intercept: [...flags.intercept] }),
    ...{ seeds, faults, ...(like !== undefined && { like }), command, startedAt },
    durationMs: Math.round(stopwatch() - started),
    ...{ runs, promises, ...(retries && { retries }) },
    ...{ gates, unmet: isSeen ? unmetGates(report, promises, gates) : [], report },
  };
  const result = facts && { ...facts, verdict: verdictOf(facts) };
  const cutShort = stopped && 128 + constants.signals[stopped];
  return { result, cutShort, outputOf, notes: client.notes(), release };
}

/** Makes the runs of a plan, and finds the causes of failures. */
async function makeRuns(
  client: ClientRuns,
  { jobs, plan, like, kinds, only, timeout, bail, budget, onFailure }: Planned,
  progress: Progress,
) {
  const [baseline, ...others] = plan;
  const always: Trial = like === undefined ? {} : { assumptions: like };
  const done = new Map<string, { run: Run; readonly made: ClientRun }>();
  let covered: PathId[] = [];
  const patience = (planned: PlannedRun) =>
    patienceFor(planned, { timeout, baselineMs: done.get(baseline.name)?.run.durationMs, paths: covered });
  let isOver = false;
  const started = stopwatch();
  // The baseline is always made.
  const fits = () => stopwatch() - started < budget || !done.has(baseline.name);
  const runWanted = (planned: PlannedRun, trial: Trial) =>
    client.run(planned, { ...always, ...trial }, patience(planned), () => !isOver && fits());
  const make = async (planned: PlannedRun, trial: Trial = {}) => {
    const made = await runWanted(planned, trial);
    if (made === undefined) return;
    const run = runOf(planned, made);
    done.set(planned.name, { run, made });
    if (run.outcome !== "passed") {
      isOver = bail;
      await onFailure(planned, made);
    }
    if (made.failure === undefined) progress.ran(run);
  };
  const makeBroken = async (promise: BrokenPromise): Promise<PromiseRun> => {
    const broken = breaking(promise);
    const made = await runWanted(baseline, { broken });
    const run = promiseRun(promise, made, broken.responses);
    if (made !== undefined) progress.broke(run);
    if (run.kind === "swap" && run.outcome === "not_noticed") isOver ||= bail;
    return run;
  };
  const tryOut = async (experiment: Experiment): Promise<Made[]> => {
    const { trial, isOver, facts } = startExperiment(experiment);
    const made = await client.run(baseline, { ...always, ...trial }, patience(baseline), fits, isOver);
    progress.tried();
    if (made === undefined) return [];
    return [{ ...countedOf(made), ...facts(), experiment }];
  };
  const attempt: Repeat = async (planned, trial) => {
    const made = await client.run(planned, { ...always, ...trial }, patience(planned), fits);
    progress.tried();
    const failed = made !== undefined && made.outcome !== "passed";
    return { failed, lastPath: (statuses) => made?.lastOn(statuses)?.pathId, points: made?.points ?? [] };
  };
  const settle = ({ name }: PlannedRun, narrowed: Narrowed) => {
    const known = done.get(name);
    // Attempts that were stopped or not made show nothing.
    if (known === undefined || client.stoppedBy() !== undefined || !fits()) return;
    known.run = { ...known.run, ...(narrowed === "flaky" ? { outcome: "flaky" } : { cause: narrowed }) };
    progress.found(known.run);
  };

  await make(baseline);
  const first = done.get(baseline.name);
  let broken: PromiseRun[] = [];
  let retries: CertifyResult["retries"];
  if (first?.run.outcome === "passed" && whyTooLittle(first.made.report) === undefined) {
    const met = first.made.report.paths.filter(({ promised, met }) => promised && met);
    covered = met.map(({ pathId }) => pathId);
    const promises =
      only === undefined ? promisesOn(covered, kinds) : brokenPromises.filter(({ id }) => only.includes(id));
    const findsRetries = only?.includes("retries") ?? true;
    const experiments = findsRetries ? experimentsFor(countedOf(first.made)) : [];
    beginRuns(progress, [others.length, promises.length, experiments.length], first.run.durationMs / jobs);
    const makeIn = (some: readonly PlannedRun[]) =>
      Promise.all(some.map((one) => make(one, one.fault && { faults: faultsOn(covered, one.fault) })));
    // The runs start in this order. The seeds, the most runs, come last.
    const early = makeIn(others.filter(({ profile }) => profile !== "varied"));
    const allBroken = Promise.all(promises.map(makeBroken));
    const tried = Promise.all(experiments.map(tryOut));
    await makeIn(others.filter(({ profile }) => profile === "varied"));
    await early;
    broken = await allBroken;
    const plain = [...done.values()].flatMap(({ run, made }) => (run.fault ? [] : countedOf(made)));
    const made = (await tried).flat();
    if (findsRetries) retries = await concluded(plain as [CountedRun, ...CountedRun[]], made, tryOut);
    const failing = others.flatMap((run) => {
      const made = done.get(run.name)?.made;
      return made === undefined || made.outcome === "passed" ? [] : [{ run, points: made.points }];
    });
    if (failing.length > 0) progress.begin(`Narrowing down why ${failing.length} of them fail`);
    await narrowVaried(
      failing.filter(({ run }) => run.fault === undefined),
      attempt,
      settle,
    );
    const byFault = failing.map(async ({ run: { fault, ...run } }) => {
      if (fault === undefined) return;
      const suspect = done.get(run.name)?.made.suspect;
      settle(run, await narrowFault({ ...run, fault }, covered, suspect, attempt));
    });
    await Promise.all(byFault);
  } else if (first?.run.outcome === "failed" && first.made.failure === undefined) {
    progress.begin("Running minimal again", 1);
    if (!(await attempt(baseline, {})).failed) settle(baseline, "flaky");
  }
  progress.end();

  const reports = [...done.values()].map(({ made }) => made.report);
  const [one, ...rest] = reports;
  return {
    runs: plan.map((planned) => causedRun(done.get(planned.name)?.run ?? notRun(planned))) as [Run, ...Run[]],
    promises: promisesIn(kinds, broken),
    /** The merged report of all runs without a broken promise; `undefined` if not even the first run ended. */
    report: one && withRetries(mergeReports([one, ...rest]), retries),
    retries,
    outputOf: ({ name }: Run) => done.get(name)?.made.output ?? [],
    /** Why the command could not start. */
    failure: first?.made.failure,
  };
}

function runOf(planned: PlannedRun, { outcome, code, durationMs, lastRequest, report }: ClientRun): Run {
  const { requests, coverage } = report;
  const known = { ...planned, outcome, code, durationMs, requests, percent: coverage.percent };
  return lastRequest === undefined ? known : { ...known, lastRequest };
}

function beginRuns(progress: Progress, numbers: readonly [number, number, number], msForEach: number): void {
  const [more, broken, experiments] = numbers;
  const total = more + broken + experiments;
  if (total === 0) return;
  const parts = [
    ...(more === 0 ? [] : [pluralize(more, "more run")]),
    ...(broken === 0 ? [] : [`${broken} with a broken promise`]),
    ...(experiments === 0 ? [] : [`${experiments} to find retries`]),
  ];
  progress.begin(`${listed(parts, "and")}: about ${Math.ceil((total * msForEach) / 1000)} s`, total);
}

async function concluded(
  plain: readonly [CountedRun, ...CountedRun[]],
  made: readonly Made[],
  tryOut: (experiment: Experiment) => Promise<Made[]>,
): Promise<RetryResult[]> {
  const control = controlFor(plain[0], made);
  const [controlled] = control === undefined ? [] : await tryOut(control);
  return retryResults(plain, made, controlled);
}

function countedOf({ sent, outcome }: ClientRun): CountedRun {
  return { sent, failed: outcome !== "passed", isTimedOut: outcome === "timed_out" };
}

function notRun(planned: PlannedRun): Run {
  return { ...planned, outcome: "not_run", code: null, durationMs: 0, requests: 0, percent: 0 };
}
