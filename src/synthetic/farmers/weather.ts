import { randomStream } from "../../domain/seed.js";
import type { CountryCode } from "./countries.js";
import { day, yearOf } from "./dates.js";
import { between, chance, wholeBetween } from "./exact-math.js";
import { droughtMonths } from "./hazards.js";
import { common, type Span, spanIn } from "./spans.js";

/** Where and with which seed the weather is asked for. */
export interface Place {
  readonly seed: number;
  readonly country: CountryCode;
  /** ISO 3166-2. */
  readonly subdivision: string;
}

/** Weeks without rain, and how hard they are: up to 1. */
export interface Drought extends Span {
  readonly severity: number;
}

/**
 * The droughts of a subdivision that a span of time has a day in common with, the earliest first.
 *
 * They hang on seed, place and calendar alone: all who farm there share them, whatever season a field is in. Some hit
 * the whole country.
 */
export function droughtsIn(place: Place, span: Span): readonly Drought[] {
  const windows = droughtMonths[place.country];
  const found: Drought[] = [];
  for (let year = yearOf(span.from) - 1; year <= yearOf(span.to); year++) {
    for (const [i, window] of windows.entries()) {
      const months = spanIn(year, window);
      if (common(months, span) === undefined) continue;
      const drought = droughtOf(place, `${year}-${i}`, months, windows.length);
      if (drought !== undefined && common(drought, span) !== undefined) found.push(drought);
    }
  }
  return found;
}

function droughtOf(
  { seed, country, subdivision }: Place,
  when: string,
  months: Span,
  windows: number,
): Drought | undefined {
  // Where rain can fail twice a year, it does so less often each time.
  const rarer = windows > 1 ? 0.75 : 1;
  const wide = randomStream(seed, "weather.drought", country, when);
  const local = randomStream(seed, "weather.drought", subdivision, when);
  const severity = Math.max(
    chance(wide, 0.06 * rarer) ? between(wide, 0.4, 1) : 0,
    chance(local, 0.12 * rarer) ? between(local, 0.4, 1) : 0,
  );
  if (severity === 0) return undefined;
  const length = wholeBetween(local, 40, 65);
  const room = (months.to - months.from) / day - length;
  const from = months.from + wholeBetween(local, 0, room) * day;
  return { from, to: from + length * day, severity };
}

/** What is left of a usual yield in a drought. */
export function yieldInDrought(severity: number, irrigated: boolean): number {
  return 1 - severity * (irrigated ? 0.1 : 0.65);
}
