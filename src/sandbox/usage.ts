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
  /** When the clock's minute ends. Only for minutes of the clock. */
  minuteEndsAt: number;
  dayCount: number;
  dayEndsAt: number;
  /** When the requests of the minute were counted, oldest first. Only for a sliding minute. */
  readonly countedAt: number[];
}

/** The requests that a key has already used at the start. */
interface PastUsage {
  readonly thisMinute?: number | undefined;
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
  const { thisMinute = 0, today = thisMinute } = past;
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
  const isMinuteOutdated = windows.sliding ? isOldestOver(usage, now) : now >= usage.minuteEndsAt;
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
    // The day may have begun within the minute. The new day has at least the requests of the minute.
    today: Math.max(minuteCount, dayCount),
    // Of a fixed minute, nobody knows when its requests came.
    countedAt: before.sliding ? countedAt : undefined,
  });
}

/** Whether the oldest request of a sliding minute counts no more. */
function isOldestOver(usage: Usage, now: number): boolean {
  const oldest = usage.countedAt[0];
  return oldest !== undefined && now - oldest >= minute;
}
