import type { KeyRecord } from "../../rules/key-state.js";
import { type KeyStateName, keyStateTable } from "../../rules/key-state.js";
import { keyStateAtStart } from "../keys/key-ends.js";
import { readLimits } from "../keys/key-settings.js";
import { positionsInRotations } from "../keys/rotations.js";
import { isLegacy, type KeyFields } from "../keys/scenario-keys.js";
import type { RuleInput } from "./rule-input.js";

// What faults are compared with: the members of a key that no action changes. A fault that contradicts them can never match.

export interface KeyForFaults {
  readonly organization: KeyRecord["organization"];
  readonly environment: KeyRecord["environment"];
  readonly legacy: KeyRecord["legacy"];
  readonly limits: KeyRecord["limits"];
  readonly replaces?: string | undefined;
  /** The state of a key that has ended before its sandbox gets any request; `undefined` for any other key. */
  readonly endedFromStart?: KeyStateName | undefined;
}

export interface KeysForFaults {
  /** `undefined` if no key has the ref yet: any key may get it. */
  readonly keyOf: (ref: string) => KeyForFaults | undefined;
  /** The organizations that have a legacy key. No legacy key is created at run time. */
  readonly legacyOwners: ReadonlySet<string>;
}

/** The keys of a scenario as it starts. Its refs and its rotations are valid. */
export function keysForFaults({ keys, keyOf }: RuleInput): KeysForFaults {
  const legacyOwners = new Set<string>();
  for (const key of keys) {
    if (isLegacy(key.fields)) legacyOwners.add(key.organization);
  }

  const positions = positionsInRotations(keys);
  return {
    keyOf(ref) {
      const key = keyOf(ref);
      if (key === undefined) return undefined;

      const { organization, fields } = key;
      // A key of the population is in no rotation.
      const position = positions.get(ref);
      const { limits } = position?.rotation.writtenSettings ?? fields;
      return {
        organization,
        environment: fields.environment,
        legacy: isLegacy(fields),
        limits: readLimits(limits),
        replaces: position?.replaces,
        endedFromStart: endedStateAtAnyStart(fields),
      };
    },
    legacyOwners,
  };
}

/** The state of a key that has ended when its scenario starts, whenever that is; `undefined` for any other key. */
function endedStateAtAnyStart(fields: KeyFields): KeyStateName | undefined {
  const state = keyStateAtStart(fields, "unknown");
  if (state === "unknown" || !keyStateTable[state].isOver) return undefined;
  return state;
}
