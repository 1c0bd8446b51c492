import type { KeyEnds } from "./key-state.js";
import type { Environment } from "./key-text.js";

/** The limits of a key; with 0, every request is rejected (R22, R23). */
export interface KeyLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The settings of a key. A rotation's replacement has the same ones (R37). */
export interface KeySettings {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly limits: KeyLimits;
}

/** A key as a sandbox has it: its hash, never the key itself (R35). A change makes a new record. */
export interface KeyRecord extends KeySettings, KeyEnds {
  readonly ref: string;
  /** The ref of its organization. */
  readonly organization: string;
  readonly environment: Environment;
  readonly legacy: boolean;
  /** SHA-256 of the full key, 64 lower-case hex digits. */
  readonly sha256: string;
  /** When it was created, in epoch milliseconds; not of a key that the scenario starts with. */
  readonly createdAt?: number;
  /** The ref of its replacement, if it was rotated. */
  readonly replacedBy?: string;
  /** The ref of the key that it replaced. */
  readonly replaces?: string;
}
