import { faultsOn, sendsPage } from "../api/faults.js";
import type { FaultPathId } from "../rules/fault-effects.js";
import type { PathId } from "../rules/outcomes.js";
import type { RunConditions } from "../sandbox/conditions.js";
import {
  everywhere,
  faultCause,
  includesAll,
  type PlannedRun,
  variationCause,
  whereTheyWere,
} from "./plan.js";
import type { CausePoint, RunCause } from "./result.js";

/** Makes a run again; alone: without another run at the same time. */
export type Repeat = (run: PlannedRun, conditions: RunConditions, isAlone?: boolean) => Promise<RepeatedRun>;

interface RepeatedRun {
  readonly failed: boolean;
  readonly lastPath: (statuses: readonly number[]) => PathId | undefined;
}

/** The minimal cause of a run's failure; `flaky` if the run does not fail each time, `disturbed` if it fails only next to others. */
export type Narrowed = RunCause | "flaky" | "disturbed";

interface FailingRun {
  readonly run: PlannedRun;
  readonly points: readonly CausePoint[];
  /** Whether another run was under way at the same time. */
  readonly isShared?: boolean | undefined;
}

/** Finds a cause of each failing run, one after the other. Points that a passing run had are tried last. */
export async function narrowVaried(
  failing: readonly FailingRun[],
  passingPoints: readonly CausePoint[],
  repeat: Repeat,
  onNarrowed: (run: PlannedRun, narrowed: Narrowed) => void,
): Promise<void> {
  const isSuspect = (point: CausePoint) => !includesAll(passingPoints, [point]);
  const suspectsIn = ({ points }: FailingRun) => rowsOf(points.filter(isSuspect));
  const countOf = (one: FailingRun) => suspectsIn(one).length;
  const [first, ...others] = failing.toSorted((one, other) => countOf(one) - countOf(other));
  if (first === undefined) return;
  if (first.isShared && !(await repeat(first.run, {}, true)).failed) {
    onNarrowed(first.run, "disturbed");
    return narrowVaried(others, passingPoints, repeat, onNarrowed);
  }
  // The rows that most of the failing runs have are tried first.
  const suspects = failing.flatMap(suspectsIn);
  const rankOf = (point: CausePoint) =>
    isSuspect(point) ? suspects.filter((row) => row === point.row).length : 0;
  const points = first.points.toSorted((one, other) => rankOf(other) - rankOf(one));
  const [cause, only] = await causeOf({ ...first, points }, points.filter(isSuspect).length, repeat);
  if (cause === "flaky") return narrowUnclear(first, others, passingPoints, repeat, onNarrowed);
  onNarrowed(first.run, cause);
  if (cause.points.length === 0) return narrowVaried(others, passingPoints, repeat, onNarrowed);
  const rows = rowsOf(cause.points);
  // What one run shows about some points is not tried again with another run.
  const tried = new Map([[JSON.stringify(cause.points), Promise.resolve<RunCause | undefined>(cause)]]);
  const show = async (some: readonly CausePoint[], run: PlannedRun) => {
    const { failed, lastPath } = await repeat(run, only(some));
    return failed ? variationCause(some, run, lastPath(some.map(({ status }) => status))) : undefined;
  };
  // Other variants of the same rows have the same remedy, also on other statuses.
  const open = others.map(async (one) => {
    const { run, points } = one;
    const inRows = points.filter(({ row }) => rows.includes(row));
    const alike = inRows.filter(({ status }) => cause.points.some((point) => point.status === status));
    for (const some of [includesAll(points, cause.points) ? cause.points : alike, inRows]) {
      if (rowsOf(some).length < rows.length) continue;
      const id = JSON.stringify(some);
      const shown = tried.get(id) ?? show(some, run);
      tried.set(id, shown);
      const found = await shown;
      if (found !== undefined) return onNarrowed(run, found);
    }
    return one;
  });
  const left = (await Promise.all(open)).flatMap((one) => one ?? []);
  return narrowVaried(left, passingPoints, repeat, onNarrowed);
}

/** Narrows the other runs before one that does not fail each time, and then tries whether one of their causes is also its own. */
async function narrowUnclear(
  { run, points }: FailingRun,
  others: readonly FailingRun[],
  passingPoints: readonly CausePoint[],
  repeat: Repeat,
  onNarrowed: (run: PlannedRun, narrowed: Narrowed) => void,
): Promise<void> {
  const causes = new Map<string, readonly string[]>();
  await narrowVaried(others, passingPoints, repeat, (other, narrowed) => {
    if (typeof narrowed === "object") causes.set(rowsOf(narrowed.points).join(), rowsOf(narrowed.points));
    onNarrowed(other, narrowed);
  });
  for (const rows of causes.values()) {
    const inRows = points.filter(({ row }) => rows.includes(row));
    if (inRows.length === 0 || rowsOf(inRows).length < rows.length) continue;
    const [shown, bare] = await Promise.all([repeat(run, everywhere(inRows)), repeat(run, everywhere([]))]);
    if (shown.failed && !bare.failed)
      return onNarrowed(run, variationCause(inRows, run, shown.lastPath(inRows.map(({ status }) => status))));
  }
  onNarrowed(run, "flaky");
}

const rowsOf = (points: readonly CausePoint[]) => [...new Set(points.map(({ row }) => row))];

/** Returns the cause of a run, and the variation that shows it; the first `likely` of its points are the most likely ones. */
async function causeOf(
  { run, points }: FailingRun,
  likely: number,
  repeat: Repeat,
): Promise<[RunCause | "flaky", typeof everywhere]> {
  const fails = async (conditions: RunConditions) => (await repeat(run, conditions)).failed;
  const causeIn = async (only: typeof everywhere): Promise<[RunCause, typeof everywhere] | undefined> => {
    const enough = await minimize(points, (part) => fails(only(part)), likely);
    const alone = await aloneIn(enough, (part) => fails(everywhere(part)));
    const [smallest, where] = alone === undefined ? [enough, only] : [alone, everywhere];
    // Also without any point: a client that fails by chance must not get a cause.
    const [shown, isBare] = await Promise.all([repeat(run, where(smallest)), fails(everywhere([]))]);
    if (!shown.failed || isBare) return undefined;
    return [variationCause(smallest, run, shown.lastPath(smallest.map(({ status }) => status))), where];
  };
  const [again, bare] = await Promise.all([fails({}), fails(everywhere([]))]);
  const all = () => fails(everywhere(points));
  if (bare) {
    const isSeed = again && (await all()) && (await fails(everywhere([])));
    return [isSeed ? variationCause([], run) : "flaky", everywhere];
  }
  // On every response, points could break the client where this run did not. But the order of requests may differ each time.
  const where = again ? await causeIn(whereTheyWere) : undefined;
  return where ?? ((await all()) ? await causeIn(everywhere) : undefined) ?? ["flaky", everywhere];
}

/**
 * Returns the first of several points, or of their rows, that fails alone. To minimize supposes that more points never help,
 * but one more member may hide an order, and requests that come in another order each time do not show each point.
 */
async function aloneIn(
  points: readonly CausePoint[],
  fails: (part: readonly CausePoint[]) => Promise<boolean>,
): Promise<readonly CausePoint[] | undefined> {
  if (points.length < 2) return undefined;
  const firstFailing = async (parts: readonly (readonly CausePoint[])[]) => {
    const failed = await Promise.all(parts.map(fails));
    return parts[failed.indexOf(true)];
  };
  const rows = rowsOf(points);
  const ofRow = await firstFailing(rows.map((row) => points.filter((point) => point.row === row)));
  if (ofRow === undefined || ofRow.length === 1) return ofRow;
  return (await firstFailing(ofRow.map((point) => [point]))) ?? ofRow;
}

/** Finds the covered path where a fault breaks the client. `suspect` is a path where the fault affected the failing run. */
export async function narrowFault(
  run: PlannedRun & Pick<FailingRun, "isShared"> & { readonly fault: FaultPathId },
  paths: readonly PathId[],
  suspect: PathId | undefined,
  repeat: Repeat,
): Promise<Narrowed> {
  const { fault, isShared, ...plain } = run;
  if (isShared && !(await repeat(run, { faults: faultsOn(paths, fault) }, true)).failed) return "disturbed";
  const fails = async (some: readonly PathId[]) =>
    some.length > 0 && (await repeat(run, { faults: faultsOn(some, fault) })).failed;
  const besides = (path: PathId | undefined) => paths.filter((one) => one !== path);
  const [failsAlone, othersFail] = await Promise.all([
    suspect !== undefined && fails([suspect]),
    fails(besides(suspect)),
  ]);
  if (!failsAlone && !othersFail && !(await fails(paths))) return "flaky";
  const [path, ...more] = failsAlone
    ? [suspect]
    : await minimize(othersFail ? besides(suspect) : paths, fails);
  const isOne = more.length === 0 && !(failsAlone ? othersFail : await fails(besides(path)));
  const guilty = isOne && path !== undefined ? [path] : paths;
  // Also without the fault: a client that fails by chance must not get a cause.
  const [again, bare] = await Promise.all([fails(guilty), repeat(plain, {})]);
  if (!again || bare.failed) return "flaky";
  const plainBodies = paths.filter((one) => !sendsPage(one));
  const isPage =
    fault === "fault.status" && (isOne && path !== undefined ? sendsPage(path) : !(await fails(plainBodies)));
  return faultCause(fault, { path: isOne ? path : undefined, isPage });
}

const maxAttempts = 200;

/**
 * Returns a minimal failing part of items that fail together; an empty list must pass. Stops after 200 attempts with what it has.
 * Delta debugging (Zeller and Hildebrandt, 2002), which finds each needed item by bisection (Hemery and others, 2006).
 */
export async function minimize<Item>(
  items: readonly Item[],
  fails: (some: readonly Item[]) => Promise<boolean>,
  likely = items.length >> 1,
): Promise<readonly Item[]> {
  let needed: readonly Item[] = [];
  let left = items;
  let guess = likely;
  let attempts = 0;
  for (;;) {
    // The last item of the shortest beginning that fails with the needed items is needed as well.
    let [passing, failing] = [0, left.length];
    while (failing - passing > 1) {
      if (attempts++ === maxAttempts) return [...left.slice(0, failing), ...needed];
      const at = passing < guess && guess < failing ? guess : (passing + failing) >> 1;
      guess = 0;
      if (await fails([...left.slice(0, at), ...needed])) failing = at;
      else passing = at;
    }
    needed = [...left.slice(failing - 1, failing), ...needed];
    left = left.slice(0, failing - 1);
    if (left.length === 0) return needed;
    if (attempts++ === maxAttempts) return [...left, ...needed];
    if (await fails(needed)) return needed;
  }
}
