import type { Writable } from "../rules/writable.js";
import type { ScenarioKey } from "./described-keys.js";
import type { WrittenSettings } from "./format/key-settings.js";

// Keys that replaced each other are one rotation: `main`, then `main-2`, then `main-3`. In a scenario, each of them but the last has
// the ref of the next one in `replaced_by`. A key that was never rotated is alone in its rotation.

/** A rotation, its oldest key first. */
type Rotation = [ScenarioKey, ...ScenarioKey[]];

/** The place of a key in its rotation. */
export interface RotationPlace {
  /** The ref of the key that it replaces; `undefined` for the oldest. */
  readonly replaces: string | undefined;
  readonly shared: SharedInRotation;
}

/** What the keys of a rotation have in common (R37). */
export interface SharedInRotation {
  /** The ref of the oldest key. */
  readonly oldest: string;
  /** Each setting that a scenario sets of one of them. */
  readonly settings: WrittenSettings;
  /** The most requests that one of them starts with. */
  readonly mostUsed: { readonly thisMinute: number; readonly today: number };
}

/** The places of a scenario's keys in their rotations, by ref. */
export function rotationPlaces(keys: readonly ScenarioKey[]): Map<string, RotationPlace> {
  // No key replaces two.
  const replacedKeys = new Map<string, ScenarioKey>();
  for (const key of keys) {
    const { replaced_by } = key.fields;
    if (replaced_by !== undefined) replacedKeys.set(replaced_by, key);
  }

  const places = new Map<string, RotationPlace>();
  for (const last of keys) {
    if (last.fields.replaced_by !== undefined) continue;
    addPlaces(places, rotationUntil(last, replacedKeys));
  }
  // A circle of keys has no last one: each of them counts as alone.
  for (const key of keys) {
    if (!places.has(key.ref)) addPlaces(places, [key]);
  }
  return places;
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

function addPlaces(places: Map<string, RotationPlace>, rotation: Rotation): void {
  const shared = sharedIn(rotation);
  let replaces: string | undefined;
  for (const { ref } of rotation) {
    places.set(ref, { replaces, shared });
    replaces = ref;
  }
}

function sharedIn(rotation: Rotation): SharedInRotation {
  const [oldest] = rotation;
  const settings: Writable<WrittenSettings> = { name: undefined, scopes: undefined, limits: undefined };
  const mostUsed = { thisMinute: 0, today: 0 };
  for (const { fields } of rotation) {
    // Of each setting, and of each limit, the first value counts.
    settings.name ??= fields.name;
    settings.scopes ??= fields.scopes;
    if (fields.limits !== undefined) settings.limits = { ...fields.limits, ...settings.limits };

    const { this_minute = 0, today = this_minute } = fields.usage ?? {};
    mostUsed.thisMinute = Math.max(mostUsed.thisMinute, this_minute);
    mostUsed.today = Math.max(mostUsed.today, today);
  }
  return { oldest: oldest.ref, settings, mostUsed };
}
