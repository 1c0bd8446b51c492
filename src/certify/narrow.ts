import type { Trial } from "../sandbox/sandbox.js";
import type { FaultPathId, PathId } from "../spec/outcomes.js";
import {
  butFor,
  everywhere,
  faultCause,
  faultsOn,
  includesAll,
  joinedCause,
  type PlannedRun,
  variationCause,
  whereTheyWere,
  without,
} from "./plan.js";
import type { CausePoint, RunCause } from "./result.js";

/** Repeats a run with another trial. */
export type Repeat = (run: PlannedRun, trial: Trial) => Promise<Attempted>;

interface Attempted {
  readonly failed: boolean;
  /** Returns the path of the last response with one of the statuses. */
  readonly lastPath: (statuses: readonly number[]) => PathId | undefined;
  /** The points where its responses differed from `minimal`. */
  readonly points: readonly CausePoint[];
}

/** The minimal cause of a run's failure; `flaky` if the run does not fail each time. */
export type Narrowed = RunCause | "flaky";

interface FailingRun {
  readonly run: PlannedRun;
  readonly points: readonly CausePoint[];
}

type OnFound = (run: PlannedRun, narrowed: Narrowed) => void;

/** A cause, and the variation with only some points that shows it. */
interface Found {
  readonly cause: RunCause;
  readonly only: typeof everywhere;
}

interface OpenRun extends FailingRun {
  /** The causes that break the run, and do not explain it completely. */
  readonly found: readonly Found[];
}

/**
 * Finds out why runs with varied responses fail, one after the other. A named cause breaks its run alone, and without all its
 * causes the run passes. If an earlier cause does this, two attempts show it.
 */
export async function narrowVaried(
  failing: readonly FailingRun[],
  attempt: Repeat,
  onFound: OnFound,
): Promise<void> {
  let open = failing.map((one): OpenRun => ({ ...one, found: [] }));
  /** Reports a run that is explained; resolves to what remains open. */
  const remaining = async ({ run, found }: OpenRun): Promise<OpenRun[]> => {
    const named = found.flatMap(({ cause }) => cause.points);
    const rows = new Set(named.map(({ row }) => row));
    const [rest, exact] = await Promise.all([attempt(run, without(rows)), attempt(run, butFor(named))]);
    if (rest.failed) return [{ run, points: rest.points, found }];
    // Other variants of these rows may also break the run.
    const others = exact.failed ? exact.points.filter(({ row }) => rows.has(row)) : [];
    const { only } = found[0] as Found;
    const more = others.map(async (point) => {
      const { failed, lastPath } = await attempt(run, only([point]));
      return failed ? [variationCause([point], run, lastPath([point.status]))] : [];
    });
    const causes = found.map(({ cause }) => cause);
    onFound(run, joinedCause([...causes, ...(await Promise.all(more)).flat()]));
    return [];
  };
  for (let first = open.shift(); first !== undefined; first = open.shift()) {
    const { run, found } = first;
    const next = await narrowOne(first, attempt);
    if (next === "flaky" || next.cause.points.length === 0) {
      const known = found.map(({ cause }) => cause);
      onFound(run, next !== "flaky" ? next.cause : known.length > 0 ? joinedCause(known) : next);
      continue;
    }
    const { cause, only } = next;
    const again = open.map(async (one): Promise<OpenRun[]> => {
      if (!includesAll(one.points, cause.points)) return [one];
      const isBroken = (await attempt(one.run, only(cause.points))).failed;
      return isBroken ? remaining({ ...one, found: [...one.found, next] }) : [one];
    });
    const [own = [], ...others] = await Promise.all([
      remaining({ ...first, found: [...found, next] }),
      ...again,
    ]);
    open = [...own, ...others.flat()];
  }
}

function rowsOf(found: readonly Found[]): ReadonlySet<string> {
  return new Set(found.flatMap(({ cause }) => cause.points.map(({ row }) => row)));
}

async function narrowOne({ run, points, found }: OpenRun, attempt: Repeat): Promise<Found | "flaky"> {
  const fails = async (trial: Trial) => (await attempt(run, trial)).failed;
  const excluded = rowsOf(found);
  const suspects = points.filter(({ row }) => !excluded.has(row));
  const causeIn = async (only: typeof everywhere): Promise<Found | undefined> => {
    const least = await minimize(suspects, (part) => fails(only(part)));
    // Also without any point: a client that fails by chance must not get a cause.
    const [shown, ...others] = await Promise.all([
      attempt(run, only(least)),
      fails(only(least)),
      fails(everywhere([])),
      fails(everywhere([])),
    ]);
    if (!shown.failed || others.join() !== "true,false,false") return undefined;
    return { cause: variationCause(least, run, shown.lastPath(least.map(({ status }) => status))), only };
  };
  const [again, bare, all] = await Promise.all([
    fails(without(excluded)),
    fails(everywhere([])),
    fails(everywhere(suspects)),
  ]);
  if (bare) {
    const isSeed = again && all && (await fails(everywhere([])));
    return isSeed ? { cause: variationCause([], run), only: everywhere } : "flaky";
  }
  // On every response, points could break the client where this run did not. But the order of requests may differ each time.
  const where = again ? await causeIn(whereTheyWere) : undefined;
  return where ?? (all ? await causeIn(everywhere) : undefined) ?? "flaky";
}

/**
 * Finds the covered path where a fault breaks the client. `suspect` is a path where the fault affected the failing run. A
 * client that waits forever takes its whole time in each attempt, so the first two attempts may be enough.
 */
export async function narrowFault(
  run: PlannedRun & { readonly fault: FaultPathId },
  paths: readonly PathId[],
  suspect: PathId | undefined,
  attempt: Repeat,
): Promise<Narrowed> {
  const fails = async (some: readonly PathId[]) =>
    some.length > 0 && (await attempt(run, { faults: faultsOn(some, run.fault) })).failed;
  const besides = (path: PathId | undefined) => paths.filter((one) => one !== path);
  const [isGuilty, areOthers] = await Promise.all([
    suspect !== undefined && fails([suspect]),
    fails(besides(suspect)),
  ]);
  if (isGuilty) return faultCause(run.fault, areOthers ? undefined : suspect);
  const guilty = areOthers ? besides(suspect) : paths;
  if (!areOthers && !(await fails(paths))) return "flaky";
  const [path] = await minimize(guilty, fails);
  return faultCause(run.fault, (await fails(besides(path))) ? undefined : path);
}

/**
 * Returns a minimal failing part of the items: without any one of its items, the rest passes (delta debugging, Zeller).
 *
 * All items together must fail, and an empty list must pass. Tries groups in parallel, and stops with its current result after
 * `budget` tries.
 */
export async function minimize<Item>(
  items: readonly Item[],
  fails: (some: readonly Item[]) => Promise<boolean>,
  budget = 200,
): Promise<readonly Item[]> {
  let left = items;
  let parts = 2;
  let asked = 0;
  const firstThatFails = async (candidates: readonly (readonly Item[])[]) => {
    asked += candidates.length;
    const failing = await Promise.all(candidates.map(fails));
    return candidates[failing.indexOf(true)];
  };
  while (left.length > 1 && asked < budget) {
    const size = Math.ceil(left.length / parts);
    const chunks = Array.from({ length: Math.ceil(left.length / size) }, (_, i) =>
      left.slice(i * size, (i + 1) * size),
    );
    const chunk = await firstThatFails(chunks);
    if (chunk !== undefined) {
      left = chunk;
      parts = 2;
      continue;
    }
    // With two chunks, the complement of one is the other.
    const rests = parts === 2 ? [] : chunks.map((one) => left.filter((item) => !one.includes(item)));
    const rest = await firstThatFails(rests);
    if (rest !== undefined) {
      left = rest;
      parts = Math.max(2, parts - 1);
    } else if (parts >= left.length) break;
    else parts = Math.min(left.length, parts * 2);
  }
  return left;
}
