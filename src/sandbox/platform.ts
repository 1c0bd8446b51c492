import type { FarmerMaker } from "../synthetic/farmers/farmers.js";

/** What the running world needs from outside: time, a hash, and the tables of farmers. Passed in, so that every room runs in Node and in browsers. */
export interface Platform {
  /** SHA-256 of the text's UTF-8 bytes, as 64 lower-case hex digits. */
  readonly sha256: (text: string) => string;
  /** The wall clock, in epoch milliseconds. */
  readonly time: () => number;
  /** A clock for durations, in milliseconds with fractions. */
  readonly stopwatch: () => number;
  /** Unpredictable unsigned 32-bit integers, for the keys that are created at run time and for nothing else. */
  readonly random: () => number;
  /** Makes farmers. Not asked for before somebody wants to see one. */
  readonly farmers: FarmerMaker;
}
