import type { Run } from "./result.js";

/** Runs that fail for one reason, first the one that takes the least to fail. */
type Failures = readonly [Run, ...Run[]];

/**
 * The runs that did not pass, by their reasons. A client that relies on something breaks by each other form of it; and by
 * the same together with a second row, where that row makes it appear.
 */
export function failuresByReason(runs: readonly Run[]): Failures[] {
  const failing = runs.filter(({ outcome }) => outcome !== "passed" && outcome !== "not_run");
  const reasons: [Run, ...Run[]][] = [];
  for (const run of failing.toSorted((one, other) => rowsOf(one).length - rowsOf(other).length)) {
    const known = reasons.find(([first]) => rowsOf(first).every((row) => rowsOf(run).includes(row)));
    if (known === undefined) reasons.push([run]);
    else known.push(run);
  }
  return reasons;
}

// Without varied points, what else the runs have in common.
function rowsOf({ name, outcome, cause }: Run): readonly string[] {
  if (cause === undefined) return [`${name} ${outcome}`];
  return cause.points.length === 0 ? [cause.sentence] : cause.points.map(({ row }) => row);
}
