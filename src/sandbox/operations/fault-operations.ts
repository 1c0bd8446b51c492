import { validationError } from "../../rules/validation.js";
import { faultProblems } from "../../scenario/checks/fault-rules.js";
import { activateFaults, type Fault } from "../active-faults.js";
import type { SandboxState } from "../sandbox-state.js";

/** Replaces the faults; their durations count from now. Throws `validation_failed` with every contradiction, without changes. */
export function changeFaults(sandbox: SandboxState, faults: readonly Fault[], now: number): void {
  const { registry, seed, journal } = sandbox;
  const legacyOwners = new Set<string>();
  for (const { key } of registry.keys.values()) {
    if (key.legacy) legacyOwners.add(key.organization);
  }

  const problems = faultProblems(faults, {
    refs: { key: registry.keys, organization: registry.organizations },
    endpoints: sandbox.scenario.endpoints,
    now,
    keys: { keyOf: (ref) => registry.keys.get(ref)?.key ?? "any_key", legacyOwners },
  });
  if (problems.length > 0) throw validationError("Failed to change the faults", problems);

  sandbox.faults = activateFaults(faults, seed, now);
  journal.emit({ type: "faults.changed" });
}
