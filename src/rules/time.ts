// Durations and instants: their units, and how they are read and written. All are in milliseconds, instants since 1970.
export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

const unitLengths = { ms: 1, s: 1000, m: minute, h: hour, d: day };

/** An ISO 8601 time with a zone, as YAML libraries also write it: without a zone, it would be another instant on each machine. */
export const timePattern = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** The first and the last instant with a year of four digits. */
const firstInstant = Date.parse("0000-01-01T00:00:00Z");
export const lastInstant = Date.parse("9999-12-31T23:59:59.999Z");

/** The end of the UTC-aligned minute that contains `now` (epoch milliseconds). */
export function minuteEnd(now: number): number {
  return now - modulo(now, minute) + minute;
}

/** The end of the UTC day that contains `now`. */
export function dayEnd(now: number): number {
  return now - modulo(now, day) + day;
}

/** The rest of a division, never negative: times before 1970 are also in the right window. */
function modulo(value: number, size: number): number {
  const rest = value % size;
  return rest < 0 ? rest + size : rest;
}

/** A duration as callers write it: `90s`, `61m`, `2h`, `7d`, or whole milliseconds. */
export type Duration = `${number}${keyof typeof unitLengths}` | number;

/** How long a replaced key still works: `90s`, `61m`, `2h`, `7d`, or 0. */
export type Overlap = `${number}${"s" | "m" | "h" | "d"}` | 0;

/** A point in time: ISO 8601 with a zone, epoch milliseconds, a `Date`, or what has them, such as a `Temporal.Instant`. */
export type Instant = string | number | Date | { readonly epochMilliseconds: number };

/** Whether a value is an instant: whole milliseconds, in a year from 0000 to 9999. A clock ends earlier: see `lastClockInstant`. */
export function isInstant(value: unknown): value is number {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) return false;
  return value >= firstInstant && value <= lastInstant;
}

/** The milliseconds of a duration, such as `61m`, `-1d` or `250ms`; `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const match = /^(-?)(\d{1,16})(ms|[smhd])$/.exec(text);
  if (match === null) return undefined;
  const [, sign, count, unit] = match;
  const length = Number(count) * unitLengths[unit as keyof typeof unitLengths];
  if (!Number.isSafeInteger(length)) return undefined;
  // Never -0.
  return sign === "-" && length > 0 ? -length : length;
}

/**
 * Epoch milliseconds of an ISO 8601 time with a zone; `undefined` if the text is not a time, has a day or an hour that
 * does not exist, or is outside of the years 0000 to 9999 in UTC. Digits after the milliseconds are cut.
 *
 * @example
 * parseTime("2026-03-02T09:00:00Z"); // 1_772_442_000_000
 * parseTime("2026-02-30T09:00:00Z"); // undefined
 */
export function parseTime(text: string): number | undefined {
  if (!timePattern.test(text) || !isOnCalendar(text)) return undefined;
  // `Date` accepts 24:00.
  if (text.startsWith("24", "2026-03-02T".length)) return undefined;
  const time = Date.parse(
    text
      .toUpperCase()
      .replace(" ", "T")
      .replace(/(\.\d{3})\d+/, "$1"),
  );
  return isInstant(time) ? time : undefined;
}

/** Whether the day of a time exists: `Date` turns February 30 into March 2. */
function isOnCalendar(text: string): boolean {
  const date = text.slice(0, 10);
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
}

/** Formats an instant as ISO 8601, limited to the years 0000 to 9999. */
export function isoTime(instant: number): string {
  return new Date(Math.max(firstInstant, Math.min(instant, lastInstant))).toISOString();
}

/** Returns a time without the fraction `.000`, as people write a whole second: `2026-03-02T10:01:00Z`. */
export function shortTime(iso: string): string {
  return iso.replace(".000Z", "Z");
}

/** A duration as scenarios write it, in the largest unit without a fraction. */
export function scenarioDuration(milliseconds: number): Exclude<Duration, number> {
  if (milliseconds === 0) return "0ms";
  for (const unit of ["d", "h", "m", "s"] as const) {
    const length = unitLengths[unit];
    if (milliseconds % length === 0) return `${milliseconds / length}${unit}`;
  }
  return `${milliseconds}ms`;
}

/** What to write in place of a text that is no time. */
export const timeHint =
  "write an ISO 8601 time with a zone, in the years 0000 to 9999, such as 2026-03-02T09:00:00Z";
