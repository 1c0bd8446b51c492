import { pick, type RandomStream } from "../../domain/seed.js";
import { day, yearOf } from "./dates.js";
import { between, chance, wholeBetween } from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import type { LossCause } from "./farmer.js";
import { type Hazard, hazardsOf } from "./hazards.js";
import { common, type Span, spanIn } from "./spans.js";
import { droughtsIn, type Place, yieldInDrought } from "./weather.js";

/** What is left of a usual harvest, and what took the rest if it was much. */
export interface Harm {
  readonly left: number;
  readonly cause: LossCause | null;
}

/** What befalls a crop while it grows on a field. */
export function harmOf(world: FarmWorld, growth: Span, irrigated: boolean, draw: RandomStream): Harm {
  const severity = Math.max(0, ...droughtsIn(placeOf(world), growth).map((drought) => drought.severity));
  const inDrought = yieldInDrought(severity, irrigated);
  const possible = chance(draw, 0.06) ? hazardsDuring(world, growth) : [];
  const struck = possible.length > 0 ? pick(draw, possible)[0] : undefined;
  const spared = struck === undefined ? 1 : between(draw, 0.25, 0.75);
  const left = inDrought * spared;
  // What is lost by less than a seventh is an ordinary year.
  if (Math.min(inDrought, spared) > 0.85) return { left, cause: null };
  return { left, cause: struck !== undefined && spared < inDrought ? struck : "drought" };
}

/** A day on which a cause can have harmed what grew in a span of time; the last day if there is none. */
export function dayOfHarm(world: FarmWorld, cause: LossCause, growth: Span, draw: RandomStream): number {
  const spans = cause === "drought" ? droughtsIn(placeOf(world), growth) : hazardSpans(world, cause, growth);
  const shared = spans.map((span) => common(span, growth)).filter((span) => span !== undefined);
  if (shared.length === 0) return growth.to;
  const { from, to } = pick(draw, shared);
  return from + wholeBetween(draw, 0, (to - from) / day - 1) * day;
}

function placeOf({ seed, country, region }: FarmWorld): Place {
  return { seed, country: country.code, subdivision: region.code };
}

function hazardsDuring({ country, region }: FarmWorld, growth: Span): readonly Hazard[] {
  return hazardsOf(country.code, region.code).filter((hazard) =>
    spansOf(hazard, growth).some((span) => common(span, growth) !== undefined),
  );
}

function hazardSpans({ country, region }: FarmWorld, cause: LossCause, growth: Span): readonly Span[] {
  return hazardsOf(country.code, region.code).flatMap((hazard) =>
    hazard[0] === cause ? spansOf(hazard, growth) : [],
  );
}

/** The times of a hazard in the years that a crop may see. */
function spansOf([, first, last]: Hazard, growth: Span): readonly Span[] {
  const spans: Span[] = [];
  for (let year = yearOf(growth.from) - 1; year <= yearOf(growth.to); year++) {
    spans.push(spanIn(year, [first, last]));
  }
  return spans;
}
