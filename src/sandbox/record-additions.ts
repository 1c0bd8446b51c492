import type { KeyLimits } from "../rules/key-record.js";
import type { VariedPoint } from "./run-trace.js";

/**
 * What the profile `varied` adds to each key and organization (R4). Records do not have it, except the limits: responses and
 * lists add it where they show a record, so that it comes and goes with the profile.
 */
export interface RecordAdditions {
  /** What the name of an organization ends in. */
  readonly nameEnding: string;
  /** The scopes of a key besides its own. None that an endpoint needs: a key that has to be rejected would pass. */
  readonly scopes: readonly string[];
  /**
   * Added to each limit that a scenario does not set, once, when its key starts. A limit that went down with the profile could be
   * lower than what the key has already used.
   */
  readonly limits: KeyLimits;
  /** The variants that decide all this, which only 200s show. */
  readonly variants: readonly VariedPoint[];
}
