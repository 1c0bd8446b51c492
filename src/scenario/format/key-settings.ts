import {
  defaultOverlap,
  type KeyEnds,
  type KeyLimits,
  type KeySettings,
  type KeyStateName,
  keyStateAt,
} from "../../rules/api-key.js";
import type { Writable } from "../../rules/writable.js";
import type { KeyFields } from "../described-keys.js";
import { parseWhen, timeFrom, type When } from "./when.js";

const defaultLimits: KeyLimits = { perMinute: 60, perDay: 1000 };

/** The settings of a key as a scenario has them. */
export interface WrittenSettings {
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly limits?:
    | { readonly per_minute?: number | undefined; readonly per_day?: number | undefined }
    | undefined;
}

/** Returns the settings for a key's record; `invented` is the name that the seed generates. */
export function readSettings(fields: WrittenSettings, invented: () => string): KeySettings {
  const { name = invented(), scopes = defaultScopes, limits } = fields;
  // One object for the many keys of a population.
  if (limits === undefined) return { name, scopes, limits: defaultLimits };
  const perMinute = limits.per_minute ?? defaultLimits.perMinute;
  const perDay = limits.per_day ?? defaultLimits.perDay;
  return { name, scopes, limits: { perMinute, perDay } };
}

/** What a scenario writes of the end of a key: times, and durations, which have no start yet. */
export interface GivenEnds {
  readonly state: KeyStateName;
  readonly isReplaced: boolean;
  readonly ends: Readonly<Record<keyof KeyEnds, When | undefined>>;
}

/** Reads what ends a key; `undefined` for an active key that nothing ends. */
export function readEnds(key: KeyFields): GivenEnds | undefined {
  const { state = "active" } = key;
  const ends = {
    revokedAt: parseWhen(key.revoked_at ?? ""),
    expiresAt: parseWhen(key.expires ?? ""),
    overlapEndsAt: parseWhen(key.overlap_ends ?? ""),
  };
  const isEndless = Object.values(ends).every((when) => when === undefined);
  if (state === "active" && isEndless) return undefined;

  // A replaced key can expire or be revoked before its overlap ends.
  const isReplaced = state === "retiring" || state === "rotated" || key.replaced_by !== undefined;
  return { state, isReplaced, ends };
}

/** When the keys of each state end, counted from `start`, unless their scenarios write these times. Only a replaced key has an overlap. */
const unwrittenEnds: Readonly<Record<KeyStateName, (start: number) => KeyEnds>> = {
  active: () => ({}),
  revoked: (start) => ({ revokedAt: start, overlapEndsAt: start }),
  expired: (start) => ({ expiresAt: start }),
  retiring: (start) => ({ overlapEndsAt: start + defaultOverlap }),
  rotated: (start) => ({ overlapEndsAt: start }),
};

/** The ends of a key whose durations count from `start`: the given ones, and those that its state needs. */
export function endsFrom(start: number, given: GivenEnds): KeyEnds {
  const { state, isReplaced, ends } = given;
  const unwritten = unwrittenEnds[state](start);
  const timeOf = (end: keyof KeyEnds) => {
    const when = ends[end];
    return when === undefined ? unwritten[end] : timeFrom(start, when);
  };

  const times: Writable<KeyEnds> = {};
  const revokedAt = timeOf("revokedAt");
  if (revokedAt !== undefined && state === "revoked") times.revokedAt = revokedAt;
  const expiresAt = timeOf("expiresAt");
  if (expiresAt !== undefined) times.expiresAt = expiresAt;
  if (!isReplaced) return times;

  let overlapEndsAt = timeOf("overlapEndsAt");
  // A replaced key that expired was in its overlap until then.
  if (overlapEndsAt === undefined && state === "expired") overlapEndsAt = expiresAt;
  if (overlapEndsAt !== undefined) times.overlapEndsAt = overlapEndsAt;
  return times;
}

/** The state of a key when the clock starts; `unknown` if a time decides, and the clock starts at the real time (`undefined`). */
export function keyStateAtStart(key: KeyFields, start: number | undefined): KeyStateName | "unknown" {
  const givenEnds = readEnds(key);
  if (givenEnds === undefined) return "active";
  if (start !== undefined) return keyStateAt(endsFrom(start, givenEnds), start);

  const hasTime = Object.values(givenEnds.ends).some((when) => when !== undefined && "at" in when);
  // A revoked key stays revoked, whenever that was.
  if (hasTime && givenEnds.state !== "revoked") return "unknown";
  // With durations alone, the state is the same at any start.
  const anyStart = 0;
  return keyStateAt(endsFrom(anyStart, givenEnds), anyStart);
}

/** The scopes of a key without its own. */
export const defaultScopes: readonly string[] = ["attestations:read"];
