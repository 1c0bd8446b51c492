import { day } from "./dates.js";

/** A day of any year: month times 100 plus day of the month. */
export type YearDay = number;

/** The instant of a day in the twelve months that begin with a month (1–12) of a year. */
export function withinYearFrom(year: number, month: number, yearDay: YearDay): number {
  return instantIn(yearDay < month * 100 ? year + 1 : year, yearDay);
}

function instantIn(year: number, yearDay: YearDay): number {
  return Date.UTC(year, Math.floor(yearDay / 100) - 1, yearDay % 100);
}

/** A span of time, from the beginning of its first day to that of its last. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The span from one day to another that begins in a year; it may end in the next. */
export function spanIn(year: number, [first, last]: readonly [YearDay, YearDay]): Span {
  return { from: instantIn(year, first), to: instantIn(last < first ? year + 1 : year, last) };
}

/** What two spans have in common, or `undefined` when it is less than a day. */
export function common(one: Span, other: Span): Span | undefined {
  const from = Math.max(one.from, other.from);
  const to = Math.min(one.to, other.to);
  return to - from >= day ? { from, to } : undefined;
}
