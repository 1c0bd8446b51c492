import type { Assumptions } from "../rules/assumptions.js";
import { day as dayMs, minute as minuteMs } from "../rules/time.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { type LimitUse, limitUses, reachedLimit } from "../sandbox/usage.js";
import type { FlatHeaders } from "./http-messages.js";

/** A limit as headers and bodies show it. */
interface ShownLimit {
  readonly name: "minute" | "day";
  readonly quota: number;
  readonly remaining: number;
  /** The length of the window. */
  readonly windowSeconds: number;
  /** When the remaining quota grows (epoch milliseconds), and in how many seconds, rounded up. */
  readonly resetsAt: number;
  readonly secondsToReset: number;
}

/** The limits of a key as responses show them. */
interface ShownLimits {
  readonly minute: ShownLimit;
  readonly day: ShownLimit;
  /** The one of both that a 429 is about; `undefined` if none is reached. */
  readonly reached: ShownLimit | undefined;
}

/** The limits of a key as responses show them now. */
export function limitsToShow(entry: KeyEntry, sandbox: SandboxState, now: number): ShownLimits {
  const uses = limitUses(entry, sandbox.windows, now);
  const minute = limitToShow("minute", uses.minute, minuteMs, now);
  const day = limitToShow("day", uses.day, dayMs, now);

  let reached: ShownLimit | undefined;
  const reachedName = reachedLimit(uses);
  if (reachedName === "minute") reached = minute;
  if (reachedName === "day") reached = day;
  return { minute, day, reached };
}

function limitToShow(name: ShownLimit["name"], use: LimitUse, windowMs: number, now: number): ShownLimit {
  const { quota, used, resetsAt } = use;
  const remaining = Math.max(0, quota - used);
  const secondsToReset = Math.max(1, Math.ceil((resetsAt - now) / 1000));
  // Each by name: to spread them takes longer than all other steps of a request.
  return { name, quota, remaining, windowSeconds: windowMs / 1000, resetsAt, secondsToReset };
}

/** The rate limit headers in the assumed form. */
export function rateLimitHeaders(form: Assumptions["rate_limit_headers"], limits: ShownLimits): FlatHeaders {
  const { minute, day, reached } = limits;
  if (form === "none") return [];
  // draft-ietf-httpapi-ratelimit-headers-10: `q` requests are allowed in `w` seconds, `r` remain, more after `t`.
  if (form === "draft") {
    const policies: string[] = [];
    const states: string[] = [];
    for (const { name, quota, remaining, windowSeconds, secondsToReset } of [minute, day]) {
      policies.push(`"${name}";q=${quota};w=${windowSeconds}`);
      states.push(`"${name}";r=${remaining};t=${secondsToReset}`);
    }
    return ["RateLimit-Policy", policies.join(", "), "RateLimit", states.join(", ")];
  }

  // The legacy headers have one limit: the one that a client must wait for, or the one with the least quota left.
  const leastLeft = day.remaining < minute.remaining ? day : minute;
  const { quota, remaining, secondsToReset } = reached ?? leastLeft;
  return [
    "X-RateLimit-Limit",
    String(quota),
    "X-RateLimit-Remaining",
    String(remaining),
    "X-RateLimit-Reset",
    String(secondsToReset),
  ];
}

/** `Retry-After` of a 429 in the assumed form, on the sandbox's clock: when the reached limit resets. */
export function assumedRetryAfter(
  form: Assumptions["retry_after"],
  { reached }: Pick<ShownLimits, "reached">,
  now: number,
): FlatHeaders {
  if (form === "none") return [];
  // A run of a client rejects with a 429 also while no limit is reached.
  const resetsAt = reached === undefined ? now + 1000 : reached.resetsAt;
  // A client may wait exactly until the date, with a clock that differs by a millisecond.
  const endsAt = form === "date" ? resetsAt + 1 : resetsAt;
  return retryAfterHeader({ endsAt, asDate: form === "date" }, now);
}

/** `Retry-After` until an instant, as seconds or as a date. */
export function retryAfterHeader(
  { endsAt, asDate }: { readonly endsAt: number; readonly asDate: boolean },
  now: number,
): FlatHeaders {
  if (!asDate) return ["Retry-After", String(Math.ceil((endsAt - now) / 1000))];
  // A date has whole seconds; rounded down, it would be too early.
  return ["Retry-After", new Date(Math.ceil(endsAt / 1000) * 1000).toUTCString()];
}
