import type { FarmerLocale } from "../../domain/farmer-locales.js";
import type { RandomStream } from "../../domain/seed.js";
import type { Country, Region } from "./countries.js";

/** What every part of one farmer is made from. */
export interface FarmWorld {
  readonly seed: number;
  readonly start: number;
  readonly locale: FarmerLocale;
  readonly country: Country;
  readonly region: Region;
  readonly id: string;
  /** The first year in all of which the farmer is 18 or older. */
  readonly grownUpFrom: number;
  /** A stream of this farmer's own for each part, so that a part that is added changes no other. */
  readonly draws: (label: string, ...more: readonly string[]) => RandomStream;
}
