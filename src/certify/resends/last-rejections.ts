import type { KeyRequest } from "../client-runs/client-run.js";

// To find out whether a client resends, its last request is rejected in one run after another. The numbers here say how many runs that
// takes: two resends show it; a client with jitter comes too soon only in some runs, so after one resend there are up to five runs.

/** In how many runs a request that must not come must have come. Of 150 suites in random order that poll, 1 accuses 7, 2 accuse 5, 3 accuse 4. */
export const minResent = 2;

/**
 * How many runs are made at most: a client with jitter may come too soon only in some of them. Of 300 whose jitter is 10 to 50% around the
 * time, 2 names 34, 3 names 59, 4 names 73, 5 names 75, with 13.8, 16.2, 17.2 and 17.8 runs in the mean; 6 names no more.
 */
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
