import type { RandomStream } from "../spec/seed.js";
import type { Country, Region } from "./tables.js";

/** The input for every part of a farmer. */
export interface FarmContext {
  readonly seed: number;
  readonly start: number;
  readonly country: Country;
  readonly region: Region;
  readonly id: string;
  /** The first year when the farmer is 18 or older all year. */
  readonly adultFrom: number;
  /** A separate random stream for each part of this farmer, so that a new part changes no other. */
  readonly draws: (label: string, ...more: readonly string[]) => RandomStream;
}
