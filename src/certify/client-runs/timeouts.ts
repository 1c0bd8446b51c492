import { minute } from "../../rules/time.js";

/** When a run is ended, in milliseconds. */
export interface Timeouts {
  /** Time since its start. */
  readonly total: number;
  /** Time since its start or its last request. */
  readonly silent: number;
}

/** How long a client may wait for a response, in milliseconds: longer than the usual timeouts. */
export const longestWait = 30_000;

/**
 * How long a run may take. `timeout`: what --timeout sets. `plainMs`: how long the plain run took; `undefined` for the plain run itself.
 * `clientMayWaitMs`: how long the client may wait before its next request.
 *
 * As an example, the plain run took 10 s, and the client may wait 61 s for the next minute. The run may take 50 s, and the wait besides:
 * 111 s. It may be silent for the wait and for as long as the plain run took: 71 s.
 */
export function timeoutsFor(
  timeout: number | undefined,
  plainMs: number | undefined,
  clientMayWaitMs = 0,
): Timeouts {
  if (timeout !== undefined) return { total: timeout, silent: timeout };
  if (plainMs === undefined) return { total: minute, silent: minute };

  const withoutWait = Math.max(longestWait, 5 * plainMs);
  if (clientMayWaitMs === 0) return { total: withoutWait, silent: withoutWait };
  const waitAndPlainRun = Math.max(longestWait, clientMayWaitMs) + plainMs;
  return {
    total: withoutWait + clientMayWaitMs,
    // Never less than in a run in which the client may not wait.
    silent: Math.max(withoutWait, waitAndPlainRun),
  };
}
