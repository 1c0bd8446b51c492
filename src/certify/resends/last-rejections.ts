import { maxRejections, sureResends } from "../checks/chance.js";
import type { KeyRequest } from "../client-runs/client-run.js";

// To find out whether a client resends, the last request with a key is rejected in one run after another, until the runs agree. As an
// example, a rejection with a time, of several such kinds:
//
//     gave up                       held: the command failed, and nothing followed (if one failure is enough: doubt-of-failure.ts)
//     in time, in time              held: the client waited in two runs
//     resent, resent                resent
//     resent, in time               one more run: a client with jitter comes too soon only sometimes
//     resent, in time, in time,
//       in time, in time            sometimes: five runs, and only one resend
//     in time, gave up              sometimes: the client asks again in some runs only

/** What one run shows that rejects the last request: the client gave up, and the command failed; it asked again in time; or it resent. */
export type ShownByRun =
  | { readonly kind: "gave_up" }
  | { readonly kind: "in_time" | "resent"; readonly request: KeyRequest };

/** What several runs show together. `sometimes`: the client asks again in some runs only, and nobody can tell why. */
type ShownByAllRuns =
  | { readonly kind: "held" | "sometimes" | "one_more_run" }
  | { readonly kind: "resent"; readonly firstRequest: KeyRequest; readonly requests: readonly KeyRequest[] };

/**
 * What the runs that rejected the last request show together.
 * `neededWaits`: in how many of them the next request must come in time. `neededFailures`: how often the client must give up.
 */
export function shownByAllRuns(
  shown: readonly ShownByRun[],
  neededWaits: number,
  neededFailures: 1 | 2,
): ShownByAllRuns {
  let gaveUpCount = 0;
  let inTimeCount = 0;
  const resends: KeyRequest[] = [];
  for (const shownOnce of shown) {
    if (shownOnce.kind === "gave_up") gaveUpCount += 1;
    else if (shownOnce.kind === "in_time") inTimeCount += 1;
    else resends.push(shownOnce.request);
  }

  // The client gave up in all runs, in some, or in none.
  if (gaveUpCount === shown.length) {
    return { kind: gaveUpCount < neededFailures ? "one_more_run" : "held" };
  }
  if (gaveUpCount > 0) return { kind: "sometimes" };

  const [firstRequest] = resends;
  if (firstRequest === undefined) return { kind: inTimeCount < neededWaits ? "one_more_run" : "held" };
  if (resends.length >= sureResends) return { kind: "resent", firstRequest, requests: resends };
  return { kind: shown.length < maxRejections ? "one_more_run" : "sometimes" };
}
