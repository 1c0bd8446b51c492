import type { KeyRecord } from "../../rules/key-record.js";
import { type KeyStateName, keyStateTable } from "../../rules/key-state.js";
import { keyStateAtStart } from "../keys/key-ends.js";
import { readLimits } from "../keys/key-settings.js";
import { positionsInRotations } from "../keys/rotations.js";
import { isLegacy, type KeyFields, populatedKeyAt } from "../keys/scenario-keys.js";
import type { RuleInput } from "./rule-input.js";

// What faults are compared with: the members of a key that no action changes. A fault that contradicts them can never match.

export interface KeyForFaults {
  readonly organization: KeyRecord["organization"];
  readonly environment: KeyRecord["environment"];
  readonly legacy: KeyRecord["legacy"];
  readonly limits: KeyRecord["limits"];
  readonly replaces?: string;
  /** The state of a key that has ended before its sandbox gets any request. Missing for any other key. */
  readonly endedFromStart?: KeyStateName;
}

export interface KeysForFaults {
  /** `any_key` for a ref whose key may have any members: then no fault contradicts them. */
  readonly keyOf: (ref: string) => KeyForFaults | "any_key";
  /** The organizations that have a legacy key. No legacy key is created at run time. */
  readonly legacyOwners: ReadonlySet<string> | "any_organization";
}

/** The keys of a scenario as it starts. Its refs and its rotations are valid. */
export function keysForFaults({ scenario, isSnapshot, keys, keyByRef }: RuleInput): KeysForFaults {
  const legacyOwners = new Set<string>();
  for (const key of keys) {
    if (isLegacy(key.fields)) legacyOwners.add(key.organization);
  }
  const positions = positionsInRotations(keys);

  return {
    keyOf(ref) {
      const key = keyByRef.get(ref) ?? populatedKeyAt(ref, scenario);
      if (key === undefined) return "any_key";

      const { organization, fields } = key;
      const { replaces, rotation } = positions.get(ref) ?? {};
      // The keys of a population are in no rotation.
      const settings = rotation?.writtenSettings ?? fields;
      // In a snapshot, a key that has ended may have had other outcomes before.
      const endedFromStart = isSnapshot ? undefined : endedStateAtAnyStart(fields);
      return {
        organization,
        environment: fields.environment,
        legacy: isLegacy(fields),
        limits: readLimits(settings.limits),
        ...(replaces !== undefined && { replaces }),
        ...(endedFromStart !== undefined && { endedFromStart }),
      };
    },
    legacyOwners,
  };
}

/** The keys of a scenario in its steps. In a snapshot, steps that have run may have changed each key. */
export function keysForFaultsOfSteps(
  { isSnapshot }: RuleInput,
  { keyOf, legacyOwners }: KeysForFaults,
): KeysForFaults {
  return { keyOf: isSnapshot ? () => "any_key" : keyOf, legacyOwners };
}

/** The state of a key that has ended when its scenario starts, whenever that is; `undefined` for any other key. */
function endedStateAtAnyStart(fields: KeyFields): KeyStateName | undefined {
  const state = keyStateAtStart(fields, "unknown");
  if (state === "unknown" || !keyStateTable[state].isOver) return undefined;
  return state;
}
