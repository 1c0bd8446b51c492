import { base62From, type RandomStream } from "./seed.js";
import { day, hour, lastInstant } from "./time.js";

/** The limits of a key; with 0, every request is rejected (R22, R23). */
export interface KeyLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

export const environments = ["test", "live"] as const;
export type Environment = (typeof environments)[number];

/** The prefix of a key, with its environment and kind (R3, R16). */
interface KeyPrefix {
  readonly prefix: string;
  readonly environment: Environment;
  readonly legacy: boolean;
}

/** The four prefixes of the specification (section 2.2), in the order they are tried. */
export const keyPrefixes: readonly KeyPrefix[] = [
  { prefix: "SVC_test_", environment: "test", legacy: false },
  { prefix: "SVC_live_", environment: "live", legacy: false },
  { prefix: "legacysvc_test_", environment: "test", legacy: true },
  { prefix: "legacysvc_live_", environment: "live", legacy: true },
];

/** The mark between the prefix and the random part of every key that a sandbox creates. */
export const sandboxMark = "sbx";

/** The number of random characters at the end of every key that a sandbox creates. */
export const randomLength = 29;

/** The maximum length of a key in characters, including its prefix. Longer keys are malformed. */
const maximumKeyLength = 256;

/** By character code: 1 for the letters, digits, `_` and `-`. */
const keyCharacters = new Uint8Array(128).map((_zero, code) =>
  /[\w-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** `undefined` if the string is not a well-formed key (R10). `marked`: whether it has the mark of a sandbox. */
export function parseApiKey(presented: string): (KeyPrefix & { readonly marked: boolean }) | undefined {
  if (!isWellFormedKey(presented)) return undefined;
  const row = findPrefix(presented) as KeyPrefix; // a well-formed key has one
  return { ...row, marked: hasSandboxMark(presented) };
}

/** Whether a key has the mark of a sandbox behind its prefix. */
export function hasSandboxMark(key: string): boolean {
  return key.startsWith(sandboxMark, prefixLength(key));
}

/** 0 without a prefix. */
function prefixLength(key: string): number {
  return findPrefix(key)?.prefix.length ?? 0;
}

/** Whether the string is a prefix, the mark and a random part of the right length. */
export function isSandboxKey(key: string): boolean {
  if (!hasSandboxMark(key) || !isWellFormedKey(key)) return false;
  return key.length === prefixLength(key) + sandboxMark.length + randomLength;
}

/** Describes a presented key without any of its characters (R46): `18 characters, a quotation mark first`. */
export function describeKeyForm(presented: string): string {
  if (presented === "") return "empty";
  const length = presented.length === 1 ? "1 character" : `${presented.length} characters`;

  // Not a key.
  if (findPrefix(presented) === undefined) {
    if (presented.startsWith('"') || presented.startsWith("'")) return `${length}, a quotation mark first`;
    if (presented.includes(" ")) return `${length}, no prefix of a key, a space in it`;
    return `${length}, no prefix of a key`;
  }
  if (prefixLength(presented) === presented.length) return `${length}, nothing behind the prefix`;
  if (presented.length > maximumKeyLength) return `${length}, more than a key can have`;
  if (!isWellFormedKey(presented)) return `${length}, some of which no key has`;
  if (!hasSandboxMark(presented)) return `${length}, without the mark of a sandbox`;

  // A sandbox's key, perhaps cut or extended.
  const excess = presented.length - prefixLength(presented) - sandboxMark.length - randomLength;
  if (excess === 0) return length;
  const comparison = excess > 0 ? `${excess} more` : `${-excess} less`;
  return `${length}: ${comparison} than a key of this sandbox has`;
}

/** What a request has as its key: no header, a text that is no key, or a key, known or not. */
export type PresentedKind = "missing" | "malformed" | "well_formed";

/** A prefix, then letters, digits, `_` and `-`, at most 256 characters: the specification does not describe more. */
export function isWellFormedKey(presented: string): boolean {
  if (presented.length > maximumKeyLength) return false;
  const start = findPrefix(presented)?.prefix.length;
  if (start === undefined || start === presented.length) return false;
  // Not a regular expression: V8 keeps the last string it was run on, and this string is a key (R35).
  for (let index = start; index < presented.length; index++) {
    if (!isKeyCharacter(presented.charCodeAt(index))) return false;
  }
  return true;
}

/** Whether a key can have this character, by its code, behind its prefix. */
export function isKeyCharacter(code: number): boolean {
  return keyCharacters[code] === 1;
}

/** The row of the prefix that a text starts with. */
export function findPrefix(presented: string): KeyPrefix | undefined {
  for (const row of keyPrefixes) {
    if (presented.startsWith(row.prefix)) return row;
  }
  return undefined;
}

/** The prefix of keys of this environment and kind. */
export function prefixOf(environment: Environment, legacy: boolean): string {
  const isWanted = (row: KeyPrefix) => row.environment === environment && row.legacy === legacy;
  const row = keyPrefixes.find(isWanted) as KeyPrefix; // there is one for each pair
  return row.prefix;
}

/** Creates a full key: prefix, `sbx`, and 29 base62 characters from the stream. */
export function makeSecret(random: RandomStream, key: Pick<KeyRecord, "environment" | "legacy">): string {
  const prefix = prefixOf(key.environment, key.legacy);
  return prefix + sandboxMark + base62From(random, randomLength);
}

/** The part of a key's hash that names a key in logs and reports. */
export function fingerprintOf(sha256: string): string {
  return sha256.slice(0, 12);
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

/** The times that end a key, in epoch milliseconds; a key can have several. */
export interface KeyEnds {
  readonly revokedAt?: number;
  readonly expiresAt?: number;
  /** Only of a replaced key. */
  readonly overlapEndsAt?: number;
}
type KeyEnd = keyof KeyEnds;
export const keyEndNames: readonly KeyEnd[] = ["revokedAt", "expiresAt", "overlapEndsAt"];

/** The fields of scenarios for these times. */
export const keyEndFields = {
  revokedAt: "revoked_at",
  expiresAt: "expires",
  overlapEndsAt: "overlap_ends",
} as const satisfies Readonly<Record<KeyEnd, string>>;

/** A value for each of the times that end a key, by its name. */
export function mapKeyEnds<Value>(read: (end: KeyEnd) => Value): Readonly<Record<KeyEnd, Value>> {
  return {
    revokedAt: read("revokedAt"),
    expiresAt: read("expiresAt"),
    overlapEndsAt: read("overlapEndsAt"),
  };
}

/** The name of the earliest time that ends a key, of equal ones the first; `undefined` if none is known. */
export function earliestEnd(key: KeyEnds): KeyEnd | undefined {
  const never = Number.POSITIVE_INFINITY;
  const { revokedAt = never, expiresAt = never, overlapEndsAt = never } = key;
  const earliest = Math.min(revokedAt, expiresAt, overlapEndsAt);
  if (earliest === never) return undefined;
  if (revokedAt === earliest) return "revokedAt";
  return expiresAt === earliest ? "expiresAt" : "overlapEndsAt";
}

/**
 * The state of a key at an instant (R12, R13, R38, R43).
 *
 * Each end is exclusive: a key is expired in the millisecond of its expiry, and rotated in the millisecond when its
 * overlap ends. A revoked key stays revoked, whenever it would have ended; of the other two ends, the first counts.
 *
 * @example
 * keyStateAt({ ...key, expiresAt: 1000 }, 999); // "active"
 * keyStateAt({ ...key, expiresAt: 1000 }, 1000); // "expired"
 */
export function keyStateAt(key: KeyEnds, now: number): KeyStateName {
  if (key.revokedAt !== undefined) return "revoked";
  const expiresAt = key.expiresAt ?? Number.POSITIVE_INFINITY;
  const overlapEndsAt = key.overlapEndsAt ?? Number.POSITIVE_INFINITY;
  // At a tie, the key is expired.
  if (now >= expiresAt && expiresAt <= overlapEndsAt) return "expired";
  if (now >= overlapEndsAt) return "rotated";
  return key.overlapEndsAt === undefined ? "active" : "retiring";
}

/** Everything that differs between the states of keys. */
interface KeyStateRow {
  /** Whether the key has ended for good: no action changes it again (R42). */
  readonly isOver: boolean;
  /** The outcome of each request with the key; `null` if the other checks decide. */
  readonly rejection: `401.${string}` | null;
  /** Whether it counts toward the maximum (R32), or the assumption that decides. */
  readonly counts: boolean | "retiring_counts_as_active";
  /** The time when the state began; `null` if the record has none. */
  readonly since: keyof KeyEnds | null;
}

/** The states of a key. The specification does not name them. */
export const keyStateTable = {
  active: { isOver: false, rejection: null, counts: true, since: null },
  revoked: { isOver: true, rejection: "401.revoked", counts: false, since: "revokedAt" },
  expired: { isOver: true, rejection: "401.expired", counts: false, since: "expiresAt" },
  retiring: { isOver: false, rejection: null, counts: "retiring_counts_as_active", since: null },
  rotated: { isOver: true, rejection: "401.rotated", counts: false, since: "overlapEndsAt" },
} as const satisfies Readonly<Record<string, KeyStateRow>>;
export type KeyStateName = keyof typeof keyStateTable;
export const keyStates = Object.keys(keyStateTable) as KeyStateName[];

/** The most active keys of an organization in each environment (R32). */
export const maximumActiveKeys = 5;

/** Whether a key in this state counts toward that maximum. */
export function countsAsActive(
  state: KeyStateName,
  assumptions: { readonly retiring_counts_as_active: boolean },
): boolean {
  const { counts } = keyStateTable[state];
  if (counts === "retiring_counts_as_active") return assumptions.retiring_counts_as_active;
  return counts;
}

/** The overlap of a rotation without one of its own, in milliseconds (R39). */
export const defaultOverlap = hour;

/** The longest overlap of a rotation, in milliseconds (R39). */
export const maximumOverlap = 7 * day;

/** The last instant that a clock shows: an overlap that starts then still ends in a four-digit year. */
export const lastClockInstant = lastInstant - maximumOverlap;

/** The environment variable with the key of this ref, for clients: `SVC_KEY_REVOKED`. */
export function keyVariable(ref: string): string {
  return `SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`;
}
