import { pick, type RandomStream, randomStream } from "../../domain/seed.js";
import { common, day, type Span, spanIn, yearOf } from "./dates.js";
import { between, chance, wholeBetween } from "./exact-math.js";
import type { FarmContext } from "./farm-context.js";
import type { LossCause } from "./farmer-shape.js";

/** The subdivision and the seed that the weather depends on. */
type WeatherSite = Pick<FarmContext, "seed" | "country" | "region">;

/** Weeks without rain, and their severity: up to 1. */
interface Drought extends Span {
  readonly severity: number;
}

/**
 * The droughts of a subdivision that overlap a span of time by a day or more, the earliest first.
 *
 * They depend on seed, place and calendar alone: all farmers of the subdivision share them, whatever season a field is
 * in. Some hit the whole country.
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

/** The years in which something that lasts into a span of time may have begun. */
function yearsOf({ from, to }: Span): number[] {
  const first = yearOf(from) - 1;
  return Array.from({ length: yearOf(to) - first + 1 }, (_, index) => first + index);
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

/** The share of a usual harvest that is left, and the cause of the loss if it was large. */
interface Harm {
  readonly left: number;
  readonly cause: LossCause | null;
}

/** The harm to a crop while it grows on a field. */
export function harmOf(farm: FarmContext, growth: Span, irrigated: boolean, draw: RandomStream): Harm {
  const severity = Math.max(0, ...droughtsIn(farm, growth).map((drought) => drought.severity));
  const inDrought = 1 - severity * (irrigated ? 0.1 : 0.65);
  const possible = chance(draw, 0.12) ? hazardsDuring(farm, growth) : [];
  const struck = possible.length > 0 ? pick(draw, possible).peril : undefined;
  const spared = struck === undefined ? 1 : between(draw, 0.15, 0.75);
  const left = inDrought * spared;
  // A loss of less than a seventh is an ordinary year.
  if (Math.min(inDrought, spared) > 0.85) return { left, cause: null };
  return { left, cause: struck !== undefined && spared < inDrought ? struck : "drought" };
}

/** A day on which a cause can have harmed a crop that grew in a span of time; the last day if there is none. */
export function dayOfHarm(farm: FarmContext, cause: LossCause, growth: Span, draw: RandomStream): number {
  const shared =
    cause === "drought"
      ? droughtsIn(farm, growth).flatMap((drought) => common(drought, growth) ?? [])
      : hazardsDuring(farm, growth).flatMap(({ peril, spans }) => (peril === cause ? spans : []));
  if (shared.length === 0) return growth.to;
  const { from, to } = pick(draw, shared);
  return from + wholeBetween(draw, 0, (to - from) / day - 1) * day;
}

/** The hazards of the region that may strike while a crop grows, each with the times at which it may. */
function hazardsDuring({ region }: FarmContext, growth: Span) {
  const hazards = region.hazards.map(([peril, first, last]) => ({
    peril,
    spans: yearsOf(growth).flatMap((year) => common(spanIn(year, [first, last]), growth) ?? []),
  }));
  return hazards.filter(({ spans }) => spans.length > 0);
}
