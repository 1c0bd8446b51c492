import { defaultOverlap, type KeyEnds, type KeyStateName, keyStateAt } from "../../rules/key-state.js";
import type { Writable } from "../../rules/writable.js";
import {
  atStart,
  compareTimes,
  readTimeOrDuration,
  type StartTime,
  type TimeOrDuration,
  timeFrom,
} from "../format/when.js";
import type { KeyFields } from "./scenario-keys.js";

/** What ends a key of a scenario, before its clock has started: the written ends, and those that its state implies. */
export type EndsBeforeStart = { readonly [End in keyof KeyEnds]: TimeOrDuration }; // the same ends, which may be durations

const afterDefaultOverlap: TimeOrDuration = { kind: "duration", milliseconds: defaultOverlap };

/** Reads what ends a key; `undefined` for an active key that nothing ends. */
export function readEnds(fields: KeyFields): EndsBeforeStart | undefined {
  const { state = "active", revoked_at, expires, replaced_by } = fields;
  const ends: Writable<EndsBeforeStart> = {};

  if (state === "revoked") {
    ends.revokedAt = revoked_at === undefined ? atStart : readTimeOrDuration(revoked_at);
  }
  if (expires !== undefined) ends.expiresAt = readTimeOrDuration(expires);
  else if (state === "expired") ends.expiresAt = atStart;

  // A replaced key can expire or be revoked before its overlap ends.
  const hasOverlap = state === "retiring" || state === "rotated" || replaced_by !== undefined;
  if (hasOverlap) {
    const overlapEndsAt = overlapEnd(fields, ends.expiresAt);
    if (overlapEndsAt !== undefined) ends.overlapEndsAt = overlapEndsAt;
  }
  return Object.keys(ends).length === 0 ? undefined : ends;
}

/** The end of the overlap of a replaced key. */
function overlapEnd(
  { state = "active", overlap_ends }: KeyFields,
  expiresAt: TimeOrDuration | undefined,
): TimeOrDuration | undefined {
  if (overlap_ends !== undefined) return readTimeOrDuration(overlap_ends);
  switch (state) {
    case "active":
      return undefined;
    case "retiring":
      return afterDefaultOverlap;
    case "rotated":
    case "revoked":
      return atStart;
    case "expired":
      // It was in its overlap until it expired.
      return expiresAt;
  }
}

/** The ends of a key whose durations count from `start` (epoch milliseconds). */
export function endsFrom(start: number, ends: EndsBeforeStart): KeyEnds {
  const times: Writable<KeyEnds> = {};
  if (ends.revokedAt !== undefined) times.revokedAt = timeFrom(start, ends.revokedAt);
  if (ends.expiresAt !== undefined) times.expiresAt = timeFrom(start, ends.expiresAt);
  if (ends.overlapEndsAt !== undefined) times.overlapEndsAt = timeFrom(start, ends.overlapEndsAt);
  return times;
}

/** The state of a key when the clock starts; `unknown` if only a run shows it. */
export function keyStateAtStart(fields: KeyFields, start: StartTime): KeyStateName | "unknown" {
  const ends = readEnds(fields);
  if (ends === undefined) return "active";
  // A revoked key stays revoked, whenever that was.
  if (ends.revokedAt !== undefined) return "revoked";

  const orders = Object.values(ends).map((end) => compareTimes(start, end, atStart));
  if (orders.includes("unknown")) return "unknown";
  // With an unknown start, all ends are durations. They result in the same state at any start, such as 0.
  const knownStart = start === "unknown" ? 0 : start;
  return keyStateAt(endsFrom(knownStart, ends), knownStart);
}
