import { defaultOverlap, type KeyEnds } from "../rules/key-state.js";
import type { Writable } from "../rules/writable.js";
import { timeFrom } from "./format/times.js";
import type { KeyFields, ScenarioKey, WrittenSettings } from "./keys.js";

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

/** What ends a key whose clock starts at `start` (epoch milliseconds): the times that the scenario writes, else those that its state implies. */
export function endsOf(fields: KeyFields, start: number): KeyEnds {
  const { state, expires, overlap_ends } = fields;
  const ends: Writable<KeyEnds> = {};
  if (state === "revoked") ends.revokedAt = start;

  if (expires !== undefined) ends.expiresAt = timeFrom(start, expires);
  else if (state === "expired") ends.expiresAt = start;

  if (!isReplaced(fields)) return ends;
  if (overlap_ends !== undefined) ends.overlapEndsAt = timeFrom(start, overlap_ends);
  else if (state === "retiring") ends.overlapEndsAt = start + defaultOverlap;
  else ends.overlapEndsAt = (state === "expired" ? ends.expiresAt : undefined) ?? start;
  return ends;
}

// Keys that replaced each other are one rotation: `main`, then `main-2`, then `main-3`. In a scenario, each of them but the last has
// the ref of the next one in `replaced_by`. A key that was never rotated is alone in its rotation. The rules of
// `checks/key-rules.ts` hold: each key replaces at most one other key, and none replaces itself through others.

/** A rotation, its oldest key first. */
type Rotation = readonly [ScenarioKey, ...ScenarioKey[]];

/** Where a key is in its rotation. */
export interface RotationPosition {
  /** The ref of the key that it replaces; `undefined` for the oldest. */
  readonly replaces: string | undefined;
  /** What the keys of the rotation have in common (R37). */
  readonly rotation: {
    /** The ref of the oldest key. */
    readonly oldestRef: string;
    /** The settings that the scenario writes, at whichever of the keys. */
    readonly writtenSettings: WrittenSettings;
  };
}

/** The rotations of the keys of a scenario, in the order of their oldest keys. */
export function rotationsOf(keys: readonly ScenarioKey[]): Rotation[] {
  const keyByRef = new Map<string, ScenarioKey>();
  const refsOfReplacements = new Set<string>();
  for (const key of keys) {
    keyByRef.set(key.ref, key);
    const { replaced_by } = key.fields;
    if (replaced_by !== undefined) refsOfReplacements.add(replaced_by);
  }

  const rotations: Rotation[] = [];
  for (const key of keys) {
    const isOldest = !refsOfReplacements.has(key.ref);
    if (isOldest) rotations.push(rotationFrom(key, keyByRef));
  }
  return rotations;
}

function rotationFrom(oldest: ScenarioKey, keyByRef: ReadonlyMap<string, ScenarioKey>): Rotation {
  const rotation: [ScenarioKey, ...ScenarioKey[]] = [oldest];
  let { replaced_by } = oldest.fields;
  while (replaced_by !== undefined) {
    const replacement = keyByRef.get(replaced_by) as ScenarioKey; // each replacement exists
    rotation.push(replacement);
    replaced_by = replacement.fields.replaced_by;
  }
  return rotation;
}

/** Where each key of a scenario is in its rotation, by ref. */
export function positionsInRotations(keys: readonly ScenarioKey[]): Map<string, RotationPosition> {
  const positions = new Map<string, RotationPosition>();
  for (const rotation of rotationsOf(keys)) {
    const shared = sharedIn(rotation);
    let replaces: string | undefined;
    for (const { ref } of rotation) {
      positions.set(ref, { replaces, rotation: shared });
      replaces = ref;
    }
  }
  return positions;
}

function sharedIn(rotation: Rotation): RotationPosition["rotation"] {
  const [oldest] = rotation;
  const writtenSettings: Writable<WrittenSettings> = {};
  for (const { fields } of rotation) {
    // Of each setting, the first value counts: the others are the same.
    writtenSettings.name ??= fields.name;
    writtenSettings.scopes ??= fields.scopes;
    writtenSettings.limits ??= fields.limits;
  }
  return { oldestRef: oldest.ref, writtenSettings };
}
