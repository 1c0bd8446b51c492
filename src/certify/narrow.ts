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

/** Makes a run again in another trial. */
export type Attempt = (run: PlannedRun, trial: Trial) => Promise<Attempted>;

interface Attempted {
  readonly failed: boolean;
  /** The path of the last request that was answered with one of the statuses. */
  readonly lastPath: (statuses: readonly number[]) => PathId | undefined;
  /** The points at which its answers differed from those of `minimal`. */
  readonly points: readonly CausePoint[];
}

/** The least that makes a run fail; `flaky` when it does not fail each time. */
export type Narrowed = RunCause | "flaky";

interface FailingRun {
  readonly run: PlannedRun;
  readonly points: readonly CausePoint[];
}

type OnFound = (run: PlannedRun, narrowed: Narrowed) => void;

interface OpenRun extends FailingRun {
  /** The rows of earlier causes without which it fails all the same. */
  readonly excluded: ReadonlySet<string>;
  /** Whether it passes without the rows of earlier causes, of which it has other points. */
  readonly isExplained: boolean;
}

/**
 * Narrows down why runs with varied answers fail, one after the other. A run that passes without the rows that broke an
 * earlier one fails for the same reason, which takes a single attempt to know.
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
        // A client that stopped at the earlier cause gets further now, to answers of which nothing was known.
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
    // Against nothing at all, too: a client that fails by chance must not get a cause.
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
  // Requests may come in another order, and get other variants then; some clients fail only when answers differ.
  if (!again && !all) return "flaky";
  return causeIn(points, all ? everywhere : whereTheyWere);
}

/**
 * Narrows down on which of the paths that the client meets a fault breaks it. `suspect` is one that the fault hit in the
 * failing run: a client that waits forever at it takes its whole time in each attempt, so that the first two may be enough.
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
