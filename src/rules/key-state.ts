import type { Environment } from "./keys/key-text.js";
import { day, hour, lastInstant } from "./time.js";

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

// The state of a key follows from the times that end it.

/** The times that end a key, in epoch milliseconds; a key can have several. */
export interface KeyEnds {
  readonly revokedAt?: number;
  readonly expiresAt?: number;
  /** Only of a replaced key. */
  readonly overlapEndsAt?: number;
}

/** The overlap of a rotation without one of its own, in milliseconds (R39). */
export const defaultOverlap = hour;

/** The longest overlap of a rotation, in milliseconds (R39). */
export const maximumOverlap = 7 * day;

/** The last instant at which a clock can be: one maximum overlap before the last instant of all, so that each overlap ends in time. */
export const lastClockInstant = lastInstant - maximumOverlap;

/**
 * The state of a key at an instant (R12, R13, R38, R43).
 *
 * A revoked key stays revoked. Of the other two ends, the first counts. They are exclusive: a key is expired in the millisecond of its
 * expiry, and rotated in the millisecond when its overlap ends.
 *
 * @example
 * keyStateAt({ ...key, expiresAt: 1000 }, 999); // "active"
 * keyStateAt({ ...key, expiresAt: 1000 }, 1000); // "expired"
 */
export function keyStateAt(key: KeyEnds, now: number): KeyStateName {
  const end = endStateOf(key);
  if (end === "revoked") return end;
  if (end !== undefined && now >= endTime(key, end)) return end;
  return key.overlapEndsAt === undefined ? "active" : "retiring";
}

/** The state in which a key ends, by the first of its ends; `undefined` for a key without one. At a tie, the key is expired. */
export function endStateOf({ revokedAt, expiresAt, overlapEndsAt }: KeyEnds): EndStateName | undefined {
  if (revokedAt !== undefined) return "revoked";
  if (expiresAt === undefined) return overlapEndsAt === undefined ? undefined : "rotated";
  return overlapEndsAt === undefined || expiresAt <= overlapEndsAt ? "expired" : "rotated";
}

/** When a key ends, in epoch milliseconds; infinite for a key without an end. */
export function endTime(key: KeyEnds, end: EndStateName | undefined = endStateOf(key)): number {
  const time = end === undefined ? undefined : key[keyStateTable[end].endField];
  return time ?? Number.POSITIVE_INFINITY;
}

/** Everything that differs between the states of keys. */
interface KeyStateRow {
  /** Whether the key has ended for good: no action changes it again (R42). */
  readonly isOver: boolean;
  /** The outcome of each request with the key; `null` if the other checks decide. */
  readonly rejection: `401.${string}` | null;
  /** The member with the time that ended the key; `null` for a key that has not ended. */
  readonly endField: keyof KeyEnds | null;
}

/** The states of a key. The specification does not name them. */
export const keyStateTable = {
  active: { isOver: false, rejection: null, endField: null },
  revoked: { isOver: true, rejection: "401.revoked", endField: "revokedAt" },
  expired: { isOver: true, rejection: "401.expired", endField: "expiresAt" },
  retiring: { isOver: false, rejection: null, endField: null },
  rotated: { isOver: true, rejection: "401.rotated", endField: "overlapEndsAt" },
} as const satisfies Readonly<Record<string, KeyStateRow>>;
export type KeyStateName = keyof typeof keyStateTable;
/** The states that end a key. */
type EndStateName = "revoked" | "expired" | "rotated";
export const keyStates = Object.keys(keyStateTable) as KeyStateName[];

/** The most active keys of an organization in each environment (R32): one in its overlap is not active. */
export const maximumActiveKeys = 5;
