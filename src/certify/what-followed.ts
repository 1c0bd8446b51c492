import type { ClientRun, KeyRequest } from "./client-run.js";

/** In how many runs one more request must have come that must not. */
const minResent = 2;

/** How many runs are made at most: a client with jitter may come too soon only in some of them. */
const maxRuns = 5;

/** What followed the rejection in one run: no request, and the command failed; one in its time; or one that must not come. */
export type WhatFollowed =
  | { readonly kind: "nothing"; readonly run: ClientRun }
  | { readonly kind: "in_time" | "resent"; readonly request: KeyRequest };

/**
 * What the runs that rejected the last request show together; `undefined` if one more is needed. A run that sent more forbids that
 * another one holds. `minWaits`: in how many of them the next request must come in time. `minFailures`: two if one may be chance.
 */
export function resultOfRejections(followed: readonly WhatFollowed[], minWaits: 2 | 3, minFailures: 1 | 2) {
  const countOf = (kind: WhatFollowed["kind"]) => followed.filter((next) => next.kind === kind).length;
  const failures = countOf("nothing");
  const waits = countOf("in_time");
  const resent = countOf("resent");

  if (resent === minResent) return "resent";
  if (failures > 0 && failures < followed.length) return "sometimes";
  if (failures === minFailures) return "held";
  if (waits === minWaits && resent === 0) return "held";
  if (followed.length === maxRuns) return "sometimes";
  return undefined;
}
