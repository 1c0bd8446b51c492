import type { Writable } from "../../rules/writable.js";
import type { WrittenSettings } from "./key-settings.js";
import type { ScenarioKey } from "./scenario-keys.js";

// Keys that replaced each other are one rotation: `main`, then `main-2`, then `main-3`. In a scenario, each of them but the last has
// the ref of the next one in `replaced_by`. A key that was never rotated is alone in its rotation. The rules of
// `checks/replacement-rules.ts` hold: each key replaces at most one other key, and none replaces itself through others.

/** A rotation, its oldest key first. */
type Rotation = readonly [ScenarioKey, ...ScenarioKey[]];

/** Where a key is in its rotation. */
export interface RotationPosition {
  /** The ref of the key that it replaces; `undefined` for the oldest. */
  readonly replaces: string | undefined;
  readonly rotation: SharedInRotation;
}

/** What the keys of a rotation have in common (R37). */
interface SharedInRotation {
  /** The ref of the oldest key. */
  readonly oldestRef: string;
  /** The settings that the scenario writes, at whichever of the keys. */
  readonly writtenSettings: WrittenSettings;
  /** The most requests that one of them starts with. */
  readonly mostUsed: { readonly thisMinute: number; readonly today: number };
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

function sharedIn(rotation: Rotation): SharedInRotation {
  const [oldest] = rotation;
  const writtenSettings: Writable<WrittenSettings> = {
    name: undefined,
    scopes: undefined,
    limits: undefined,
  };
  const mostUsed = { thisMinute: 0, today: 0 };
  for (const { fields } of rotation) {
    // Of each setting, the first value counts: the others are the same.
    writtenSettings.name ??= fields.name;
    writtenSettings.scopes ??= fields.scopes;
    writtenSettings.limits ??= fields.limits;

    const { this_minute = 0, today = this_minute } = fields.usage ?? {};
    mostUsed.thisMinute = Math.max(mostUsed.thisMinute, this_minute);
    mostUsed.today = Math.max(mostUsed.today, today);
  }
  return { oldestRef: oldest.ref, writtenSettings, mostUsed };
}
