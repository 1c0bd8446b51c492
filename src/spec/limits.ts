/** The limits of a key; with 0, every request is rejected (R22, R23). */
export interface KeyLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The limits of a key by default. */
export const defaultLimits: KeyLimits = { perMinute: 60, perDay: 1000 };

/** One minute and one day, in milliseconds. */
export const minute = 60_000;
export const day = 24 * 60 * minute;

/** The start of the UTC-aligned minute that contains `now` (epoch milliseconds). */
export function minuteStart(now: number): number {
  return now - modulo(now, minute);
}

/**
 * The start of the day that contains `now`, for a reset `resetsAt` milliseconds after midnight UTC.
 *
 * @example
 * dayStart(Date.UTC(2026, 2, 2, 5), 6 * 3_600_000); // 2026-03-01T06:00:00Z
 */
export function dayStart(now: number, resetsAt: number): number {
  return now - modulo(now - resetsAt, day);
}

/**
 * Milliseconds after midnight of a `HH:MM` time of day.
 *
 * @example
 * timeOfDay("06:30"); // 23_400_000
 */
export function timeOfDay(text: string): number {
  const [hours = "0", minutes = "0"] = text.split(":");
  return Number(hours) * 60 * minute + Number(minutes) * minute;
}

// Never negative, so that times before 1970 are also in the right window.
function modulo(value: number, size: number): number {
  const rest = value % size;
  return rest < 0 ? rest + size : rest;
}
