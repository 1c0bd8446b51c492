import type { Endpoint } from "../api/endpoint.js";
import { faultsOn } from "../api/faults.js";
import { type BrokenPromise, brokenPromisesOf, promisesOn } from "../api/promises.js";
import { pluralize } from "../report/plain-text.js";
import { mergeReports } from "../report/report.js";
import type { Report } from "../report/report-shape.js";
import { assumptionTable } from "../rules/assumptions.js";
import type { FaultPathId } from "../rules/fault-effects.js";
import { isSuccess, type PathId } from "../rules/outcomes.js";
import type { Experiment, RunConditions } from "../sandbox/conditions.js";
import { hasFailed } from "./brief.js";
import {
  createdTwice,
  honorsNoKey,
  judgedPaths,
  noWrites,
  type Purpose,
  type RunFacts,
  type Writes,
  whyNoEvidence,
} from "./evidence.js";
import { type Narrowed, narrowFault, narrowVaried, type Repeat } from "./narrow.js";
import {
  causedRun,
  faultCause,
  longestWait,
  needsCause,
  type PlannedRun,
  type Timeouts,
  timeoutsFor,
  typicalAssumptions,
} from "./plan.js";
import { promiseRun, promisesIn, type UnjudgedWrites, whyTooLittle } from "./promises.js";
import type { CertifyResult, PromiseRun, Run } from "./result.js";
import {
  agreedRun,
  type CountedRun,
  controlFor,
  type ExperimentRun,
  experimentsFor,
  isOver,
  minWait,
  type ObservedTries,
  retryFacts,
  retryResults,
  withRetries,
} from "./retries.js";

export interface ClientRun extends Pick<Run, "code" | "durationMs" | "lastRequest">, ObservedTries, RunFacts {
  readonly outcome: "passed" | "failed" | "timed_out";
  readonly report: Report;
  readonly lastOn: (statuses: readonly number[]) => Run["lastRequest"];
  /** A path where a fault affected a request. */
  readonly suspect: PathId | undefined;
  /** The assumptions that its sandboxes set, and that the run would vary. */
  readonly unvaried: readonly string[];
  /** The scenarios of its sandboxes. */
  readonly scenarios: readonly string[];
  readonly writes: Writes;
  /** Whether another run was under way at the same time. */
  readonly isShared?: boolean;
  /** The last lines of its output, without keys and colors. */
  readonly output: readonly string[];
  readonly failure?: Error & { readonly code?: string | undefined };
}

export interface CertificationPlan {
  /** The baseline first. */
  readonly runs: readonly [PlannedRun, ...PlannedRun[]];
  readonly jobs: number;
  /** Milliseconds for each run. Default: see {@link timeoutsFor}. */
  readonly timeout?: number | undefined;
  readonly endpoints: readonly Endpoint[];
  readonly kinds: CertifyResult["promises"]["kinds"];
  /** The names of the only promises and experiments. Default: all. */
  readonly only?: readonly string[] | undefined;
  readonly bail?: boolean | undefined;
  /** Maximum milliseconds for all runs together. */
  readonly budget?: number | undefined;
}

export interface Progress {
  /** Starts a phase. */
  readonly begin: (what: string) => void;
  readonly ran: (run: Run) => void;
  readonly broke: (run: PromiseRun) => void;
  /** Counts another attempt to find a cause. */
  readonly tried: () => void;
  readonly found: (run: Run) => void;
}

export interface RunLimits {
  readonly timeouts: Timeouts;
  readonly isWanted: () => boolean;
  /** Whether a run ends after its conditions hit so many requests. Default: never. */
  readonly isOver?: ((hits: number) => boolean) | undefined;
  /** Whether no other run may be under way. Default: false. */
  readonly isAlone?: boolean | undefined;
}

export interface Tools {
  /** Runs the client once it is its turn; `undefined` if the run is no longer wanted then, or stopped. */
  readonly run: (
    planned: PlannedRun,
    variant: RunConditions,
    limits: RunLimits,
  ) => Promise<ClientRun | undefined>;
  /** Makes all later runs one at a time, because this run failed next to another and passed alone. */
  readonly separate: (run: PlannedRun) => void;
  readonly isStopped: () => boolean;
  /** Real time in milliseconds. */
  readonly stopwatch: () => number;
  readonly progress: Progress;
}

export interface Certification {
  readonly plan: CertificationPlan;
  readonly tools: Tools;
  readonly started: number;
  /** The runs of the plan that were made, by name. */
  readonly done: Map<string, { run: Run; readonly made: ClientRun }>;
  broken: readonly PromiseRun[];
  /** The experiments with retries that were made; `undefined` if none is wanted. */
  experiments: readonly ExperimentRun[] | undefined;
  retries: CertifyResult["retries"];
  /** The writes that a client may give up under these faults. */
  readonly unjudged: UnjudgedWrites[];
  /** Whether a failure has ended it. */
  isOver: boolean;
  /** The runs that failed next to another, and passed alone. */
  readonly disturbed: PlannedRun[];
}

export async function certify(plan: CertificationPlan, tools: Tools): Promise<Certification> {
  const state: Certification = {
    plan,
    tools,
    started: tools.stopwatch(),
    done: new Map(),
    broken: [],
    experiments: undefined,
    retries: undefined,
    unjudged: [],
    isOver: false,
    disturbed: [],
  };
  // Each does nothing if an earlier step shows that it makes no sense.
  for (const step of [makeBaseline, makeOtherRuns, findCauses, makeAgainAlone, concludeRetries])
    await step(state);
  return state;
}

/** Returns the part of a certificate that a certification found out. */
export function findings({ plan, done, broken, retries, unjudged }: Certification) {
  const [one, ...rest] = [...done.values()].map(({ made }) => made.report);
  const runs = plan.runs.map((planned) => causedRun(done.get(planned.name)?.run ?? notRun(planned)));
  const varied = [...done.values()].flatMap(({ made }) => made.points.map(({ row }) => row));
  const unvaried = new Set([...done.values()].flatMap(({ made }) => made.unvaried));
  return {
    runs: runs as [Run, ...Run[]],
    promises: promisesIn(plan.kinds, broken),
    retries,
    open: { unjudged, unvaried: [...unvaried].filter((name) => !varied.includes(name)) },
    /** The merged report of all runs without a broken promise; `undefined` if not even the first run ended. */
    report: one && withRetries(mergeReports([one, ...rest]), retries),
  };
}

async function makeBaseline(state: Certification): Promise<void> {
  const { plan, tools, done } = state;
  const [baseline] = plan.runs;
  await make(state, baseline);
  const first = done.get(baseline.name);
  if (first?.run.outcome !== "failed" || first.made.failure !== undefined) return;
  tools.progress.begin("Running minimal again");
  const repeat = repeatIn(state);
  const fails = async (run: PlannedRun, variant: RunConditions = {}) => (await repeat(run, variant)).failed;
  if (!(await fails(baseline))) return conclude(state, baseline, "flaky");
  const typical = { ...baseline, profile: "typical" } as const;
  if (await fails(typical)) return;
  const needs = typicalAssumptions.map(async (name) => {
    const without = { assumptions: { [name]: assumptionTable[name].minimal } };
    return (await fails(typical, without)) && (await fails(typical, without)) ? [name] : [];
  });
  const needed = (await Promise.all(needs)).flat();
  // A client that fails by chance needs nothing.
  const isSure = (await fails(baseline)) && !(await fails(typical));
  conclude(state, baseline, isSure ? needsCause(needed) : "flaky");
}

/** Returns the baseline if it passes, and covers enough to conclude something from it. */
function usableBaseline({ plan, done }: Certification) {
  const first = done.get(plan.runs[0].name);
  return first?.run.outcome === "passed" && whyTooLittle(first.made.report) === undefined ? first : undefined;
}

function coveredPaths({ plan, done }: Certification): PathId[] {
  const { paths = [] } = done.get(plan.runs[0].name)?.made.report ?? {};
  return paths.flatMap(({ promised, covered, pathId }) =>
    covered && (promised || isSuccess(pathId)) ? pathId : [],
  );
}

async function makeOtherRuns(state: Certification): Promise<void> {
  const baseline = usableBaseline(state);
  if (baseline === undefined) return;
  const { plan, tools } = state;
  const { only, kinds, jobs } = plan;
  const [, ...others] = plan.runs;
  const covered = coveredPaths(state);
  const promises =
    only === undefined
      ? promisesOn(covered, kinds, plan.endpoints)
      : brokenPromisesOf(plan.endpoints).filter(({ id }) => only.includes(id));
  const findsRetries = only?.includes("retries") ?? true;
  const experiments = findsRetries ? experimentsFor(countedOf(baseline.made), plan.runs[0].seed) : [];
  const total = others.length + promises.length + experiments.length;
  if (total > 0) {
    const seconds = Math.ceil((total * baseline.run.durationMs) / jobs / 1000);
    tools.progress.begin(`${pluralize(total, "more run")}: about ${seconds} s`);
  }
  // They start in this order. The seeds, the most runs, come last.
  const isSeed = ({ profile }: PlannedRun) => profile === "varied";
  const [, broken, tried] = await Promise.all([
    Promise.all(others.filter((one) => !isSeed(one)).map((one) => make(state, one))),
    Promise.all(promises.map((one) => runWithBrokenPromise(state, one))),
    Promise.all(experiments.map((one) => runExperiment(state, one))),
    Promise.all(others.filter(isSeed).map((one) => make(state, one))),
  ]);
  state.broken = broken;
  state.experiments = findsRetries ? tried.flat() : undefined;
}

async function concludeRetries(state: Certification): Promise<void> {
  const { done, plan } = state;
  if (state.experiments === undefined) return;
  const plain = [...done.values()].flatMap(({ run, made }) =>
    run.fault || run.outcome !== "passed" ? [] : countedOf(made),
  );
  const [baseline, ...others] = plain as [CountedRun, ...CountedRun[]];
  const experiments = await madeWithEvenKey(
    state,
    state.experiments,
    experimentsFor(baseline, plan.runs[0].seed, others),
  );
  const control = controlFor(baseline, experiments);
  const [controlled] = control === undefined ? [] : await runExperiment(state, control);
  state.retries = retryResults([baseline, ...others], experiments, controlled);
}

/** The baseline does not show which keys the runs send equally often: makes the experiments again if they have a better key. */
async function madeWithEvenKey(
  state: Certification,
  made: readonly ExperimentRun[],
  better: readonly Experiment[],
): Promise<readonly ExperimentRun[]> {
  const [first] = made;
  const [target] = better;
  if (first === undefined || target === undefined) return made;
  if (first.experiment.key === target.key && first.experiment.nth === target.nth) return made;
  return (await Promise.all(better.map((experiment) => runExperiment(state, experiment)))).flat();
}

async function findCauses(state: Certification): Promise<void> {
  if (usableBaseline(state) === undefined) return;
  const { plan, tools, done } = state;
  const failing = plan.runs.flatMap((run) => {
    const made = done.get(run.name)?.made;
    // A record that was created twice is a cause already.
    if (made === undefined || made.outcome === "passed" || done.get(run.name)?.run.cause) return [];
    const { points, isShared } = made;
    return [{ run: { ...run, isLate: made.outcome === "timed_out" }, made, points, isShared }];
  });
  if (failing.length > 0) tools.progress.begin(`Narrowing down why ${failing.length} of them fail`);
  const varied = failing.filter(({ run }) => run.fault === undefined);
  const passingPoints = [...done.values()].flatMap(({ run, made }) =>
    run.outcome === "passed" ? made.points : [],
  );
  await narrowVaried(varied, passingPoints, repeatIn(state), (run, narrowed) =>
    conclude(state, run, narrowed),
  );
  const isOnce = (path: PathId | undefined) => path !== undefined && writesOf(state).once.has(path);
  const byFault = failing.map(async ({ run: { fault, ...run }, made: { suspect, outcome, isShared } }) => {
    if (fault === undefined) return;
    // A client that waits takes its whole time in each attempt, and no attempt shows more.
    if (fault === "fault.hang" && outcome === "timed_out")
      return conclude(
        state,
        run,
        faultCause(fault, {
          path: suspect,
          isOnce: isOnce(suspect),
          honorsNoKey: honorsNoKey(suspect, plan.endpoints),
          waitedMs: plan.timeout ?? longestWait,
        }),
      );
    const paths = judgedPaths(coveredPaths(state), fault, writesOf(state));
    const judged = paths.find((path) => path === suspect);
    const faulty = { ...run, fault, isShared };
    conclude(state, run, await narrowFault(faulty, paths, judged, repeatIn(state)));
  });
  await Promise.all(byFault);
}

/** Without others, as a run failed only next to another: the rest of what had to fail may have failed for this reason, too. */
async function makeAgainAlone(state: Certification): Promise<void> {
  const { disturbed, done, plan } = state;
  if (disturbed.length === 0) return;
  for (const planned of disturbed) {
    await make(state, planned);
    const { run } = done.get(planned.name) ?? {};
    if (run && hasFailed(run)) conclude(state, planned, "flaky");
  }
  const promises = brokenPromisesOf(plan.endpoints);
  const broken: PromiseRun[] = [];
  for (const run of state.broken) {
    const promise = run.outcome === "noticed" && promises.find(({ id }) => id === run.id);
    broken.push(promise ? await runWithBrokenPromise(state, promise) : run);
  }
  state.broken = broken;
  const experiments: ExperimentRun[] = [];
  for (const { experiment } of state.experiments ?? [])
    experiments.push(...(await runExperiment(state, experiment)));
  state.experiments &&= experiments;
}

function runIn(
  state: Certification,
  planned: PlannedRun,
  variant: RunConditions,
  isWanted = () => true,
  { min = 0, ...limits }: Pick<RunLimits, "isOver" | "isAlone"> & { readonly min?: number } = {},
): Promise<ClientRun | undefined> {
  const { plan, tools, done } = state;
  const baselineMs = done.get(plan.runs[0].name)?.run.durationMs;
  const known = { timeout: plan.timeout, baselineMs, paths: coveredPaths(state), min };
  const timeouts = timeoutsFor(planned, known);
  return tools.run(planned, variant, {
    ...limits,
    timeouts,
    isWanted: () => isWanted() && isInTime(state),
  });
}

// The baseline is always made.
function isInTime({ plan, tools, started, done }: Certification): boolean {
  const { budget = Number.POSITIVE_INFINITY, runs } = plan;
  return tools.stopwatch() - started < budget || !done.has(runs[0].name);
}

async function make(state: Certification, planned: PlannedRun): Promise<void> {
  const { plan, tools, done } = state;
  const { fault } = planned;
  const variant = fault === undefined ? {} : { faults: faultsOn(coveredPaths(state), fault) };
  const made = await runIn(state, planned, variant, () => !state.isOver);
  if (made === undefined) return;
  const judged = fault === undefined ? { made } : await judgeWrites(state, { ...planned, fault }, made);
  if (judged.made === undefined) return;
  const run = { ...runOf(planned, judged.made, sentIn(state)), ...judged.found };
  done.set(planned.name, { run, made: judged.made });
  if (hasFailed(run)) state.isOver ||= plan.bail === true;
  if (made.failure === undefined) tools.progress.ran(run);
}

/** What the baseline sent; nothing before it was made. */
const sentIn = ({ plan, done }: Certification): Pick<RunFacts, "sent"> =>
  done.get(plan.runs[0].name)?.made ?? { sent: [] };

const writesOf = ({ plan, done }: Certification) => done.get(plan.runs[0].name)?.made.writes ?? noWrites;

/** Judges a run with a fault by its records, and by the exit code only if the client could not give up a write that it must not repeat. */
async function judgeWrites(
  state: Certification,
  planned: PlannedRun & { readonly fault: FaultPathId },
  made: ClientRun,
): Promise<{ readonly made: ClientRun | undefined; readonly found?: Pick<Run, "outcome" | "cause"> }> {
  const { endpoints } = state.plan;
  const { fault } = planned;
  const path = createdTwice(writesOf(state), made.writes, endpoints);
  const again = path && (await runIn(state, planned, { faults: faultsOn([path], fault) }));
  if (again !== undefined && createdTwice(writesOf(state), again.writes, endpoints) === path) {
    const twice = { path, isOnce: true, honorsNoKey: honorsNoKey(path, endpoints), isTwice: true };
    return { made, found: { outcome: "failed", cause: faultCause(fault, twice) } };
  }
  const covered = coveredPaths(state);
  const paths = judgedPaths(covered, fault, writesOf(state));
  if (made.outcome !== "failed" || paths.length === covered.length) return { made };
  state.unjudged.push({ fault, paths: covered.filter((one) => !paths.includes(one)) });
  return { made: await runIn(state, planned, { faults: faultsOn(paths, fault) }) };
}

async function runWithBrokenPromise(state: Certification, promise: BrokenPromise): Promise<PromiseRun> {
  const { plan, tools } = state;
  const made = await runIn(state, plan.runs[0], { promise: promise.id }, () => !state.isOver);
  const run = promiseRun(promise, made, sentIn(state));
  if (made !== undefined) tools.progress.broke(run);
  if (run.kind === "swap" && run.outcome === "not_noticed") state.isOver ||= plan.bail === true;
  return run;
}

async function runExperiment(
  state: Certification,
  experiment: Experiment,
  before: readonly ExperimentRun[] = [],
): Promise<ExperimentRun[]> {
  const { plan, tools } = state;
  const more = { isOver, min: minWait(experiment) };
  const made = await runIn(state, plan.runs[0], { experiment }, undefined, more);
  tools.progress.tried();
  if (made === undefined) return [];
  const all = [...before, { ...countedOf(made), ...retryFacts(made), experiment }];
  return agreedRun(all) ?? runExperiment(state, experiment, all);
}

function repeatIn(state: Certification): Repeat {
  return async (planned, variant, isAlone) => {
    const made = await runIn(state, planned, variant, undefined, { isAlone });
    state.tools.progress.tried();
    const failed = made !== undefined && made.outcome !== "passed";
    return { failed, lastPath: (statuses) => made?.lastOn(statuses)?.pathId };
  };
}

function conclude(state: Certification, planned: PlannedRun, narrowed: Narrowed): void {
  const known = state.done.get(planned.name);
  // Repeated runs that were stopped or not made show nothing.
  if (known === undefined || state.tools.isStopped() || !isInTime(state)) return;
  if (narrowed === "disturbed") {
    if (state.disturbed.length === 0) state.tools.separate(planned);
    state.disturbed.push(known.run.fault ? { ...planned, fault: known.run.fault } : planned);
    return;
  }
  known.run = { ...known.run, ...(narrowed === "flaky" ? { outcome: "flaky" } : { cause: narrowed }) };
  state.tools.progress.found(known.run);
}

function runOf(planned: PlannedRun, made: ClientRun, baseline: Pick<RunFacts, "sent">): Run {
  const { outcome, code, durationMs, lastRequest, report } = made;
  const { requests, coverage } = report;
  const known = { ...planned, outcome, code, durationMs, requests, percent: coverage.percent };
  const run = lastRequest === undefined ? known : { ...known, lastRequest };
  if (outcome !== "passed") return run;
  const reason = whyNoEvidence(baseline, made, purposeOf(planned));
  return reason === undefined ? run : { ...run, outcome: "not_tried", reason };
}

function purposeOf({ profile, fault }: PlannedRun): Purpose {
  if (fault !== undefined) return "fault";
  return profile === "minimal" ? "requests" : "points";
}

function notRun(planned: PlannedRun): Run {
  return { ...planned, outcome: "not_run", code: null, durationMs: 0, requests: 0, percent: 0 };
}

function countedOf({ sent, outcome }: ClientRun): CountedRun {
  return { sent, failed: outcome !== "passed", isTimedOut: outcome === "timed_out" };
}
