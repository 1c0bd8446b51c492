import type { KeyLimits } from "../rules/api-key.js";
import type { Assumptions } from "../rules/assumptions.js";
import { dayEnd, minute, minuteEnd } from "../rules/time.js";

export interface Windows {
  readonly sliding: boolean;
  /** Milliseconds after midnight UTC. */
  readonly dayResetsAt: number;
}

export interface Usage {
  minuteCount: number;
  /** When the current fixed minute ends; unused with a sliding minute. */
  minuteEndsAt: number;
  dayCount: number;
  dayEndsAt: number;
  /** When the requests of the sliding minute arrived, oldest first. */
  readonly recent: number[];
}

export function windowsOf(assumptions: Assumptions): Windows {
  return {
    sliding: assumptions.minute_window === "sliding",
    dayResetsAt: timeOfDay(assumptions.day_resets_at),
  };
}

interface PastUsage {
  readonly thisMinute?: number | undefined;
  readonly today?: number | undefined;
  /** When a sliding minute's requests were counted (epoch milliseconds), oldest first. Default: all at the start. */
  readonly countedAt?: readonly number[] | undefined;
}

export function startUsage(windows: Windows, now: number, past: PastUsage = {}): Usage {
  const { thisMinute = 0, today = thisMinute, countedAt } = past;
  return {
    minuteCount: thisMinute,
    minuteEndsAt: minuteEnd(now),
    dayCount: today,
    dayEndsAt: dayEnd(now, windows.dayResetsAt),
    recent: windows.sliding ? [...(countedAt ?? new Array<number>(thisMinute).fill(now))] : [],
  };
}

/** Returns the usage without requests before the current minute and day (R22, R23): the same object if there are none. */
export function usageAt(usage: Usage, windows: Windows, now: number): Usage {
  const isNewDay = now >= usage.dayEndsAt;
  const isNewMinute = windows.sliding ? now - (usage.recent[0] ?? now) >= minute : now >= usage.minuteEndsAt;
  if (!isNewDay && !isNewMinute) return usage;
  const left = usage.recent.filter((at) => now - at < minute);
  return {
    minuteCount: windows.sliding ? left.length : isNewMinute ? 0 : usage.minuteCount,
    minuteEndsAt: isNewMinute ? minuteEnd(now) : usage.minuteEndsAt,
    dayCount: isNewDay ? 0 : usage.dayCount,
    dayEndsAt: isNewDay ? dayEnd(now, windows.dayResetsAt) : usage.dayEndsAt,
    recent: left,
  };
}

/** A sliding minute has more quota as soon as fewer requests than the quota are younger than a minute. */
export function minuteEndOf(
  { perMinute }: KeyLimits,
  { recent, minuteEndsAt }: Usage,
  { sliding }: Windows,
  now: number,
): number {
  return sliding ? (recent[Math.max(0, recent.length - perMinute)] ?? now) + minute : minuteEndsAt;
}

/** Milliseconds after midnight of a `HH:MM` time of day. */
function timeOfDay(text: string): number {
  const [hours = "0", minutes = "0"] = text.split(":");
  return Number(hours) * 60 * minute + Number(minutes) * minute;
}
