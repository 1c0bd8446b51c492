import {
  defaultOverlap,
  defaultScopes,
  forEachEnd,
  type KeyEnds,
  type KeyLimits,
  type KeySettings,
  type KeyStateName,
  keyEnds,
  keyStateAt,
} from "../../rules/api-key.js";
import { parseWhen, timeFrom, type When } from "../../rules/time.js";
import type { ScenarioKey } from "../described-keys.js";

export interface WrittenSettings {
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly limits?:
    | { readonly per_minute?: number | undefined; readonly per_day?: number | undefined }
    | undefined;
}

const defaultLimits: KeyLimits = { perMinute: 60, perDay: 1000 };

/** Returns the settings for a key's record; `invented` is the name that the seed generates. */
export function readSettings(fields: WrittenSettings, invented: () => string): KeySettings {
  const { name = invented(), scopes = defaultScopes, limits } = fields;
  // One object for the many keys of a population.
  if (limits === undefined) return { name, scopes, limits: defaultLimits };
  const perMinute = limits.per_minute ?? defaultLimits.perMinute;
  const perDay = limits.per_day ?? defaultLimits.perDay;
  return { name, scopes, limits: { perMinute, perDay } };
}

/** What ends a scenario's key: its times are read, but its durations have no start yet. */
export interface GivenEnds {
  readonly state: KeyStateName;
  readonly isReplaced: boolean;
  readonly ends: Readonly<Record<keyof KeyEnds, When | undefined>>;
}

export function readEnds(key: ScenarioKey): GivenEnds | undefined {
  const { state = "active" } = key;
  const ends = forEachEnd((end) => parseWhen(key[keyEnds[end]] ?? ""));
  const isEndless = Object.values(ends).every((when) => when === undefined);
  if (state === "active" && isEndless) return undefined;
  // A replaced key can expire or be revoked before its overlap ends.
  const isReplaced = state === "retiring" || state === "rotated" || key.replaced_by !== undefined;
  return { state, isReplaced, ends };
}

/** Returns the ends of a key whose durations count from `start`: the given ones, or those of its state. */
export function endsFrom(start: number, given: GivenEnds): KeyEnds {
  const { state, isReplaced, ends } = given;
  const at = (when: When | undefined) => (when === undefined ? undefined : timeFrom(start, when));
  const times: { -readonly [End in keyof KeyEnds]: KeyEnds[End] } = {};
  if (state === "revoked") times.revokedAt = at(ends.revokedAt) ?? start;

  let expiresAt = at(ends.expiresAt);
  if (expiresAt === undefined && state === "expired") expiresAt = start;
  if (expiresAt !== undefined) times.expiresAt = expiresAt;

  if (isReplaced) {
    const overlapEndsAt = at(ends.overlapEndsAt) ?? overlapEndOf(state, start, expiresAt);
    if (overlapEndsAt !== undefined) times.overlapEndsAt = overlapEndsAt;
  }
  return times;
}

/** The end of the overlap of a replaced key, if the scenario does not have it. */
function overlapEndOf(state: KeyStateName, start: number, expiresAt: number | undefined): number | undefined {
  switch (state) {
    case "active":
      return undefined;
    case "retiring":
      return start + defaultOverlap;
    case "expired":
      return expiresAt;
    case "rotated":
    case "revoked":
      return start;
  }
}

/** The state of a key when the clock starts; `undefined` if a date decides, and the start is not known. */
export function keyStateAtStart(key: ScenarioKey, start: number | undefined): KeyStateName | undefined {
  const given = readEnds(key);
  if (given === undefined) return "active";
  if (start !== undefined) return keyStateAt(endsFrom(start, given), start);

  const hasDate = Object.values(given.ends).some((when) => when !== undefined && "at" in when);
  // A revoked key stays revoked.
  if (hasDate && given.state !== "revoked") return undefined;
  // With durations alone, the state is the same at any start.
  return keyStateAt(endsFrom(0, given), 0);
}
