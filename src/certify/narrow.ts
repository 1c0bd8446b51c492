import type { Trial } from "../sandbox/sandbox.js";
import type { FaultPathId } from "../spec/fault-effects.js";
import type { PathId } from "../spec/outcomes.js";
import {
  everywhere,
  faultCause,
  faultsOn,
  includesAll,
  type PlannedRun,
  variationCause,
  whereTheyWere,
} from "./plan.js";
import type { CausePoint, RunCause } from "./result.js";

export type Repeat = (run: PlannedRun, trial: Trial) => Promise<Repeated>;

interface Repeated {
  readonly failed: boolean;
  readonly lastPath: (statuses: readonly number[]) => PathId | undefined;
}

/** The minimal cause of a run's failure; `flaky` if the run does not fail each time. */
export type Narrowed = RunCause | "flaky";

interface FailingRun {
  readonly run: PlannedRun;
  /** The points where its responses differed from `minimal`. */
  readonly points: readonly CausePoint[];
}

/** A cause, and the variation with only some points that shows it. */
interface Found {
  readonly cause: RunCause;
  readonly only: typeof everywhere;
}

/**
 * Finds a cause of each run with varied responses that fails, one run after the other. A named cause breaks its run alone. If the
 * cause of an earlier run does, one attempt shows it. Points that a passing run had, the innocent ones, are tried last.
 */
export async function narrowVaried(
  failing: readonly FailingRun[],
  innocent: readonly CausePoint[],
  repeat: Repeat,
  onFound: (run: PlannedRun, narrowed: Narrowed) => void,
): Promise<void> {
  const [first, ...others] = failing;
  if (first === undefined) return;
  const found = await causeOf(first, innocent, repeat);
  if (found === "flaky" || found.cause.points.length === 0) {
    onFound(first.run, found === "flaky" ? found : found.cause);
    return narrowVaried(others, innocent, repeat, onFound);
  }
  const { cause, only } = found;
  onFound(first.run, cause);
  const rows = new Set(cause.points.map(({ row }) => row));
  // Other variants of the same rows have the same remedy.
  const open = others.map(async ({ run, points }) => {
    const known = includesAll(points, cause.points)
      ? cause.points
      : points.filter(({ row }) => rows.has(row));
    if (new Set(known.map(({ row }) => row)).size < rows.size) return [{ run, points }];
    const shown = await repeat(run, only(known));
    if (!shown.failed) return [{ run, points }];
    if (known === cause.points) onFound(run, cause);
    else {
      const least = await minimize(known, async (part) => (await repeat(run, only(part))).failed);
      onFound(run, variationCause(least, run, shown.lastPath(least.map(({ status }) => status))));
    }
    return [];
  });
  return narrowVaried((await Promise.all(open)).flat(), innocent, repeat, onFound);
}

async function causeOf(
  { run, points }: FailingRun,
  innocent: readonly CausePoint[],
  repeat: Repeat,
): Promise<Found | "flaky"> {
  const fails = async (trial: Trial) => (await repeat(run, trial)).failed;
  const causeIn = async (only: typeof everywhere): Promise<Found | undefined> => {
    const suspects = points.filter((point) => !includesAll(innocent, [point]));
    const isAmong = suspects.length > 0 && suspects.length < points.length && (await fails(only(suspects)));
    const among = isAmong ? suspects : points;
    const rows = [...new Set(among.map(({ row }) => row))];
    const inRows = await minimize(
      rows.map((row) => among.filter((point) => point.row === row)),
      (part) => fails(only(part.flat())),
    );
    const least = await minimize(inRows.flat(), (part) => fails(only(part)));
    // Also without any point: a client that fails by chance must not get a cause.
    const [shown, ...others] = await Promise.all([
      repeat(run, only(least)),
      fails(only(least)),
      fails(everywhere([])),
      fails(everywhere([])),
    ]);
    if (!shown.failed || others.join() !== "true,false,false") return undefined;
    return { cause: variationCause(least, run, shown.lastPath(least.map(({ status }) => status))), only };
  };
  const [again, bare, all] = await Promise.all([fails({}), fails(everywhere([])), fails(everywhere(points))]);
  if (bare) {
    const isSeed = again && all && (await fails(everywhere([])));
    return isSeed ? { cause: variationCause([], run), only: everywhere } : "flaky";
  }
  // On every response, points could break the client where this run did not. But the order of requests may differ each time.
  const where = again ? await causeIn(whereTheyWere) : undefined;
  return where ?? (all ? await causeIn(everywhere) : undefined) ?? "flaky";
}

/**
 * Finds the covered path where a fault breaks the client. `suspect` is a path where the fault affected the failing run.
 */
export async function narrowFault(
  run: PlannedRun & { readonly fault: FaultPathId },
  paths: readonly PathId[],
  suspect: PathId | undefined,
  repeat: Repeat,
): Promise<Narrowed> {
  const fails = async (some: readonly PathId[]) =>
    some.length > 0 && (await repeat(run, { faults: faultsOn(some, run.fault) })).failed;
  const besides = (path: PathId | undefined) => paths.filter((one) => one !== path);
  const [isGuilty, areOthers] = await Promise.all([
    suspect !== undefined && fails([suspect]),
    fails(besides(suspect)),
  ]);
  if (isGuilty) return faultCause(run.fault, { path: areOthers ? undefined : suspect });
  const guilty = areOthers ? besides(suspect) : paths;
  if (!areOthers && !(await fails(paths))) return "flaky";
  const [path] = await minimize(guilty, fails);
  return faultCause(run.fault, { path: (await fails(besides(path))) ? undefined : path });
}

/**
 * Returns a minimal failing part of the items: without any one of its items, the rest passes (delta debugging, Zeller).
 *
 * All items together must fail, and an empty list must pass. Tries groups in parallel, and stops with its current result after
 * 200 tries.
 */
export async function minimize<Item>(
  items: readonly Item[],
  fails: (some: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  let left = items;
  let parts = 2;
  let asked = 0;
  const most = 200;
  const firstThatFails = async (all: readonly (readonly Item[])[]) => {
    const candidates = all.slice(0, most - asked);
    asked += candidates.length;
    const failing = await Promise.all(candidates.map(fails));
    return candidates[failing.indexOf(true)];
  };
  while (left.length > 1 && asked < most) {
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
