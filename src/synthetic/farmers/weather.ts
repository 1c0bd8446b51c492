import { drawsFor } from "../../domain/seed.js";
import { between, chance } from "./exact-math.js";

/**
 * How hard a drought hit a subdivision in the season that began in a year: 0 for none, up to 1.
 *
 * It hangs on seed, place and year alone, so all farmers of a place share it; in some years it is the whole country.
 */
export function droughtIn(seed: number, subdivision: string, year: number): number {
  const country = subdivision.slice(0, 2);
  return Math.max(droughtOf(seed, country, year, 0.06), droughtOf(seed, subdivision, year, 0.12));
}

function droughtOf(seed: number, place: string, year: number, probability: number): number {
  const draw = drawsFor(seed, "weather.drought", place, String(year));
  return chance(draw, probability) ? between(draw, 0.4, 1) : 0;
}

/** What is left of a usual yield in a drought. */
export function yieldInDrought(drought: number, irrigated: boolean): number {
  return 1 - drought * (irrigated ? 0.15 : 0.65);
}
