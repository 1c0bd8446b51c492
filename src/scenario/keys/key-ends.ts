import { defaultOverlap, type KeyEnds, type KeyStateName, keyStateAt } from "../../rules/key-state.js";
import type { Writable } from "../../rules/writable.js";
import { parseWhen, timeFrom, type When } from "../format/when.js";
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

/** Which time an end has: `never` has none, `as_written` only one that is written; the others have this one if none is written. */
type EndRule = "never" | "as_written" | "start" | "default_overlap" | "expiry";

/** The ends of the keys of each state. */
const endRules: Readonly<Record<KeyStateName, Readonly<Record<keyof KeyEnds, EndRule>>>> = {
  active: { revokedAt: "never", expiresAt: "as_written", overlapEndsAt: "as_written" },
  revoked: { revokedAt: "start", expiresAt: "as_written", overlapEndsAt: "start" },
  // A replaced key that expired was in its overlap until then.
  expired: { revokedAt: "never", expiresAt: "start", overlapEndsAt: "expiry" },
  retiring: { revokedAt: "never", expiresAt: "as_written", overlapEndsAt: "default_overlap" },
  rotated: { revokedAt: "never", expiresAt: "as_written", overlapEndsAt: "start" },
};

/** In this order: an overlap may end with the key. */
const endNames = ["revokedAt", "expiresAt", "overlapEndsAt"] as const;

/** The ends of a key whose durations count from `start`: the written ones, and those that its state needs. */
export function endsFrom(start: number, { state, isReplaced, ends }: WrittenEnds): KeyEnds {
  const times: Writable<KeyEnds> = {};
  for (const name of endNames) {
    const rule = endRules[state][name];
    if (rule === "never" || (name === "overlapEndsAt" && !isReplaced)) continue;

    const written = ends[name];
    if (written !== undefined) times[name] = timeFrom(start, written);
    else if (rule === "start") times[name] = start;
    else if (rule === "default_overlap") times[name] = start + defaultOverlap;
    else if (rule === "expiry" && times.expiresAt !== undefined) times[name] = times.expiresAt;
  }
  return times;
}

/** The state of a key when the clock starts; `unknown` if a time decides, and the clock starts at the real time (`undefined`). */
export function keyStateAtStart(key: KeyFields, start: number | undefined): KeyStateName | "unknown" {
  const ends = readEnds(key);
  if (ends === undefined) return "active";
  if (start !== undefined) return keyStateAt(endsFrom(start, ends), start);

  const hasTime = Object.values(ends.ends).some((when) => when !== undefined && "at" in when);
  // A revoked key stays revoked, whenever that was.
  if (hasTime && ends.state !== "revoked") return "unknown";
  // With durations alone, the state is the same at any start.
  const anyStart = 0;
  return keyStateAt(endsFrom(anyStart, ends), anyStart);
}
