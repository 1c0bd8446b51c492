import type { Assumptions } from "../rules/assumptions.js";
import { type LimitUse, type LimitUses, reachedLimit } from "../rules/authorize.js";
import { day, minute } from "../rules/time.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { minuteResetsAt, usageAt } from "../sandbox/usage.js";
import type { FlatHeaders } from "./http-messages.js";

/** A limit as headers and bodies show it. */
interface LimitReading extends LimitUse {
  readonly name: keyof LimitUses;
  /** The length of the window in seconds. */
  readonly window: number;
  readonly remaining: number;
  /** Seconds until the remaining quota grows, rounded up. */
  readonly reset: number;
}

type LimitReadings = Readonly<Record<keyof LimitUses, LimitReading>>;

/** The limits of a key, and how much of each is used now. */
export function limitUses(entry: KeyEntry, sandbox: SandboxState, now: number): LimitUses {
  const { limits } = entry.key;
  const { windows } = sandbox;
  const usage = usageAt(entry.usage, windows, now);
  const resetsAt = minuteResetsAt(limits, usage, windows, now);
  return {
    minute: { quota: limits.perMinute, used: usage.minuteCount, resetsAt },
    day: { quota: limits.perDay, used: usage.dayCount, resetsAt: usage.dayEndsAt },
  };
}

/** The limits of a key as responses show them. */
export function readLimits(entry: KeyEntry, sandbox: SandboxState, now: number): LimitReadings {
  const uses = limitUses(entry, sandbox, now);
  return {
    minute: readLimit("minute", uses.minute, minute, now),
    day: readLimit("day", uses.day, day, now),
  };
}

function readLimit(name: keyof LimitUses, use: LimitUse, window: number, now: number): LimitReading {
  const { quota, used, resetsAt } = use;
  const remaining = Math.max(0, quota - used);
  const reset = Math.max(1, Math.ceil((resetsAt - now) / 1000));
  // Each by name: to spread them takes longer than all other steps of a request.
  return { name, quota, used, resetsAt, window: window / 1000, remaining, reset };
}

/** The reading of the limit that a 429 is about. */
export function reachedReading(limits: LimitReadings): LimitReading | undefined {
  const reached = reachedLimit(limits);
  return reached && limits[reached];
}

/** The rate limit headers in the assumed form. */
export function rateLimitHeaders(
  form: Assumptions["rate_limit_headers"],
  limits: LimitReadings,
): FlatHeaders {
  if (form === "none") return [];
  // draft-ietf-httpapi-ratelimit-headers-10: `q` requests are allowed in `w` seconds, `r` remain, more after `t`.
  if (form === "draft") {
    const both = [limits.minute, limits.day];
    const policies = both.map(({ name, quota, window }) => `"${name}";q=${quota};w=${window}`);
    const states = both.map(({ name, remaining, reset }) => `"${name}";r=${remaining};t=${reset}`);
    return ["RateLimit-Policy", policies.join(", "), "RateLimit", states.join(", ")];
  }

  // The legacy headers have one limit: the one that a client must wait for, or the one with the least quota left.
  let limit = reachedReading(limits);
  limit ??= limits.day.remaining < limits.minute.remaining ? limits.day : limits.minute;
  return [
    "X-RateLimit-Limit",
    String(limit.quota),
    "X-RateLimit-Remaining",
    String(limit.remaining),
    "X-RateLimit-Reset",
    String(limit.reset),
  ];
}

/** `Retry-After` of a 429 in the assumed form, on the sandbox's clock: when the reached limit resets. */
export function assumedRetryAfter(
  form: Assumptions["retry_after"],
  limits: LimitReadings,
  now: number,
): FlatHeaders {
  if (form === "none") return [];
  const resetsAt = reachedReading(limits)?.resetsAt ?? now + 1000;
  if (form === "seconds") return retryAfterHeader(resetsAt, false, now);
  // A client may wait exactly until the date, with a clock that differs by a millisecond.
  return retryAfterHeader(resetsAt + 1, true, now);
}

/** `Retry-After` as seconds or as a date. */
export function retryAfterHeader(until: number, asDate: boolean, now: number): FlatHeaders {
  if (!asDate) return ["Retry-After", String(Math.ceil((until - now) / 1000))];
  // A date has whole seconds; rounded down, it would be too early.
  return ["Retry-After", new Date(Math.ceil(until / 1000) * 1000).toUTCString()];
}
