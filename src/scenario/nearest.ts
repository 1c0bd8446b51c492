import { distance } from "fastest-levenshtein";

/** Longer names are no typing slips of ours, and comparing them would take long. */
const longestName = 100;

/**
 * The candidate that somebody who typed `name` most likely meant, or `undefined` when none is close.
 *
 * Letter case, and `-` or a space for `_`, do not count as differences. Of equally near ones the first wins.
 *
 * @example
 * nearest("actve", ["active", "revoked"]); // "active"
 * nearest("banana", ["active", "revoked"]); // undefined
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > longestName) return undefined;
  const typed = plain(name);
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.round(typed.length * 0.4)) + 1;
  for (const candidate of candidates) {
    const steps = distance(typed, plain(candidate));
    if (steps < bestDistance) [best, bestDistance] = [candidate, steps];
  }
  return best;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s-]/g, "_");
}

/** ` Did you mean "x"?` for the nearest candidate, to be put behind a sentence; empty when none is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const meant = nearest(name, candidates);
  return meant === undefined ? "" : ` Did you mean ${JSON.stringify(meant)}?`;
}
