/** Milliseconds: Node fires longer timers immediately. */
export const longestTimer = 2 ** 31 - 1;

/** A signal that is aborted after these milliseconds, or after the longest timer. */
export function abortedAfter(milliseconds: number): AbortSignal {
  return AbortSignal.timeout(Math.min(milliseconds, longestTimer));
}
