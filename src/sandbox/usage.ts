import type { KeyLimits } from "../rules/key-state.js";
import { dayEnd, minuteEnd } from "../rules/time.js";

// What a key has used of its limits. Only successes count (R24): see `decideAndCount` in `src/api/authorize.ts`.
//
// | limit     | counts the successes of      | is reached with    | resets                  |
// |-----------|------------------------------|--------------------|-------------------------|
// | a minute  | the clock's minute, in UTC   | as many as allowed | at its next full minute |
// | a day     | the clock's day, in UTC      | as many as allowed | at 00:00 UTC            |

/** The requests of a key in its latest minute and day. */
export interface Usage {
  minuteCount: number;
  minuteEndsAt: number;
  dayCount: number;
  dayEndsAt: number;
}

/** `past`: the requests that a key has used before the start. Default: none; today at least as many as this minute. */
export function startUsage(
  now: number,
  past: { readonly thisMinute?: number | undefined; readonly today?: number | undefined } = {},
): Usage {
  const { thisMinute = 0 } = past;
  const { today = thisMinute } = past;
  return { minuteCount: thisMinute, minuteEndsAt: minuteEnd(now), dayCount: today, dayEndsAt: dayEnd(now) };
}

/** The usage in the current minute and day (R22, R23): the same object if neither has ended since it was written. */
export function usageAt(usage: Usage, now: number): Usage {
  const isNewMinute = now >= usage.minuteEndsAt;
  const isNewDay = now >= usage.dayEndsAt;
  if (!isNewMinute && !isNewDay) return usage;

  let { minuteCount, minuteEndsAt, dayCount, dayEndsAt } = usage;
  if (isNewMinute) {
    minuteCount = 0;
    minuteEndsAt = minuteEnd(now);
  }
  if (isNewDay) {
    dayCount = 0;
    dayEndsAt = dayEnd(now);
  }
  return { minuteCount, minuteEndsAt, dayCount, dayEndsAt };
}

export interface LimitUse {
  readonly quota: number;
  readonly used: number;
  /** When the remaining quota grows (epoch milliseconds). */
  readonly resetsAt: number;
}

export interface LimitUses {
  readonly minute: LimitUse;
  readonly day: LimitUse;
}

/**
 * The reached limit that a client must wait for; `undefined` if none is reached. Of two, a limit of 0 comes before one that
 * resets; otherwise the one that resets last counts, at a tie that of the minute.
 */
export function reachedLimit({ minute, day }: LimitUses): keyof LimitUses | undefined {
  const isMinuteReached = minute.used >= minute.quota;
  const isDayReached = day.used >= day.quota;
  if (!isMinuteReached && !isDayReached) return undefined;
  if (!isDayReached) return "minute";
  if (!isMinuteReached) return "day";

  // Both are reached. A limit of 0 stays reached.
  if (minute.quota === 0 && day.quota > 0) return "minute";
  if (day.quota === 0 && minute.quota > 0) return "day";
  return day.resetsAt > minute.resetsAt ? "day" : "minute";
}

export function limitUses(
  { key, usage }: { readonly key: { readonly limits: KeyLimits }; readonly usage: Usage },
  now: number,
): LimitUses {
  const { limits } = key;
  const { minuteCount, minuteEndsAt, dayCount, dayEndsAt } = usageAt(usage, now);
  return {
    minute: { quota: limits.perMinute, used: minuteCount, resetsAt: minuteEndsAt },
    day: { quota: limits.perDay, used: dayCount, resetsAt: dayEndsAt },
  };
}
