import { validationError } from "../../rules/validation.js";
import { faultProblems } from "../../scenario/checks/fault-rules.js";
import { successesOf } from "../../scenario/checks/rule-input.js";
import { activateFaults, type Fault } from "../active-faults.js";
import type { ChangeMade } from "../journal/events.js";
import type { Registry } from "../registry.js";
import type { SandboxState } from "../sandbox-state.js";

/** Replaces the faults; their durations count from now. Throws `validation_failed` with every contradiction, without changes. */
export function changeFaults(
  sandbox: SandboxState,
  faults: readonly Fault[],
  now: number,
): ChangeMade<undefined> {
  const { registry, seed } = sandbox;
  const { keys, organizations } = registry;
  const problems = faultProblems(faults, {
    refs: {
      key: { has: (ref) => keys.has(ref), all: () => keys.keys() },
      organization: { has: (ref) => organizations.has(ref), all: () => organizations.keys() },
    },
    keyOf: (ref) => keys.get(ref)?.key,
    legacyOwners: organizationsWithLegacyKey(registry),
    successes: successesOf(sandbox.scenario),
    now,
  });
  if (problems.length > 0) throw validationError("change the faults", problems);

  sandbox.faults = activateFaults(faults, seed, now);
  return { result: undefined, event: { type: "faults.changed" } };
}

function organizationsWithLegacyKey(registry: Registry): Set<string> {
  const refs = new Set<string>();
  for (const { key } of registry.keys.values()) {
    if (key.legacy) refs.add(key.organization);
  }
  return refs;
}
