import type { Assumptions } from "../domain/assumptions.js";
import { type LimitReading, secondsToRetry, tightestOf } from "./limit-reading.js";

/** Header names and values in turn. */
export type FlatHeaders = readonly string[];

/**
 * The headers that tell of limits, in the form that is assumed.
 *
 * `draft` is that of draft-ietf-httpapi-ratelimit-headers-10: two lists of structured fields (RFC 9651), the limits by
 * name, `q` requests in `w` seconds, `r` of them left, more after `t` seconds.
 */
export function rateLimitHeaders(
  form: Assumptions["rate_limit_headers"],
  limits: readonly LimitReading[],
): FlatHeaders {
  if (form === "none") return [];
  if (form === "draft") {
    return [
      "RateLimit-Policy",
      limits.map(({ name, quota, window }) => `"${name}";q=${quota};w=${window}`).join(", "),
      "RateLimit",
      limits.map(({ name, remaining, reset }) => `"${name}";r=${remaining};t=${reset}`).join(", "),
    ];
  }
  // The old headers know one limit: the one that is nearest to its end. Reset is in seconds from now.
  const tightest = tightestOf(limits);
  if (tightest === undefined) return [];
  return [
    "X-RateLimit-Limit",
    String(tightest.quota),
    "X-RateLimit-Remaining",
    String(tightest.remaining),
    "X-RateLimit-Reset",
    String(tightest.reset),
  ];
}

/**
 * `Retry-After` in the form that is assumed; never earlier than the reset of the limit that refused.
 *
 * `wallClock` (epoch milliseconds) is that of the machine: a client reads a date on its own clock, not on the sandbox's.
 */
export function retryAfterHeaders(
  form: Assumptions["retry_after"],
  limits: readonly LimitReading[],
  wallClock: () => number,
): FlatHeaders {
  if (form === "none") return [];
  const seconds = secondsToRetry(limits);
  if (form === "seconds") return ["Retry-After", String(seconds)];
  // A date has whole seconds; rounding it down would name a time that is too early.
  const at = Math.ceil(wallClock() / 1000 + seconds) * 1000;
  return ["Retry-After", new Date(at).toUTCString()];
}

/** The challenge of a 401 (RFC 9110); never `Basic`, for which browsers would ask their user for a password. */
export const challengeHeaders: FlatHeaders = ["WWW-Authenticate", 'ApiKey realm="relying-party"'];
