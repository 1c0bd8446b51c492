import type { Scenario } from "../scenario/scenario.generated.js";
import type { Endpoint, Routes } from "./call.js";
import type { FarmerMaker } from "./farmer-records/farmer-list.js";

/** Time, randomness, hashing, endpoints and farmers, passed in so that a sandbox runs in Node and in browsers. */
export interface Platform {
  /** SHA-256 of a text's UTF-8 bytes, as 64 lowercase hex digits. */
  readonly sha256: (text: string) => string;
  /** The wall clock, which may be set back, or be a fake `Date`: a sandbox's clock never goes back with it. */
  readonly time: () => number;
  /** A clock for durations, in fractional milliseconds. */
  readonly stopwatch: () => number;
  /** Unpredictable unsigned 32-bit integers, used only for keys that are created at run time. */
  readonly random: () => number;
  /** Creates farmers; called when the first one is read. Default: there are none. */
  readonly farmers?: FarmerMaker;
  readonly endpoints: (scenario: Scenario) => readonly Endpoint[];
  readonly routes: (endpoints: readonly Endpoint[]) => Routes;
}
