export const day = 86_400_000;

/** The day of an instant as `YYYY-MM-DD`, in UTC. */
export function dateOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

export function yearOf(instant: number): number {
  return new Date(instant).getUTCFullYear();
}

/** The start of a day in the form of `dateOf`. */
export function instantOf(date: string): number {
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8)));
}

/** A day of the year: month times 100 plus day of the month. */
export type YearDay = number;

/** The instant of a day in the twelve months that start with a month (1–12) of a year. */
export function withinYearFrom(year: number, month: number, yearDay: YearDay): number {
  return instantIn(yearDay < month * 100 ? year + 1 : year, yearDay);
}

function instantIn(year: number, yearDay: YearDay): number {
  return Date.UTC(year, Math.floor(yearDay / 100) - 1, yearDay % 100);
}

/** A span of time, from the start of its first day to the start of its last. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The span between two days that starts in a year; it may end in the next year. */
export function spanIn(year: number, [first, last]: readonly [YearDay, YearDay]): Span {
  return { from: instantIn(year, first), to: instantIn(last < first ? year + 1 : year, last) };
}

/** The overlap of two spans; `undefined` if it is less than a day. */
export function common(one: Span, other: Span): Span | undefined {
  const from = Math.max(one.from, other.from);
  const to = Math.min(one.to, other.to);
  return to - from >= day ? { from, to } : undefined;
}
