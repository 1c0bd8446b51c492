import { faultsOn } from "../api/faults.js";
import { type BrokenPromise, brokenPromises, promisesOn } from "../api/promises.js";
import { pluralize } from "../report/plain-text.js";
import { mergeReports } from "../report/report.js";
import type { Report } from "../report/report-shape.js";
import { assumptionTable } from "../rules/assumptions.js";
import type { FaultPathId } from "../rules/fault-effects.js";
import { isSuccess, type PathId } from "../rules/outcomes.js";
import type { Experiment, RunConditions } from "../sandbox/conditions.js";
import { hasFailed } from "./brief.js";
import { judgedPaths, noWrites, type RunFacts } from "./evidence.js";
import { type Narrowed, narrowFault, narrowVaried, type Repeat } from "./narrow.js";
import {
  causedRun,
  faultCause,
  longestWait,
  needsCause,
  type PlannedRun,
  timeoutsFor,
  typicalAssumptions,
  verdictOf,
} from "./plan.js";
import {
  notTriedIn,
  type OpenParts,
  promiseRun,
  promisesIn,
  type UnjudgedWrites,
  unmetGates,
  whyTooLittle,
} from "./promises.js";
import type { CertifyResult, PromiseRun, Run } from "./result.js";
import {
  type CountedRun,
  confirmedRuns,
  controlFor,
  type ExperimentRun,
  experimentsFor,
  isOver,
  minWait,
  retryFacts,
  retryResults,
  withRetries,
} from "./retries.js";
import {
  type CertificationPlan,
  type ClientRun,
  countedOf,
  notRun,
  type RunLimits,
  runOf,
  type Tools,
} from "./runs.js";

/** What a certification found out about a client. */
export interface Certification {
  readonly runs: readonly [Run, ...Run[]];
  readonly promises: CertifyResult["promises"];
  /** `undefined` if no experiment with retries was wanted. */
  readonly retries: CertifyResult["retries"];
  readonly open: OpenParts;
  /** The merged report of all runs without a broken promise; `undefined` if not even the first run ended. */
  readonly report: Report | undefined;
  /** Why the client could not be started. */
  readonly failure: ClientRun["failure"];
  /** The scenarios of its sandboxes. */
  readonly scenarios: readonly string[];
  /** The last lines of a run's output. */
  readonly outputOf: (run: Pick<Run, "name">) => readonly string[];
  readonly durationMs: number;
}

interface DoneRun {
  run: Run;
  readonly clientRun: ClientRun;
}

/** The runs so far: many are under way at the same time, and each is recorded as it ends. */
interface CertificationState {
  readonly plan: CertificationPlan;
  readonly tools: Tools;
  readonly started: number;
  /** The runs of the plan that were made, by name. */
  readonly done: Map<string, DoneRun>;
  /** The writes that a client may give up under these faults. */
  readonly unjudged: UnjudgedWrites[];
  /** The runs that failed next to another, and passed alone. */
  readonly disturbed: PlannedRun[];
  /** Whether a failure has ended the certification. */
  isOver: boolean;
}

/** What runs with a broken promise, and experiments with retries, found out; no experiments if none is wanted. */
interface Trials {
  readonly broken: readonly PromiseRun[];
  readonly experiments: readonly ExperimentRun[] | undefined;
}

export async function certify(plan: CertificationPlan, tools: Tools): Promise<Certification> {
  const state: CertificationState = {
    plan,
    tools,
    started: tools.stopwatch(),
    done: new Map(),
    unjudged: [],
    disturbed: [],
    isOver: false,
  };
  await runBaseline(state);
  const baseline = usableBaseline(state);
  if (baseline === undefined) return certificationOf(state, [], undefined);
  const trials = await runOthers(state, baseline);
  await findCauses(state);
  const { broken, experiments } = state.disturbed.length === 0 ? trials : await repeatAlone(state, trials);
  const retries = experiments && (await retriesIn(state, experiments));
  return certificationOf(state, broken, retries);
}

function certificationOf(
  state: CertificationState,
  broken: readonly PromiseRun[],
  retries: CertifyResult["retries"],
): Certification {
  const { plan, tools, started, done, unjudged } = state;
  const clientRuns = [...done.values()].map(({ clientRun }) => clientRun);
  const [report, ...reports] = clientRuns.map((clientRun) => clientRun.report);
  const runs = plan.runs.map((planned) => causedRun(done.get(planned.name)?.run ?? notRun(planned)));
  const varied = clientRuns.flatMap(({ points }) => points.map(({ row }) => row));
  const unvaried = new Set(clientRuns.flatMap((clientRun) => clientRun.unvaried));
  return {
    runs: runs as [Run, ...Run[]],
    promises: promisesIn(plan.kinds, broken),
    retries,
    open: { unjudged, unvaried: [...unvaried].filter((name) => !varied.includes(name)) },
    report: report && withRetries(mergeReports([report, ...reports]), retries),
    failure: baselineIn(state)?.clientRun.failure,
    scenarios: [...new Set(clientRuns.flatMap(({ scenarios }) => scenarios))],
    outputOf: ({ name }) => done.get(name)?.clientRun.output ?? [],
    durationMs: Math.round(tools.stopwatch() - started),
  };
}

type FindingName =
  | "durationMs"
  | "runs"
  | "promises"
  | "retries"
  | "unmet"
  | "report"
  | "notTried"
  | "verdict";

/** Returns the result of a certification, with what else its certificate states; `undefined` if not even the first run ended. */
export function resultOf(
  { runs, promises, retries, open, report, durationMs }: Certification,
  { endpoints, only }: Pick<CertificationPlan, "endpoints" | "only">,
  { gates, ...about }: Omit<CertifyResult, FindingName>,
): CertifyResult | undefined {
  if (report === undefined) return undefined;
  const isSeen = runs[0].outcome === "passed" && whyTooLittle(report) === undefined;
  const facts = {
    ...about,
    durationMs,
    runs,
    promises,
    ...(retries && { retries }),
    gates,
    unmet: isSeen ? unmetGates(report, promises, gates) : [],
    report,
  };
  return { ...facts, notTried: notTriedIn(facts, only, endpoints, open), verdict: verdictOf(facts) };
}

async function runBaseline(state: CertificationState): Promise<void> {
  const { plan, tools } = state;
  const [baseline] = plan.runs;
  await runPlanned(state, baseline);
  const first = baselineIn(state);
  if (first?.run.outcome !== "failed" || first.clientRun.failure !== undefined) return;
  tools.progress.begin("Running minimal again");
  const repeat = repeatIn(state);
  const fails = async (run: PlannedRun, conditions: RunConditions = {}) =>
    (await repeat(run, conditions)).failed;
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

const baselineIn = ({ plan, done }: CertificationState): DoneRun | undefined => done.get(plan.runs[0].name);

/** Returns the baseline if it passes, and covers enough to conclude something from it. */
function usableBaseline(state: CertificationState): DoneRun | undefined {
  const baseline = baselineIn(state);
  if (baseline?.run.outcome !== "passed") return undefined;
  return whyTooLittle(baseline.clientRun.report) === undefined ? baseline : undefined;
}

function coveredPaths(state: CertificationState): PathId[] {
  const { paths = [] } = baselineIn(state)?.clientRun.report ?? {};
  return paths.flatMap(({ promised, covered, pathId }) =>
    covered && (promised || isSuccess(pathId)) ? pathId : [],
  );
}

/** Makes the other runs of the plan, and those with a broken promise or an experiment. */
async function runOthers(state: CertificationState, baseline: DoneRun): Promise<Trials> {
  const { plan, tools } = state;
  const { only, kinds, jobs } = plan;
  const [, ...others] = plan.runs;
  const covered = coveredPaths(state);
  const promises =
    only === undefined ? promisesOn(covered, kinds) : brokenPromises.filter(({ id }) => only.includes(id));
  const findsRetries = only?.includes("retries") ?? true;
  const experiments = findsRetries ? experimentsFor(countedOf(baseline.clientRun), plan.runs[0].seed) : [];
  const total = others.length + promises.length + experiments.length;
  if (total > 0) {
    const seconds = Math.ceil((total * baseline.run.durationMs) / jobs / 1000);
    tools.progress.begin(`${pluralize(total, "more run")}: about ${seconds} s`);
  }
  // They start in this order. The seeds, the most runs, come last.
  const isSeed = ({ profile }: PlannedRun) => profile === "varied";
  const [, broken, experimentRuns] = await Promise.all([
    Promise.all(others.filter((one) => !isSeed(one)).map((one) => runPlanned(state, one))),
    Promise.all(promises.map((one) => runWithBrokenPromise(state, one))),
    Promise.all(experiments.map((one) => runExperiment(state, one))),
    Promise.all(others.filter(isSeed).map((one) => runPlanned(state, one))),
  ]);
  return { broken, experiments: findsRetries ? experimentRuns.flat() : undefined };
}

/** What experiments show about the client's retries. */
async function retriesIn(
  state: CertificationState,
  experiments: readonly ExperimentRun[],
): Promise<CertifyResult["retries"]> {
  const { done, plan } = state;
  const plain = [...done.values()].flatMap(({ run, clientRun }) =>
    run.fault || run.outcome !== "passed" ? [] : countedOf(clientRun),
  );
  const [baseline, ...others] = plain as [CountedRun, ...CountedRun[]];
  const better = experimentsFor(baseline, plan.runs[0].seed, others);
  const evenExperiments = await withEvenKey(state, experiments, better);
  const control = controlFor(baseline, evenExperiments);
  const [controlRun] = control === undefined ? [] : await runExperiment(state, control);
  return retryResults([baseline, ...others], evenExperiments, controlRun);
}

/** The baseline does not show which keys the runs send equally often: makes the experiments again if they have a better key. */
async function withEvenKey(
  state: CertificationState,
  experiments: readonly ExperimentRun[],
  better: readonly Experiment[],
): Promise<readonly ExperimentRun[]> {
  const [first] = experiments;
  const [target] = better;
  if (first === undefined || target === undefined) return experiments;
  if (first.experiment.key === target.key && first.experiment.nth === target.nth) return experiments;
  return (await Promise.all(better.map((experiment) => runExperiment(state, experiment)))).flat();
}

/** Narrows down why runs fail: each gets its cause, is flaky, or was disturbed by another run. */
async function findCauses(state: CertificationState): Promise<void> {
  const { plan, tools, done } = state;
  const failing = plan.runs.flatMap((run) => {
    const clientRun = done.get(run.name)?.clientRun;
    // A record that was created twice is a cause already.
    if (clientRun === undefined || clientRun.outcome === "passed" || done.get(run.name)?.run.cause) return [];
    const { points, isShared } = clientRun;
    return [{ run: { ...run, isLate: clientRun.outcome === "timed_out" }, clientRun, points, isShared }];
  });
  if (failing.length > 0) tools.progress.begin(`Narrowing down why ${failing.length} of them fail`);
  const varied = failing.filter(({ run }) => run.fault === undefined);
  const passingPoints = [...done.values()].flatMap(({ run, clientRun }) =>
    run.outcome === "passed" ? clientRun.points : [],
  );
  await narrowVaried(varied, passingPoints, repeatIn(state), (run, narrowed) =>
    conclude(state, run, narrowed),
  );
  const isOnce = (path: PathId | undefined) => path !== undefined && writesOf(state).once.has(path);
  const byFault = failing.map(
    async ({ run: { fault, ...run }, clientRun: { suspect, outcome, isShared } }) => {
      if (fault === undefined) return;
      // A client that waits takes its whole time in each attempt, and no attempt shows more.
      if (fault === "fault.hang" && outcome === "timed_out")
        return conclude(
          state,
          run,
          faultCause(fault, {
            path: suspect,
            isOnce: isOnce(suspect),
            waitedMs: plan.timeout ?? longestWait,
          }),
        );
      const paths = judgedPaths(coveredPaths(state), fault, writesOf(state));
      const judged = paths.find((path) => path === suspect);
      const faulty = { ...run, fault, isShared };
      conclude(state, run, await narrowFault(faulty, paths, judged, repeatIn(state)));
    },
  );
  await Promise.all(byFault);
}

/** Without others, as a run failed only next to another: the rest of what had to fail may have failed for this reason, too. */
async function repeatAlone(state: CertificationState, trials: Trials): Promise<Trials> {
  const { disturbed, done } = state;
  for (const planned of disturbed) {
    await runPlanned(state, planned);
    const { run } = done.get(planned.name) ?? {};
    if (run && hasFailed(run)) conclude(state, planned, "flaky");
  }
  const broken: PromiseRun[] = [];
  for (const run of trials.broken) {
    const promise = run.outcome === "noticed" && brokenPromises.find(({ id }) => id === run.id);
    broken.push(promise ? await runWithBrokenPromise(state, promise) : run);
  }
  if (trials.experiments === undefined) return { broken, experiments: undefined };
  const experiments: ExperimentRun[] = [];
  for (const { experiment } of trials.experiments)
    experiments.push(...(await runExperiment(state, experiment)));
  return { broken, experiments };
}

function runIn(
  state: CertificationState,
  planned: PlannedRun,
  conditions: RunConditions,
  isWanted = () => true,
  { min = 0, ...limits }: Pick<RunLimits, "isOver" | "isAlone"> & { readonly min?: number } = {},
): Promise<ClientRun | undefined> {
  const { plan, tools } = state;
  const baselineMs = baselineIn(state)?.run.durationMs;
  const facts = { timeout: plan.timeout, baselineMs, paths: coveredPaths(state), min };
  const timeouts = timeoutsFor(planned, facts);
  return tools.run(planned, conditions, {
    ...limits,
    timeouts,
    isWanted: () => isWanted() && isInTime(state),
  });
}

// The baseline is always made.
function isInTime(state: CertificationState): boolean {
  const { budget = Number.POSITIVE_INFINITY } = state.plan;
  return state.tools.stopwatch() - state.started < budget || baselineIn(state) === undefined;
}

async function runPlanned(state: CertificationState, planned: PlannedRun): Promise<void> {
  const { plan, tools, done } = state;
  const { fault } = planned;
  const conditions = fault === undefined ? {} : { faults: faultsOn(coveredPaths(state), fault) };
  const clientRun = await runIn(state, planned, conditions, () => !state.isOver);
  if (clientRun === undefined) return;
  const judged =
    fault === undefined ? { clientRun } : await judgeWrites(state, { ...planned, fault }, clientRun);
  if (judged.clientRun === undefined) return;
  const run = { ...runOf(planned, judged.clientRun, sentIn(state)), ...judged.judgment };
  done.set(planned.name, { run, clientRun: judged.clientRun });
  if (hasFailed(run)) state.isOver ||= plan.bail === true;
  if (clientRun.failure === undefined) tools.progress.ran(run);
}

/** What the baseline sent; nothing before it was made. */
const sentIn = (state: CertificationState): Pick<RunFacts, "sent"> =>
  baselineIn(state)?.clientRun ?? { sent: [] };

const writesOf = (state: CertificationState) => baselineIn(state)?.clientRun.writes ?? noWrites;

/** Judges a run with a fault by its exit code, if the client could not give up a write that it must not repeat. */
async function judgeWrites(
  state: CertificationState,
  planned: PlannedRun & { readonly fault: FaultPathId },
  clientRun: ClientRun,
): Promise<{
  readonly clientRun: ClientRun | undefined;
  readonly judgment?: Pick<Run, "outcome" | "cause">;
}> {
  const { fault } = planned;
  const covered = coveredPaths(state);
  const paths = judgedPaths(covered, fault, writesOf(state));
  if (clientRun.outcome !== "failed" || paths.length === covered.length) return { clientRun };
  state.unjudged.push({ fault, paths: covered.filter((one) => !paths.includes(one)) });
  return { clientRun: await runIn(state, planned, { faults: faultsOn(paths, fault) }) };
}

async function runWithBrokenPromise(state: CertificationState, promise: BrokenPromise): Promise<PromiseRun> {
  const { plan, tools } = state;
  const clientRun = await runIn(state, plan.runs[0], { promise: promise.id }, () => !state.isOver);
  const run = promiseRun(promise, clientRun, sentIn(state));
  if (clientRun !== undefined) tools.progress.broke(run);
  if (run.kind === "swap" && run.outcome === "not_noticed") state.isOver ||= plan.bail === true;
  return run;
}

async function runExperiment(
  state: CertificationState,
  experiment: Experiment,
  before: readonly ExperimentRun[] = [],
): Promise<ExperimentRun[]> {
  const { plan, tools } = state;
  const more = { isOver, min: minWait(experiment) };
  const clientRun = await runIn(state, plan.runs[0], { experiment }, undefined, more);
  tools.progress.tried();
  if (clientRun === undefined) return [];
  const all = [...before, { ...countedOf(clientRun), ...retryFacts(clientRun), experiment }];
  return confirmedRuns(all) ?? runExperiment(state, experiment, all);
}

function repeatIn(state: CertificationState): Repeat {
  return async (planned, conditions, isAlone) => {
    const clientRun = await runIn(state, planned, conditions, undefined, { isAlone });
    state.tools.progress.tried();
    const failed = clientRun !== undefined && clientRun.outcome !== "passed";
    return { failed, lastPath: (statuses) => clientRun?.lastOn(statuses)?.pathId };
  };
}

function conclude(state: CertificationState, planned: PlannedRun, narrowed: Narrowed): void {
  const record = state.done.get(planned.name);
  // Repeated runs that were stopped or not made show nothing.
  if (record === undefined || state.tools.isStopped() || !isInTime(state)) return;
  if (narrowed === "disturbed") {
    if (state.disturbed.length === 0) state.tools.separate(planned);
    state.disturbed.push(record.run.fault ? { ...planned, fault: record.run.fault } : planned);
    return;
  }
  record.run = { ...record.run, ...(narrowed === "flaky" ? { outcome: "flaky" } : { cause: narrowed }) };
  state.tools.progress.found(record.run);
}
