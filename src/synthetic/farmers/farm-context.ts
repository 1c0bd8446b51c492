import type { RandomStream } from "../../domain/seed.js";
import type { Country, Region } from "./tables.js";

/** The context from which every part of one farmer is made. */
export interface FarmContext {
  readonly seed: number;
  readonly start: number;
  readonly country: Country;
  readonly region: Region;
  readonly id: string;
  /** The first year in all of which the farmer is 18 or older. */
  readonly adultFrom: number;
  /** A random stream of this farmer's own for each part, so that a new part changes no other. */
  readonly draws: (label: string, ...more: readonly string[]) => RandomStream;
}
