import type { Run } from "./result.js";

/** Runs that fail for one reason, the run with the smallest cause first. */
type Failures = readonly [Run, ...Run[]];

/**
 * Groups the failed runs by reason. A client that relies on something breaks with every other form of it, and also together
 * with a second row if that row makes it appear.
 */
export function failuresByReason(runs: readonly Run[]): Failures[] {
  const failing = runs
    .filter(({ outcome }) => outcome !== "passed" && outcome !== "not_run")
    .flatMap((run) => run.cause?.parts?.map((cause): Run => ({ ...run, cause })) ?? run);
  const reasons: [Run, ...Run[]][] = [];
  for (const run of failing.toSorted((one, other) => rowsOf(one).length - rowsOf(other).length)) {
    const known = reasons.find(([first]) => rowsOf(first).every((row) => rowsOf(run).includes(row)));
    if (known === undefined) reasons.push([run]);
    else known.push(run);
  }
  return reasons;
}

// Without varied points, the common part of the runs.
function rowsOf({ name, outcome, cause }: Run): readonly string[] {
  if (cause === undefined) return [`${name} ${outcome}`];
  return cause.points.length === 0 ? [cause.sentence] : cause.points.map(({ row }) => row);
}
