import type { Assumptions } from "../domain/assumptions.js";
import { day, dayStart, minute, minuteStart, timeOfDay } from "../domain/limits.js";

/** The windows in which one world counts: minutes and days. */
export interface Windows {
  readonly sliding: boolean;
  /** Milliseconds after midnight UTC. */
  readonly dayResetsAt: number;
}

/** The usage of one key, changed in place with every request. */
export interface Usage {
  minuteCount: number;
  /** When the current fixed minute ends; unused with a sliding one. */
  minuteEndsAt: number;
  dayCount: number;
  dayEndsAt: number;
  /** When the counted requests of the sliding minute came, oldest first. */
  readonly recent: number[];
}

/** The windows that the assumptions ask for. */
export function windowsOf(assumptions: Assumptions): Windows {
  return {
    sliding: assumptions.minute_window === "sliding",
    dayResetsAt: timeOfDay(assumptions.day_resets_at),
  };
}

/** The usage of a key before the world started. */
export interface PastUsage {
  /** Default: 0. */
  readonly thisMinute?: number | undefined;
  /** Default: that of the minute. */
  readonly today?: number | undefined;
  /** When those of a sliding minute were counted (epoch milliseconds), oldest first. Default: all at the start. */
  readonly countedAt?: readonly number[] | undefined;
}

/** A key's usage at `now`, with what it is said to have used already. */
export function startUsage(windows: Windows, now: number, past: PastUsage = {}): Usage {
  const { thisMinute = 0, today = thisMinute, countedAt } = past;
  return {
    minuteCount: thisMinute,
    minuteEndsAt: minuteStart(now) + minute,
    dayCount: today,
    dayEndsAt: dayStart(now, windows.dayResetsAt) + day,
    recent: windows.sliding ? [...(countedAt ?? new Array<number>(thisMinute).fill(now))] : [],
  };
}

/** Forgets what lies outside the minute and the day that hold `now` (R22, R23). */
export function settleUsage(usage: Usage, windows: Windows, now: number): void {
  if (now >= usage.dayEndsAt) {
    usage.dayCount = 0;
    usage.dayEndsAt = dayStart(now, windows.dayResetsAt) + day;
  }
  if (windows.sliding) {
    while (usage.recent.length > 0 && now - (usage.recent[0] as number) >= minute) usage.recent.shift();
    usage.minuteCount = usage.recent.length;
  } else if (now >= usage.minuteEndsAt) {
    usage.minuteCount = 0;
    usage.minuteEndsAt = minuteStart(now) + minute;
  }
}

/** Counts one request at `now` (R24); the usage must be settled at `now`. */
export function countRequest(usage: Usage, windows: Windows, now: number): void {
  usage.minuteCount += 1;
  usage.dayCount += 1;
  if (windows.sliding) usage.recent.push(now);
}
