import { type KeyRecord, type KeyStateName, keyStateTable } from "../../rules/api-key.js";
import {
  isLegacy,
  type KeyFields,
  populatedKeyAt,
  type ScenarioKey,
  writtenKeys,
} from "../described-keys.js";
import { keyStateAtStart, readSettings } from "../format/key-settings.js";
import { rotationPlaces } from "../rotations.js";
import type { Scenario } from "../scenario.generated.js";

/** What a key is, whatever changes at run time: a fault that contradicts it can never match. */
export interface LastingKey {
  readonly organization: KeyRecord["organization"];
  readonly environment: KeyRecord["environment"];
  readonly legacy: KeyRecord["legacy"];
  readonly limits: KeyRecord["limits"];
  readonly replaces?: string;
  /** The state of a key that is over when its scenario starts. Missing for a key that works then, or may have worked before. */
  readonly overAs?: KeyStateName;
}

export interface LastingKeys {
  /** `undefined` for a key that is not known: it may have any request. */
  readonly at: (ref: string) => LastingKey | undefined;
  /** The organizations that have a legacy key, or `any` if that is not known. No legacy key is created at run time. */
  readonly legacyOwners: ReadonlySet<string> | "any";
}

/** The keys that a scenario starts with. */
export function lastingKeysOf(scenario: Scenario): LastingKeys {
  const keys = new Map<string, ScenarioKey>();
  const legacyOwners = new Set<string>();
  for (const key of writtenKeys(scenario)) {
    keys.set(key.ref, key);
    if (isLegacy(key.fields)) legacyOwners.add(key.organization);
  }
  const places = rotationPlaces([...keys.values()]);

  return {
    at(ref) {
      const key = keys.get(ref) ?? populatedKeyAt(ref, scenario);
      if (key === undefined) return undefined;

      const { organization, fields } = key;
      const { replaces, shared } = places.get(ref) ?? {};
      // In a snapshot, a key that is over may have worked before.
      const overAs = isSnapshot(scenario) ? undefined : overFromStart(fields);
      return {
        organization,
        environment: fields.environment,
        legacy: isLegacy(fields),
        limits: readSettings(shared?.settings ?? fields, () => "").limits,
        ...(replaces !== undefined && { replaces }),
        ...(overAs !== undefined && { overAs }),
      };
    },
    legacyOwners,
  };
}

/** Whether a scenario is the state of a sandbox that has responded to requests. */
export function isSnapshot(scenario: Scenario): boolean {
  return scenario.requests_responded !== undefined;
}

/** The state of a key that is over when its scenario starts, on any day: a date is not compared with the clock. */
function overFromStart(fields: KeyFields): KeyStateName | undefined {
  const state = keyStateAtStart(fields, undefined);
  if (state === "unknown" || !keyStateTable[state].isOver) return undefined;
  return state;
}
