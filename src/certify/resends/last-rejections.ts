import type { KeyRequest } from "../client-runs/client-run.js";

/** In how many runs one more request must have come that must not. */
export const minResent = 2;

/** How many runs are made at most: a client with jitter may come too soon only in some of them. */
const maxRuns = 5;

/** What one run shows that rejects the last request: the client gave up, and the command failed; it asked again in time; or it must not have. */
export type LastRejection =
  | { readonly kind: "gave_up" }
  | { readonly kind: "in_time" | "resent"; readonly request: KeyRequest };

/**
 * What the runs that rejected the last request show together. A run that sent more forbids that another one holds. `minWaits`: in how many
 * of them the next request must come in time. `minFailures`: two if one may be chance.
 */
export function shownTogether(rejections: readonly LastRejection[], minWaits: 2 | 3, minFailures: 1 | 2) {
  const numbers = { gave_up: 0, in_time: 0, resent: 0 };
  for (const { kind } of rejections) numbers[kind] += 1;

  if (numbers.resent === minResent) return "resent";
  if (numbers.gave_up > 0 && numbers.gave_up < rejections.length) return "sometimes";
  if (numbers.gave_up === minFailures) return "held";
  if (numbers.in_time === minWaits && numbers.resent === 0) return "held";
  if (rejections.length === maxRuns) return "sometimes";
  return "one_more_run";
}
