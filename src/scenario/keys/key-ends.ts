import { defaultOverlap, type KeyEnds, type KeyStateName, keyStateAt } from "../../rules/key-state.js";
import type { Writable } from "../../rules/writable.js";
import {
  atStart,
  readTimeOrDuration,
  type StartTime,
  type TimeOrDuration,
  timeFrom,
} from "../format/when.js";
import type { KeyFields } from "./scenario-keys.js";

// What the state of a key says: whether the key was replaced (`isReplaced`), and when it ends if the scenario writes no time
// (`endsOf`). A key that was not replaced has no end of an overlap.
//
//   state       replaced           revoked    expires           overlap ends
//   (none)      no                 -          -                 -
//   active      no                 -          -                 -
//   retiring    yes                -          -                 60 minutes after the start
//   rotated     yes                -          -                 at the start
//   expired     with replaced_by   -          at the start      when it expires: its overlap was not over
//   revoked     with replaced_by   at start   -                 at the start

/** The ends of a key before its clock has started: some can be durations from the start. */
export interface EndsBeforeStart {
  readonly revokedAt?: TimeOrDuration | undefined;
  readonly expiresAt?: TimeOrDuration | undefined;
  readonly overlapEndsAt?: TimeOrDuration | undefined;
}

const afterDefaultOverlap: TimeOrDuration = { kind: "duration", milliseconds: defaultOverlap };

/** Whether a key is one that a rotation has replaced. */
export function isReplaced({ state = "active", replaced_by }: KeyFields): boolean {
  switch (state) {
    case "active":
      return false;
    case "retiring":
    case "rotated":
      return true;
    case "expired":
    case "revoked":
      return replaced_by !== undefined;
  }
}

/** What ends a key: the times that the scenario writes, else those that its state implies; `undefined` if nothing does. */
export function endsOf(fields: KeyFields): EndsBeforeStart | undefined {
  const { state = "active" } = fields;
  const revoked = readTime(fields.revoked_at);
  const expires = readTime(fields.expires);
  const overlapEnds = readTime(fields.overlap_ends);

  switch (state) {
    case "active":
      return expires === undefined ? undefined : { expiresAt: expires };
    case "retiring":
      return { expiresAt: expires, overlapEndsAt: overlapEnds ?? afterDefaultOverlap };
    case "rotated":
      return { expiresAt: expires, overlapEndsAt: overlapEnds ?? atStart };
    case "expired": {
      const expiresAt = expires ?? atStart;
      if (!isReplaced(fields)) return { expiresAt };
      return { expiresAt, overlapEndsAt: overlapEnds ?? expiresAt };
    }
    case "revoked": {
      const ends = { revokedAt: revoked ?? atStart, expiresAt: expires };
      if (!isReplaced(fields)) return ends;
      return { ...ends, overlapEndsAt: overlapEnds ?? atStart };
    }
  }
}

function readTime(text: string | undefined): TimeOrDuration | undefined {
  return text === undefined ? undefined : readTimeOrDuration(text);
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
export function keyStateAtStart(fields: KeyFields, clockStart: StartTime): KeyStateName | "unknown" {
  const ends = endsOf(fields);
  if (ends === undefined) return "active";
  // A revoked key stays revoked, whenever that was.
  if (ends.revokedAt !== undefined) return "revoked";

  if (clockStart !== "unknown") return keyStateAt(endsFrom(clockStart, ends), clockStart);

  // While the start is unknown, nobody can say whether a time is before it. Durations count from it, so that the state is the same
  // at any start, such as 0.
  for (const end of [ends.expiresAt, ends.overlapEndsAt]) {
    if (end?.kind === "time") return "unknown";
  }
  const anyStart = 0;
  return keyStateAt(endsFrom(anyStart, ends), anyStart);
}
