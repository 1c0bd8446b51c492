import type { Assumptions } from "../rules/assumptions.js";
import { day, minute } from "../rules/time.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { minuteEndOf, usageAt } from "../sandbox/usage.js";
import type { FlatHeaders } from "./http-messages.js";

export interface LimitReading {
  readonly name: "minute" | "day";
  readonly quota: number;
  /** The length of the window in seconds. */
  readonly window: number;
  readonly remaining: number;
  /** When the remaining quota grows (epoch milliseconds). */
  readonly resetsAt: number;
  /** Seconds until then, rounded up. */
  readonly reset: number;
}

type LimitReadings = readonly [minute: LimitReading, day: LimitReading];

export function readLimits(
  { key, ...entry }: KeyEntry,
  { windows }: SandboxState,
  now: number,
): LimitReadings {
  const usage = usageAt(entry.usage, windows, now);
  const minuteEnds = minuteEndOf(key.limits, usage, windows, now);
  return [
    reading("minute", key.limits.perMinute, minute, usage.minuteCount, minuteEnds),
    reading("day", key.limits.perDay, day, usage.dayCount, usage.dayEndsAt),
  ] as const;

  function reading(
    name: LimitReading["name"],
    quota: number,
    window: number,
    used: number,
    resetsAt: number,
  ) {
    const reset = Math.max(1, Math.ceil((resetsAt - now) / 1000));
    return { name, quota, window: window / 1000, remaining: Math.max(0, quota - used), resetsAt, reset };
  }
}

/** The reached limit that ends last, as in the outcome of a 429: one of 0 never does; the minute's if both end together. */
export function lastToReset(limits: LimitReadings): LimitReading | undefined {
  const reached = limits.filter(({ remaining }) => remaining === 0);
  const endless = reached.filter(({ quota }) => quota === 0);
  return (endless.length > 0 ? endless : reached).sort((one, other) => other.resetsAt - one.resetsAt)[0];
}

/** `draft` is draft-ietf-httpapi-ratelimit-headers-10: `q` requests are allowed in `w` seconds, `r` remain, more after `t`. */
export function rateLimitHeaders(
  form: Assumptions["rate_limit_headers"],
  limits: LimitReadings,
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
  // The legacy headers have one limit: the one that a client must wait for, or the one with the least quota left.
  const [ofMinute, ofDay] = limits;
  const tightest = lastToReset(limits) ?? (ofDay.remaining < ofMinute.remaining ? ofDay : ofMinute);
  const { quota, remaining, reset } = tightest;
  const left = ["X-RateLimit-Remaining", String(remaining), "X-RateLimit-Reset", String(reset)];
  return ["X-RateLimit-Limit", String(quota), ...left];
}

/** `Retry-After` in the assumed form, on the sandbox's clock: the reset of the reached limit in whole seconds, a date after it. */
export function assumedRetryAfter(
  form: Assumptions["retry_after"],
  limits: LimitReadings,
  now: number,
): FlatHeaders {
  if (form === "none") return [];
  const asDate = form === "date";
  const resetsAt = lastToReset(limits)?.resetsAt ?? now + 1000;
  // A client may wait exactly until the date, with a clock that differs by a millisecond.
  return retryAfterHeader(asDate ? resetsAt + 1 : resetsAt, asDate, now);
}

export function retryAfterHeader(until: number, asDate: boolean, now: number): FlatHeaders {
  if (!asDate) return ["Retry-After", String(Math.ceil((until - now) / 1000))];
  // A date has whole seconds; rounded down, it would be too early.
  return ["Retry-After", new Date(Math.ceil(until / 1000) * 1000).toUTCString()];
}
