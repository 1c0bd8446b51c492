import type { Environment } from "./api-key.js";
import type { KeyLimits } from "./limits.js";

/**
 * What is known of a key: everything but the key itself, of which only the SHA-256 is kept (R35).
 *
 * Times are epoch milliseconds. Records are never changed in place.
 */
export interface KeyRecord {
  readonly ref: string;
  /** Ref of the organization that the key belongs to. */
  readonly organization: string;
  readonly name: string;
  readonly environment: Environment;
  readonly legacy: boolean;
  readonly scopes: readonly string[];
  readonly limits: KeyLimits;
  /** SHA-256 of the full key, 64 lower-case hex digits. */
  readonly sha256: string;
  readonly revokedAt?: number;
  readonly expiresAt?: number;
  /** When the old key of a rotation ends; set exactly when the key was replaced. */
  readonly overlapEndsAt?: number;
  readonly replacedBy?: string;
  /** Ref of the key that this one replaced. */
  readonly replaces?: string;
}

/** The states a key can be in at an instant; the names are ours, the specification names none. */
export const keyStates = ["active", "revoked", "expired", "retiring", "rotated"] as const;
export type KeyState = (typeof keyStates)[number];

/**
 * The state of a key at an instant (R12, R13, R38, R43).
 *
 * Each end is exclusive for the key: at the very millisecond of expiry it is expired, at the very
 * millisecond at which the overlap ends it is rotated. Where a key has ended twice, the first end counts.
 *
 * @example
 * keyStateAt({ ...key, expiresAt: 1000 }, 999); // "active"
 * keyStateAt({ ...key, expiresAt: 1000 }, 1000); // "expired"
 */
export function keyStateAt(key: KeyRecord, now: number): KeyState {
  if (key.revokedAt !== undefined && now >= key.revokedAt) return "revoked";
  const expiresAt = key.expiresAt ?? Number.POSITIVE_INFINITY;
  const overlapEndsAt = key.overlapEndsAt ?? Number.POSITIVE_INFINITY;
  if (now >= expiresAt && expiresAt <= overlapEndsAt) return "expired";
  if (now >= overlapEndsAt) return "rotated";
  return key.overlapEndsAt === undefined ? "active" : "retiring";
}

/** How many active keys an organization may hold in one environment (R32). */
export const maximumActiveKeys = 5;

/** How long the old key of a rotation works when nothing is said, and at most, in milliseconds (R39). */
export const defaultOverlap = 60 * 60_000;
export const maximumOverlap = 7 * 24 * 60 * 60_000;

/** The scopes of a key for which a scenario or a caller says nothing. */
export const defaultScopes: readonly string[] = ["attestations:read"];

/** The variable in which clients find the key of a ref: `SVC_KEY_RATE_LIMITED`. */
export function variableOf(ref: string): string {
  return `SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`;
}
