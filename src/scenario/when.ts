import { parseDuration } from "./duration.js";

/** An ISO 8601 time with its zone; a time without one would mean another instant on every machine. */
export const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** The longest duration that a scenario may state, in milliseconds: a hundred years. */
export const maximumDuration = 100 * 365 * 24 * 60 * 60_000;

/**
 * Epoch milliseconds of an ISO 8601 time with a zone, or `undefined` when the text is none or names a day or an
 * hour that does not exist.
 *
 * @example
 * parseTime("2026-03-02T09:00:00Z"); // 1_772_442_000_000
 * parseTime("2026-02-30T09:00:00Z"); // undefined
 */
export function parseTime(text: string): number | undefined {
  if (!timePattern.test(text)) return undefined;
  // `Date` turns the 30th of February into the 2nd of March and takes 24:00, so that we look for ourselves.
  const [year = 0, month = 0, dayOfMonth = 0, hour = 0] = (text.match(/\d+/g) ?? []).map(Number);
  if (month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > daysInMonth(year, month)) return undefined;
  if (hour > 23) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/**
 * The same for a time as programs write it, RFC 3339: any number of digits after the second, of which three count, and
 * letters of either case.
 *
 * @example
 * parseTimestamp("2026-03-02t09:00:00.123456z"); // 1_772_442_000_123
 */
export function parseTimestamp(text: string): number | undefined {
  return parseTime(text.toUpperCase().replace(/(\.\d{3})\d+/, "$1"));
}

/** How many days a month has (months from 1). */
export function daysInMonth(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/**
 * Epoch milliseconds of a time, or of a duration counted from `start`; `undefined` when the text is neither.
 *
 * @example
 * parseWhen("-1d", start); // start - 86_400_000
 */
export function parseWhen(text: string, start: number): number | undefined {
  const duration = parseDuration(text);
  if (duration === undefined) return parseTime(text);
  return Math.abs(duration) > maximumDuration ? undefined : start + duration;
}
