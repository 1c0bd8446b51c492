import type { KeyLimits } from "../rules/key-state.js";
import { dayEnd, minute, minuteEnd } from "../rules/time.js";

/** When the counts of requests start again. */
export interface Windows {
  /** Whether the minute before each request counts, in place of the clock's minutes. */
  readonly sliding: boolean;
  /** Milliseconds after midnight UTC. */
  readonly dayResetsAt: number;
}

/** Requests that were counted at one instant (epoch milliseconds): a busy key has fewer instants than requests. */
interface CountedRequests {
  readonly at: number;
  readonly count: number;
}

/** The requests of a key in its current windows. */
export interface Usage {
  minuteCount: number;
  /** When the clock's minute ends. Nobody reads it while the minute is sliding. */
  minuteEndsAt: number;
  dayCount: number;
  dayEndsAt: number;
  /** The requests of a sliding minute, oldest first. Empty while the minute is the clock's. */
  readonly counted: CountedRequests[];
}

/** The requests that a key has already used at the start. */
interface PastUsage {
  readonly thisMinute?: number | undefined;
  readonly today?: number | undefined;
  /** A sliding minute's requests, oldest first. Default: all at the start. */
  readonly counted?: readonly CountedRequests[] | undefined;
}

export function startUsage(windows: Windows, now: number, past: PastUsage = {}): Usage {
  const { thisMinute = 0 } = past;
  const { today = thisMinute } = past;
  let counted: readonly CountedRequests[] = [];
  if (windows.sliding) {
    const allNow = thisMinute === 0 ? [] : [{ at: now, count: thisMinute }];
    counted = past.counted ?? allNow;
  }
  return {
    minuteCount: thisMinute,
    minuteEndsAt: minuteEnd(now),
    dayCount: today,
    dayEndsAt: dayEnd(now, windows.dayResetsAt),
    counted: [...counted],
  };
}

/** The usage in the current minute and day (R22, R23): the same object if no window has ended since it was written. */
export function usageAt(usage: Usage, windows: Windows, now: number): Usage {
  const isNewDay = now >= usage.dayEndsAt;
  const isMinuteOutdated = hasMinuteChanged(usage, windows, now);
  if (!isNewDay && !isMinuteOutdated) return usage;

  let { minuteCount, minuteEndsAt, dayCount, dayEndsAt, counted } = usage;
  if (windows.sliding) {
    counted = counted.filter(({ at }) => now - at < minute);
    minuteCount = 0;
    for (const { count } of counted) minuteCount += count;
  } else if (isMinuteOutdated) {
    minuteCount = 0;
    minuteEndsAt = minuteEnd(now);
  }
  if (isNewDay) {
    dayCount = 0;
    dayEndsAt = dayEnd(now, windows.dayResetsAt);
  }
  return { minuteCount, minuteEndsAt, dayCount, dayEndsAt, counted };
}

export function countRequest(usage: Usage, { sliding }: Windows, now: number): void {
  usage.minuteCount += 1;
  usage.dayCount += 1;
  if (!sliding) return;

  const { counted } = usage;
  const latest = counted.at(-1);
  if (latest?.at === now) counted[counted.length - 1] = { at: now, count: latest.count + 1 };
  else counted.push({ at: now, count: 1 });
}

/** The usage after a change of the windows, in which all requests that count so far count on. */
export function usageInNewWindows(usage: Usage, before: Windows, after: Windows, now: number): Usage {
  if (before.sliding === after.sliding && before.dayResetsAt === after.dayResetsAt) return usage;
  const { minuteCount, dayCount, counted } = usageAt(usage, before, now);
  return startUsage(after, now, {
    thisMinute: minuteCount,
    // A sliding minute at 00:00:10 has the requests since 23:59:10. The new day counts at least these, or its count would be below
    // that of the minute.
    today: Math.max(minuteCount, dayCount),
    // Of a minute of the clock, nobody knows when its requests came: all count as of now.
    counted: before.sliding ? counted : undefined,
  });
}

/** Whether the count of the minute has changed by time: the clock's minute has ended, or the oldest request of a sliding one counts no more. */
function hasMinuteChanged(usage: Usage, { sliding }: Windows, now: number): boolean {
  if (!sliding) return now >= usage.minuteEndsAt;
  const oldest = usage.counted[0];
  return oldest !== undefined && now - oldest.at >= minute;
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
  windows: Windows,
  now: number,
): LimitUses {
  const { limits } = key;
  const current = usageAt(usage, windows, now);
  let resetsAt = current.minuteEndsAt;
  if (windows.sliding) resetsAt = slidingMinuteResetsAt(current, limits.perMinute, now);
  return {
    minute: { quota: limits.perMinute, used: current.minuteCount, resetsAt },
    day: { quota: limits.perDay, used: current.dayCount, resetsAt: current.dayEndsAt },
  };
}

/** When the remaining quota of a sliding minute grows: each request stops counting a minute after it came. */
function slidingMinuteResetsAt({ counted, minuteCount }: Usage, perMinute: number, now: number): number {
  // A limit of 0 never grows, and an unused limit cannot: a client is told a whole minute.
  if (perMinute === 0 || counted.length === 0) return now + minute;

  // Up to the limit, the quota grows when the oldest request stops counting. Over the limit, more of them must stop: of five
  // requests with a limit of three, the oldest three.
  const leaving = Math.max(1, minuteCount - perMinute + 1);
  let oldest = 0;
  for (const { at, count } of counted) {
    oldest += count;
    if (oldest >= leaving) return at + minute;
  }
  return now + minute;
}
