import type { KeyRecord } from "../../rules/key-record.js";
import { type KeyStateName, keyStateTable } from "../../rules/key-state.js";
import { keyStateAtStart } from "../keys/key-ends.js";
import { readLimits } from "../keys/key-settings.js";
import { positionsInRotations } from "../keys/rotations.js";
import {
  isLegacy,
  type KeyFields,
  listedKeys,
  populatedKeyAt,
  type ScenarioKey,
} from "../keys/scenario-keys.js";
import type { Scenario } from "../scenario.generated.js";

/** What a key is, whatever changes at run time: a fault that contradicts it can never match. */
export interface LastingKey {
  readonly organization: KeyRecord["organization"];
  readonly environment: KeyRecord["environment"];
  readonly legacy: KeyRecord["legacy"];
  readonly limits: KeyRecord["limits"];
  readonly replaces?: string;
  /** The state of a key that has ended before its sandbox gets any request. Missing for any other key. */
  readonly endedAs?: KeyStateName;
}

export interface LastingKeys {
  /** A key that is not known may have any request. */
  readonly keyOf: (ref: string) => LastingKey | "unknown";
  /** The organizations that have a legacy key. No legacy key is created at run time. */
  readonly legacyOwners: ReadonlySet<string> | "unknown";
}

/** The keys that a scenario starts with. */
export function lastingKeysOf(scenario: Scenario): LastingKeys {
  const keys = new Map<string, ScenarioKey>();
  const legacyOwners = new Set<string>();
  for (const key of listedKeys(scenario)) {
    keys.set(key.ref, key);
    if (isLegacy(key.fields)) legacyOwners.add(key.organization);
  }
  const positions = positionsInRotations([...keys.values()]);

  return {
    keyOf(ref) {
      const key = keys.get(ref) ?? populatedKeyAt(ref, scenario);
      if (key === undefined) return "unknown";

      const { organization, fields } = key;
      const { replaces, rotation } = positions.get(ref) ?? {};
      // The keys of a population are in no rotation.
      const settings = rotation?.writtenSettings ?? fields;
      // In a snapshot, a key that has ended may have had other outcomes before.
      const endedAs = isSnapshot(scenario) ? undefined : endedAtStart(fields);
      return {
        organization,
        environment: fields.environment,
        legacy: isLegacy(fields),
        limits: readLimits(settings.limits),
        ...(replaces !== undefined && { replaces }),
        ...(endedAs !== undefined && { endedAs }),
      };
    },
    legacyOwners,
  };
}

/** The same keys, if nothing is known of a single one. */
export function withUnknownKeys({ legacyOwners }: LastingKeys): LastingKeys {
  return { keyOf: () => "unknown", legacyOwners };
}

/** Whether a scenario is the state of a sandbox that has responded to requests. */
export function isSnapshot(scenario: Scenario): boolean {
  return scenario.requests_responded !== undefined;
}

/** The state of a key that has ended when its scenario starts, whenever that is; `undefined` for any other key. */
function endedAtStart(fields: KeyFields): KeyStateName | undefined {
  const state = keyStateAtStart(fields, "unknown");
  if (state === "unknown" || !keyStateTable[state].isOver) return undefined;
  return state;
}
