import type { Assumptions } from "../rules/assumptions.js";
import { dayEnd, minute, minuteEnd } from "../rules/time.js";

/** When the counts of requests start again. */
export interface Windows {
  /** Whether the minute before each request counts, in place of the clock's minutes. */
  readonly sliding: boolean;
  /** Milliseconds after midnight UTC. */
  readonly dayResetsAt: number;
}

/** The requests of a key in its current windows. */
export interface Usage {
  minuteCount: number;
  /** When the clock's minute ends. Nobody reads it while the minute is sliding. */
  minuteEndsAt: number;
  dayCount: number;
  dayEndsAt: number;
  /** When the requests of a sliding minute were counted, oldest first. Empty while the minute is the clock's. */
  readonly countedAt: number[];
}

/** The requests that a key has already used at the start. */
interface PastUsage {
  /** Default: 0. */
  readonly thisMinute?: number | undefined;
  /** Default: those of this minute. */
  readonly today?: number | undefined;
  /** When a sliding minute's requests were counted (epoch milliseconds), oldest first. Default: all at the start. */
  readonly countedAt?: readonly number[] | undefined;
}

export function windowsOf(assumptions: Assumptions): Windows {
  return {
    sliding: assumptions.minute_window === "sliding",
    dayResetsAt: timeOfDay(assumptions.day_resets_at),
  };
}

/** Milliseconds after midnight of a `HH:MM` time of day. */
function timeOfDay(text: string): number {
  const [hours = "0", minutes = "0"] = text.split(":");
  return Number(hours) * 60 * minute + Number(minutes) * minute;
}

export function startUsage(windows: Windows, now: number, past: PastUsage = {}): Usage {
  const { thisMinute = 0 } = past;
  const { today = thisMinute } = past;
  let countedAt: readonly number[] = [];
  if (windows.sliding) countedAt = past.countedAt ?? new Array<number>(thisMinute).fill(now);
  return {
    minuteCount: thisMinute,
    minuteEndsAt: minuteEnd(now),
    dayCount: today,
    dayEndsAt: dayEnd(now, windows.dayResetsAt),
    countedAt: [...countedAt],
  };
}

/** The usage in the current minute and day (R22, R23): the same object if no window has ended since it was written. */
export function usageAt(usage: Usage, windows: Windows, now: number): Usage {
  const isNewDay = now >= usage.dayEndsAt;
  const isMinuteOutdated = hasMinuteChanged(usage, windows, now);
  if (!isNewDay && !isMinuteOutdated) return usage;

  let { minuteCount, minuteEndsAt, dayCount, dayEndsAt, countedAt } = usage;
  if (windows.sliding) {
    countedAt = countedAt.filter((at) => now - at < minute);
    minuteCount = countedAt.length;
  } else if (isMinuteOutdated) {
    minuteCount = 0;
    minuteEndsAt = minuteEnd(now);
  }
  if (isNewDay) {
    dayCount = 0;
    dayEndsAt = dayEnd(now, windows.dayResetsAt);
  }
  return { minuteCount, minuteEndsAt, dayCount, dayEndsAt, countedAt };
}

/** The usage after a change of the windows, in which all requests that count so far count on. */
export function usageInNewWindows(usage: Usage, before: Windows, after: Windows, now: number): Usage {
  if (before.sliding === after.sliding && before.dayResetsAt === after.dayResetsAt) return usage;
  const { minuteCount, dayCount, countedAt } = usageAt(usage, before, now);
  return startUsage(after, now, {
    thisMinute: minuteCount,
    // A sliding minute at 00:00:10 has the requests since 23:59:10. The new day counts at least these, or its count would be below
    // that of the minute.
    today: Math.max(minuteCount, dayCount),
    // Of a minute of the clock, nobody knows when its requests came: all count as of now.
    countedAt: before.sliding ? countedAt : undefined,
  });
}

/** Whether the count of the minute has changed by time: the clock's minute has ended, or the oldest request of a sliding one counts no more. */
function hasMinuteChanged(usage: Usage, { sliding }: Windows, now: number): boolean {
  if (!sliding) return now >= usage.minuteEndsAt;
  const oldest = usage.countedAt[0];
  return oldest !== undefined && now - oldest >= minute;
}
