import type { KeyLimits } from "../rules/key-state.js";
import type { VariedPoint } from "./run-trace.js";

/**
 * What the profile `varied` adds to each key and organization (R4). It is not written into records: responses and lists add it
 * where they show a record, so that it comes and goes with the profile. Only the limits are written into records.
 */
export interface RecordAdditions {
  /** What the name of an organization ends in. */
  readonly nameEnding: string;
  /** The scopes that each key shows besides its own. No endpoint requires any of these: a key that shows a scope must also pass where the scope is required. */
  readonly scopes: readonly string[];
  /**
   * Added to the limits of a scenario's key that the scenario does not set. A key gets this when the scenario starts, and keeps
   * it when the profile changes: a lower limit could be less than what the key has already used.
   */
  readonly limits: KeyLimits;
  /** The variants that decide all this, which only 200s show. */
  readonly variants: readonly VariedPoint[];
}
