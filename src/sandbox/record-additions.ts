import type { KeyLimits } from "../rules/key-record.js";
import type { VariedPoint } from "./run-trace.js";

/**
 * What the profile `varied` adds to each key and organization (R4). Records do not have it, except the limits: responses and
 * lists add it where they show a record, so that it comes and goes with the profile.
 */
export interface RecordAdditions {
  /** What the name of an organization ends in. */
  readonly nameEnding: string;
  /** The scopes of a key besides its own. No endpoint requires any of these, or a key without the required scope would pass. */
  readonly scopes: readonly string[];
  /**
   * Added to the limits of a scenario's key that the scenario does not set. A key gets this only when the scenario starts, and
   * keeps it when the profile changes: a lower limit could be less than what the key has already used.
   */
  readonly limits: KeyLimits;
  /** The variants that decide all this, which only 200s show. */
  readonly variants: readonly VariedPoint[];
}
