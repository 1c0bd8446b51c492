import { pick, type RandomStream, randomStream } from "../../domain/seed.js";
import { common, day, type Span, spanIn, yearOf } from "./dates.js";
import { between, chance, wholeBetween } from "./exact-math.js";
import type { FarmContext } from "./farm-context.js";
import type { LossCause } from "./farmer-schema.js";
import type { Hazard } from "./tables.js";

/** The subdivision and the seed that the weather depends on. */
export type WeatherSite = Pick<FarmContext, "seed" | "country" | "region">;

/** Weeks without rain, and their severity: up to 1. */
export interface Drought extends Span {
  readonly severity: number;
}

/**
 * The droughts of a subdivision that overlap a span of time by a day or more, the earliest first.
 *
 * They depend on seed, place and calendar alone: all farmers of the subdivision share them, whatever season a field is
 * in. Some hit the whole country.
 */
export function droughtsIn(site: WeatherSite, span: Span): readonly Drought[] {
  const windows = site.country.droughts;
  const found: Drought[] = [];
  for (let year = yearOf(span.from) - 1; year <= yearOf(span.to); year++) {
    for (const [i, window] of windows.entries()) {
      const months = spanIn(year, window);
      if (common(months, span) === undefined) continue;
      const drought = droughtOf(site, `${year}-${i}`, months);
      if (drought !== undefined && common(drought, span) !== undefined) found.push(drought);
    }
  }
  return found;
}

function droughtOf({ seed, country, region }: WeatherSite, when: string, months: Span): Drought | undefined {
  // Where rain can fail twice a year, it does so less often each time.
  const rarer = country.droughts.length > 1 ? 0.75 : 1;
  const wide = randomStream(seed, "weather.drought", country.code, when);
  const local = randomStream(seed, "weather.drought", region.code, when);
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

/** The share of a usual yield that a drought leaves. */
function yieldInDrought(severity: number, irrigated: boolean): number {
  return 1 - severity * (irrigated ? 0.1 : 0.65);
}

/** The share of a usual harvest that is left, and the cause of the loss if it was large. */
export interface Harm {
  readonly left: number;
  readonly cause: LossCause | null;
}

/** The harm to a crop while it grows on a field. */
export function harmOf(farm: FarmContext, growth: Span, irrigated: boolean, draw: RandomStream): Harm {
  const severity = Math.max(0, ...droughtsIn(farm, growth).map((drought) => drought.severity));
  const inDrought = yieldInDrought(severity, irrigated);
  const possible = chance(draw, 0.06) ? hazardsDuring(farm, growth) : [];
  const struck = possible.length > 0 ? pick(draw, possible)[0] : undefined;
  const spared = struck === undefined ? 1 : between(draw, 0.25, 0.75);
  const left = inDrought * spared;
  // A loss of less than a seventh is an ordinary year.
  if (Math.min(inDrought, spared) > 0.85) return { left, cause: null };
  return { left, cause: struck !== undefined && spared < inDrought ? struck : "drought" };
}

/** A day on which a cause can have harmed a crop that grew in a span of time; the last day if there is none. */
export function dayOfHarm(farm: FarmContext, cause: LossCause, growth: Span, draw: RandomStream): number {
  const spans = cause === "drought" ? droughtsIn(farm, growth) : hazardSpans(farm, cause, growth);
  const shared = spans.map((span) => common(span, growth)).filter((span) => span !== undefined);
  if (shared.length === 0) return growth.to;
  const { from, to } = pick(draw, shared);
  return from + wholeBetween(draw, 0, (to - from) / day - 1) * day;
}

function hazardsDuring({ region }: FarmContext, growth: Span): readonly Hazard[] {
  return region.hazards.filter((hazard) =>
    spansOf(hazard, growth).some((span) => common(span, growth) !== undefined),
  );
}

function hazardSpans({ region }: FarmContext, cause: LossCause, growth: Span): readonly Span[] {
  return region.hazards.flatMap((hazard) => (hazard[0] === cause ? spansOf(hazard, growth) : []));
}

/** The times of a hazard in each year that a crop may grow in. */
function spansOf([, first, last]: Hazard, growth: Span): readonly Span[] {
  const spans: Span[] = [];
  for (let year = yearOf(growth.from) - 1; year <= yearOf(growth.to); year++) {
    spans.push(spanIn(year, [first, last]));
  }
  return spans;
}
