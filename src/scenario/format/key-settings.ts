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
  const { per_minute: perMinute = defaultLimits.perMinute, per_day: perDay = defaultLimits.perDay } = limits;
  return { name, scopes, limits: { perMinute, perDay } };
}

/** What ends a scenario's key, read, but without a start for its durations. */
export interface GivenEnds {
  readonly state: KeyStateName;
  readonly isReplaced: boolean;
  readonly ends: ReturnType<typeof readTimes>;
}

const readTimes = (key: ScenarioKey) => forEachEnd((end) => parseWhen(key[keyEnds[end]] ?? ""));

export function readEnds(key: ScenarioKey): GivenEnds | undefined {
  const { state = "active" } = key;
  const ends = readTimes(key);
  const isEndless = Object.values(ends).every((when) => when === undefined);
  if (state === "active" && isEndless) return undefined;
  // A replaced key can expire or be revoked before its overlap ends.
  const isReplaced = state === "retiring" || state === "rotated" || key.replaced_by !== undefined;
  return { state, isReplaced, ends };
}

/** Returns the ends of a key whose durations count from `start`: the given ones, or those of its state. */
export function endsFrom(start: number, { state, isReplaced, ends }: GivenEnds): KeyEnds {
  const at = (when: When | undefined) => (when === undefined ? undefined : timeFrom(start, when));
  const expiresAt = at(ends.expiresAt) ?? (state === "expired" ? start : undefined);
  const ofState = { active: undefined, retiring: start + defaultOverlap, rotated: start, revoked: start };
  const overlap = at(ends.overlapEndsAt) ?? { ...ofState, expired: expiresAt }[state];
  const times: Readonly<Record<keyof KeyEnds, number | undefined>> = {
    revokedAt: state === "revoked" ? (at(ends.revokedAt) ?? start) : undefined,
    expiresAt,
    overlapEndsAt: isReplaced ? overlap : undefined,
  };
  return Object.fromEntries(Object.entries(times).filter(([, end]) => end !== undefined));
}

/** The state of a key when the clock starts; `undefined` if a date decides, and the start is not known. */
export function keyStateAtStart(key: ScenarioKey, start: number | undefined): KeyStateName | undefined {
  const written = readEnds(key);
  if (written === undefined) return "active";
  const hasDate = Object.values(written.ends).some((when) => when !== undefined && "at" in when);
  // A revoked key stays revoked.
  if (start === undefined && hasDate && written.state !== "revoked") return undefined;
  return keyStateAt(endsFrom(start ?? 0, written), start ?? 0);
}
