import { pick, type RandomStream, randomStream } from "../spec/seed.js";
import { common, day, type Span, spanIn, yearOf } from "./dates.js";
import { between, chance, wholeBetween } from "./exact-math.js";
import type { FarmContext } from "./farm-context.js";
import type { LossCause } from "./farmer-shape.js";

/** The seed and the place that the weather depends on. */
type WeatherSite = Pick<FarmContext, "seed" | "country" | "region">;

/** A period without rain, with a severity of at most 1. */
interface Drought extends Span {
  readonly severity: number;
}

/**
 * The droughts of a subdivision that overlap a span of time by a day or more, earliest first.
 *
 * They depend only on seed, place and calendar, so all farmers of the subdivision share them, no matter the season of a
 * field. Some hit the whole country.
 */
export function droughtsIn(site: WeatherSite, span: Span): readonly Drought[] {
  return yearsOf(span).flatMap((year) =>
    site.country.droughts.flatMap((window, index) => {
      const months = spanIn(year, window);
      if (common(months, span) === undefined) return [];
      const drought = droughtOf(site, `${year}-${index}`, months);
      return drought !== undefined && common(drought, span) !== undefined ? [drought] : [];
    }),
  );
}

/** The possible start years of an event that overlaps a span of time. */
function yearsOf({ from, to }: Span): number[] {
  const first = yearOf(from) - 1;
  return Array.from({ length: yearOf(to) - first + 1 }, (_, index) => first + index);
}

function droughtOf({ seed, country, region }: WeatherSite, when: string, months: Span): Drought | undefined {
  // If rain can fail twice a year, each failure is less likely.
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

/** The remaining share of a usual harvest, and the cause of a large loss. */
interface Harm {
  readonly left: number;
  readonly cause: LossCause | null;
}

/** The damage to a crop while it grows in a field. */
export function harmOf(farm: FarmContext, growth: Span, irrigated: boolean, draw: RandomStream): Harm {
  const severity = Math.max(0, ...droughtsIn(farm, growth).map((drought) => drought.severity));
  const inDrought = 1 - severity * (irrigated ? 0.1 : 0.65);
  const possible = chance(draw, 0.12) ? hazardsDuring(farm, growth) : [];
  const struck = possible.length > 0 ? pick(draw, possible).peril : undefined;
  const spared = struck === undefined ? 1 : between(draw, 0.15, 0.75);
  const left = inDrought * spared;
  // A loss of less than a seventh is normal.
  if (Math.min(inDrought, spared) > 0.85) return { left, cause: null };
  return { left, cause: struck !== undefined && spared < inDrought ? struck : "drought" };
}

/** A possible day of the damage to a crop that grew in a span of time; the last day if no other is possible. */
export function dayOfHarm(farm: FarmContext, cause: LossCause, growth: Span, draw: RandomStream): number {
  const shared =
    cause === "drought"
      ? droughtsIn(farm, growth).flatMap((drought) => common(drought, growth) ?? [])
      : hazardsDuring(farm, growth).flatMap(({ peril, spans }) => (peril === cause ? spans : []));
  if (shared.length === 0) return growth.to;
  const { from, to } = pick(draw, shared);
  return from + wholeBetween(draw, 0, (to - from) / day - 1) * day;
}

/** The hazards of the region during the growth of a crop, each with its possible times. */
function hazardsDuring({ region }: FarmContext, growth: Span) {
  const hazards = region.hazards.map(([peril, first, last]) => ({
    peril,
    spans: yearsOf(growth).flatMap((year) => common(spanIn(year, [first, last]), growth) ?? []),
  }));
  return hazards.filter(({ spans }) => spans.length > 0);
}
