import { defaultOverlap, type KeyEnds, type KeyStateName, keyStateAt } from "../../rules/key-state.js";
import type { Writable } from "../../rules/writable.js";
import { type KnownMoment, parseWhen, timeFrom, type When } from "../format/when.js";
import type { KeyFields } from "./scenario-keys.js";

/** What a scenario writes of the end of a key: its state, times, and durations, which have no start yet. */
export interface WrittenEnds {
  readonly state: KeyStateName;
  /** Only a replaced key has an overlap. */
  readonly isReplaced: boolean;
  readonly ends: Readonly<Record<keyof KeyEnds, When | undefined>>;
}

/** Reads what ends a key; `undefined` for an active key that nothing ends. */
export function readEnds(key: KeyFields): WrittenEnds | undefined {
  const { state = "active", replaced_by } = key;
  const ends = {
    revokedAt: whenOf(key.revoked_at),
    expiresAt: whenOf(key.expires),
    overlapEndsAt: whenOf(key.overlap_ends),
  };
  const isEndless = Object.values(ends).every((when) => when === undefined);
  if (state === "active" && isEndless) return undefined;

  // A replaced key can expire or be revoked before its overlap ends.
  const isReplaced = state === "retiring" || state === "rotated" || replaced_by !== undefined;
  return { state, isReplaced, ends };
}

function whenOf(text: string | undefined): When | undefined {
  return text === undefined ? undefined : parseWhen(text);
}

/** The ends of a key whose durations count from `start`: the written ones, and those that its state needs. */
export function endsFrom(start: number, { state, isReplaced, ends }: WrittenEnds): KeyEnds {
  const times: Writable<KeyEnds> = {};
  if (state === "revoked") {
    times.revokedAt = ends.revokedAt === undefined ? start : timeFrom(start, ends.revokedAt);
  }

  if (ends.expiresAt !== undefined) times.expiresAt = timeFrom(start, ends.expiresAt);
  else if (state === "expired") times.expiresAt = start;

  if (!isReplaced) return times;
  if (ends.overlapEndsAt !== undefined) times.overlapEndsAt = timeFrom(start, ends.overlapEndsAt);
  else if (state === "revoked" || state === "rotated") times.overlapEndsAt = start;
  else if (state === "retiring") times.overlapEndsAt = start + defaultOverlap;
  // A replaced key that expired was in its overlap until then.
  else if (state === "expired" && times.expiresAt !== undefined) times.overlapEndsAt = times.expiresAt;
  return times;
}

/** The state of a key when the clock starts; `unknown` if a time decides, and nobody knows when the clock starts. */
export function keyStateAtStart(key: KeyFields, start: KnownMoment): KeyStateName | "unknown" {
  const ends = readEnds(key);
  if (ends === undefined) return "active";
  if (start !== "unknown") return keyStateAt(endsFrom(start, ends), start);

  // A revoked key stays revoked, whenever that was.
  const hasTime = Object.values(ends.ends).some((when) => when !== undefined && "at" in when);
  if (hasTime && ends.state !== "revoked") return "unknown";
  // With durations alone, the state is the same at any start.
  const anyStart = 0;
  return keyStateAt(endsFrom(anyStart, ends), anyStart);
}
