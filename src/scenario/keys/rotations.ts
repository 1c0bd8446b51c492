import type { Writable } from "../../rules/writable.js";
import type { WrittenSettings } from "./key-settings.js";
import type { ScenarioKey } from "./scenario-keys.js";

// Keys that replaced each other are one rotation: `main`, then `main-2`, then `main-3`. In a scenario, each of them but the last has
// the ref of the next one in `replaced_by`. A key that was never rotated is alone in its rotation.

/** A rotation, its oldest key first. */
type Rotation = [ScenarioKey, ...ScenarioKey[]];

/** Where a key is in its rotation. */
export interface RotationPosition {
  /** The ref of the key that it replaces; `undefined` for the oldest. */
  readonly replaces: string | undefined;
  readonly rotation: SharedInRotation;
}

/** What the keys of a rotation have in common (R37). */
export interface SharedInRotation {
  /** The ref of the oldest key. */
  readonly oldestRef: string;
  /** The settings that the scenario writes, at whichever of the keys. */
  readonly writtenSettings: WrittenSettings;
  /** The most requests that one of them starts with. */
  readonly mostUsed: { readonly thisMinute: number; readonly today: number };
}

/** Where each key of a scenario is in its rotation, by ref. */
export function positionsInRotations(keys: readonly ScenarioKey[]): Map<string, RotationPosition> {
  // Of two keys with one replacement, which is a problem of the scenario, the last counts; the other one ends up alone.
  const replacedKeys = new Map<string, ScenarioKey>();
  for (const key of keys) {
    const { replaced_by } = key.fields;
    if (replaced_by !== undefined) replacedKeys.set(replaced_by, key);
  }

  const positions = new Map<string, RotationPosition>();
  for (const last of keys) {
    if (last.fields.replaced_by !== undefined) continue;
    addPositions(positions, rotationUntil(last, replacedKeys));
  }
  // Keys of a circle, and a key whose replacement already replaces another key: each is alone in a rotation.
  for (const key of keys) {
    if (!positions.has(key.ref)) addPositions(positions, [key]);
  }
  return positions;
}

/** The rotation with this last key. `replacedKeys`: each replaced key by the ref of its replacement. */
function rotationUntil(last: ScenarioKey, replacedKeys: ReadonlyMap<string, ScenarioKey>): Rotation {
  const newestFirst = new Set([last]);
  let older = replacedKeys.get(last.ref);
  // Where two keys have one ref, which is a problem of the scenario, the keys may form a circle.
  while (older !== undefined && !newestFirst.has(older)) {
    newestFirst.add(older);
    older = replacedKeys.get(older.ref);
  }
  return [...newestFirst].reverse() as Rotation; // it has the last key
}

function addPositions(positions: Map<string, RotationPosition>, rotation: Rotation): void {
  const shared = sharedIn(rotation);
  let replaces: string | undefined;
  for (const { ref } of rotation) {
    positions.set(ref, { replaces, rotation: shared });
    replaces = ref;
  }
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
