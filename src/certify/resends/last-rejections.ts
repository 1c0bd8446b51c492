import type { KeyRequest } from "../client-runs/client-run.js";

// To find out whether a client resends, its last request is rejected in one run after another. The numbers here say how many runs that
// takes: two resends show it; a client with jitter comes too soon only in some runs, so after one resend there are up to five runs.

/** In how many runs a request that must not come must have come. */
export const minResent = 2;

/** How many runs are made at most: a client with jitter may come too soon only in some of them. */
const maxRuns = 5;

/** What one run shows that rejects the last request: the client gave up, and the command failed; it asked again in time; or it must not have. */
export type LastRejection =
  | { readonly kind: "gave_up" }
  | { readonly kind: "in_time" | "resent"; readonly request: KeyRequest };

/** What several runs show together. `sometimes`: the client resends in some runs only, and nobody can tell why. */
export type ShownByRejections = "held" | "resent" | "sometimes" | "one_more_run";

/**
 * What the runs that rejected the last request show together.
 * `minWaits`: in how many of them the next request must come in time. `minFailures`: how often the client must give up.
 */
export function resultOfRejections(
  rejections: readonly LastRejection[],
  minWaits: 2 | 3,
  minFailures: 1 | 2,
): ShownByRejections {
  const gaveUp = countRejections("gave_up", rejections);
  const inTime = countRejections("in_time", rejections);
  const resent = countRejections("resent", rejections);

  // The client gave up in all runs, in some, or in none.
  if (gaveUp === rejections.length) return gaveUp < minFailures ? "one_more_run" : "held";
  if (gaveUp > 0) return "sometimes";

  if (resent === 0) return inTime < minWaits ? "one_more_run" : "held";
  if (resent >= minResent) return "resent";
  return rejections.length < maxRuns ? "one_more_run" : "sometimes";
}

function countRejections(kind: LastRejection["kind"], rejections: readonly LastRejection[]): number {
  return rejections.filter((rejection) => rejection.kind === kind).length;
}
