import type { FaultPathId, PathId } from "../domain/outcomes.js";
import type { Trial } from "../world/world.js";
import { minimize } from "./minimize.js";
import {
  everywhere,
  faultCause,
  faultsOn,
  includesAll,
  type PlannedRun,
  variationCause,
  whereTheyWere,
  without,
} from "./plan.js";
import type { CausePoint, RunCause } from "./result.js";

/** Repeats a run with another trial. */
export type Attempt = (run: PlannedRun, trial: Trial) => Promise<Attempted>;

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

interface OpenRun extends FailingRun {
  /** The rows of earlier causes that the run does not need to fail. */
  readonly excluded: ReadonlySet<string>;
  /** Whether it passes without the rows of earlier causes, although its points in them differ. */
  readonly isExplained: boolean;
}

/**
 * Finds out why runs with varied responses fail, one after the other. A run that passes without the rows of an earlier
 * cause fails for the same reason, which takes a single attempt to show.
 */
export async function narrowVaried(
  failing: readonly FailingRun[],
  attempt: Attempt,
  onFound: OnFound,
): Promise<void> {
  const guilty = new Set<string>();
  const causes: RunCause[] = [];
  let open = failing.map((one): OpenRun => ({ ...one, excluded: new Set(), isExplained: false }));
  for (let first = open.shift(); first !== undefined; first = open.shift()) {
    const found = await narrowOne(first, guilty, attempt);
    onFound(first.run, found);
    if (found === "flaky" || found.points.length === 0) continue;
    causes.push(found);
    for (const { row } of found.points) guilty.add(row);
    const excluded = new Set(guilty);
    const next = open.map(async (one): Promise<OpenRun[]> => {
      const { run, points } = one;
      if (!points.some(({ row }) => guilty.has(row))) return [one];
      if (!one.isExplained) {
        // A client that stopped at the earlier cause now continues, to responses that it had not reached.
        const further = await attempt(run, without(excluded));
        if (further.failed) return [{ ...one, points: further.points, excluded }];
      }
      const known = causes.find((cause) => includesAll(points, cause.points));
      if (known === undefined) return [{ ...one, isExplained: true }];
      onFound(run, known);
      return [];
    });
    open = (await Promise.all(next)).flat();
  }
}

async function narrowOne(
  { run, points, excluded, isExplained }: OpenRun,
  guilty: ReadonlySet<string>,
  attempt: Attempt,
): Promise<Narrowed> {
  const fails = async (trial: Trial) => (await attempt(run, trial)).failed;
  const suspects = points.filter(({ row }) => guilty.has(row));
  const causeIn = async (some: readonly CausePoint[], only: typeof everywhere) => {
    const least = await minimize(some, (part) => fails(only(part)));
    // Also without any point: a client that fails by chance must not get a cause.
    const [shown, ...others] = await Promise.all([
      attempt(run, only(least)),
      isExplained || fails(only(least)),
      !isExplained && fails(everywhere([])),
      !isExplained && fails(everywhere([])),
    ]);
    if (!shown.failed || others.join() !== "true,false,false") return "flaky";
    return variationCause(least, run, shown.lastPath(least.map(({ status }) => status)));
  };
  if (isExplained && (await fails(everywhere(suspects)))) return causeIn(suspects, everywhere);
  const [again, bare, all] = await Promise.all([
    fails(without(excluded)),
    fails(everywhere([])),
    fails(everywhere(points)),
  ]);
  if (bare) return again && all && (await fails(everywhere([]))) ? variationCause([], run) : "flaky";
  // Requests may come in another order and get other variants. Some clients fail only if responses differ.
  if (!again && !all) return "flaky";
  return causeIn(points, all ? everywhere : whereTheyWere);
}

/**
 * Finds the covered path where a fault breaks the client. `suspect` is a path where the fault affected the failing run. A
 * client that waits forever takes its whole time in each attempt, so the first two attempts may be enough.
 */
export async function narrowFault(
  run: PlannedRun & { readonly fault: FaultPathId },
  paths: readonly PathId[],
  suspect: PathId | undefined,
  attempt: Attempt,
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
