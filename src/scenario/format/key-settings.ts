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

/** What a scenario says of the end of a key: times, and durations, which have no start yet. */
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

/** The ends of a key whose durations count from `start`: the given ones, and those that its state needs. */
export function endsFrom(start: number, given: GivenEnds): KeyEnds {
  const { state, isReplaced, ends } = given;
  const timeOf = (when: When | undefined) => (when === undefined ? undefined : timeFrom(start, when));
  const times: Writable<KeyEnds> = {};
  if (state === "revoked") times.revokedAt = timeOf(ends.revokedAt) ?? start;

  let expiresAt = timeOf(ends.expiresAt);
  if (expiresAt === undefined && state === "expired") expiresAt = start;
  if (expiresAt !== undefined) times.expiresAt = expiresAt;

  if (isReplaced) {
    let overlapEndsAt = timeOf(ends.overlapEndsAt);
    if (overlapEndsAt === undefined) {
      // A retiring key is in its overlap, a rotated or revoked one is past it, and an expired one was until it expired.
      if (state === "retiring") overlapEndsAt = start + defaultOverlap;
      if (state === "rotated" || state === "revoked") overlapEndsAt = start;
      if (state === "expired") overlapEndsAt = expiresAt;
    }
    if (overlapEndsAt !== undefined) times.overlapEndsAt = overlapEndsAt;
  }
  return times;
}

/** The state of a key when the clock starts; `undefined` if a time decides, and the start is not known. */
export function keyStateAtStart(key: KeyFields, start: number | undefined): KeyStateName | undefined {
  const writtenEnds = readEnds(key);
  if (writtenEnds === undefined) return "active";
  if (start !== undefined) return keyStateAt(endsFrom(start, writtenEnds), start);

  // A revoked key stays revoked, whenever that was.
  const hasTime = Object.values(writtenEnds.ends).some((when) => when !== undefined && "at" in when);
  if (hasTime && writtenEnds.state !== "revoked") return undefined;
  // With durations alone, the state is the same at any start.
  return keyStateAt(endsFrom(0, writtenEnds), 0);
}

/** The scopes of a key without its own. */
export const defaultScopes: readonly string[] = ["attestations:read"];
