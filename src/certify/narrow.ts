import type { FaultPathId, PathId } from "../domain/outcomes.js";
import type { Trial } from "../sandbox/world.js";
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

export interface Attempted {
  readonly failed: boolean;
  /** The path of the last request that was answered with one of the statuses. */
  readonly lastPath: (statuses: readonly number[]) => PathId | undefined;
}

/** The least that makes a run fail; `flaky` when it does not fail each time. */
export type Narrowed = RunCause | "flaky";

interface FailingRun {
  readonly run: PlannedRun;
  readonly points: readonly CausePoint[];
}

type Tell = (run: PlannedRun, narrowed: Narrowed) => void;

/**
 * Narrows down why runs with varied answers fail, one after the other. A run that passes without what broke an earlier one
 * fails for the same reason, which takes a single attempt to know.
 */
export async function narrowVaried(
  failing: readonly FailingRun[],
  attempt: Attempt,
  tell: Tell,
): Promise<void> {
  const guilty = new Set<string>();
  let open = failing.map((one) => ({ ...one, excluded: new Set<string>() }));
  for (let first = open.shift(); first !== undefined; first = open.shift()) {
    const found = await narrowOne(first, guilty, attempt);
    tell(first.run, found);
    if (found === "flaky" || found.points.length === 0) continue;
    for (const { row } of found.points) guilty.add(row);
    const excluded = new Set(guilty);
    const next = open.map(async (one) => {
      if (!includesAll(one.points, found.points)) return [one];
      if ((await attempt(one.run, without(excluded))).failed) {
        const points = one.points.filter(({ row }) => !excluded.has(row));
        return [{ ...one, points, excluded }];
      }
      tell(one.run, found);
      return [];
    });
    open = (await Promise.all(next)).flat();
  }
}

async function narrowOne(
  { run, points, excluded }: FailingRun & { readonly excluded: ReadonlySet<string> },
  guilty: ReadonlySet<string>,
  attempt: Attempt,
): Promise<Narrowed> {
  const fails = async (trial: Trial) => (await attempt(run, trial)).failed;
  const suspects = points.filter(({ row }) => guilty.has(row));
  const [again, bare, all, suspected] = await Promise.all([
    fails(without(excluded)),
    fails(everywhere([])),
    fails(everywhere(points)),
    suspects.length > 0 && fails(everywhere(suspects)),
  ]);
  if (bare) return again && all && (await fails(everywhere([]))) ? variationCause([], run) : "flaky";
  // Requests may come in another order, and get other variants then; some clients fail only when answers differ.
  if (!again && !all) return "flaky";
  const only = all || suspected ? everywhere : whereTheyWere;
  const least = await minimize(suspected ? suspects : points, (some) => fails(only(some)));
  const { failed, lastPath } = await attempt(run, only(least));
  // What passed once has to fail twice.
  if (!failed || (!again && !(await fails(only(least))))) return "flaky";
  return variationCause(least, run, lastPath(least.map(({ status }) => status)));
}

/** Narrows down on which of the paths that the client meets a fault breaks it. */
export async function narrowFault(
  run: PlannedRun & { readonly fault: FaultPathId },
  paths: readonly PathId[],
  attempt: Attempt,
): Promise<Narrowed> {
  const fails = async (some: readonly PathId[]) =>
    (await attempt(run, { faults: faultsOn(some, run.fault) })).failed;
  if (!(await fails(paths))) return "flaky";
  const [path] = await minimize(paths, fails);
  const others = paths.filter((one) => one !== path);
  return faultCause(run.fault, others.length > 0 && (await fails(others)) ? undefined : path);
}
