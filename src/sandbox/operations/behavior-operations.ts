import type { Assumptions } from "../../rules/assumptions.js";
import { maximumActiveKeys } from "../../rules/key-state.js";
import { environments } from "../../rules/keys/key-text.js";
import { throwIfProblems, validationError } from "../../rules/validation.js";
import { faultProblems } from "../../scenario/checks/fault-rules.js";
import { successesOf } from "../../scenario/checks/rule-input.js";
import type { ControlBody } from "../../scenario/format/inputs.js";
import { quote } from "../../schema/words.js";
import { behaviorOf } from "../behavior.js";
import { activateFaults, type Fault } from "../faults.js";
import type { Registry } from "../registry.js";
import { replaceState, type SandboxState } from "../sandbox-state.js";
import { usageInNewWindows } from "../usage.js";
import { announceChange, type Initiator, timeOfChange } from "./change.js";
import { activeKeysIn } from "./key-operations.js";

// How the service behaves: what it leaves open, and what goes wrong.

/** Changes assumptions: with a profile, the others become those of the profile. What keys have used stays counted. */
export function changeAssumptions(
  sandbox: SandboxState,
  input: ControlBody<"assumptions_change">,
  initiator: Initiator = {},
): void {
  const now = timeOfChange(sandbox, initiator);
  const { registry, seed, run, endpoints } = sandbox;
  const { profile = sandbox.profile, ...chosen } = input;
  // Another profile takes away what was set before.
  const ownAssumptions = input.profile === undefined ? { ...sandbox.ownAssumptions, ...chosen } : chosen;
  const behavior = behaviorOf({ seed, run, endpoints, profile, ownAssumptions });
  const { assumptions, windows } = behavior;

  // The scopes and keys that there are must fit the new assumptions.
  const { me_scope, scopes } = assumptions;
  const isScopeMissing = me_scope !== null && !scopes.includes(me_scope);
  throwIfProblems("change the assumptions", {
    me_scope: isScopeMissing ? `is ${quote(me_scope)}, which is not one of scopes` : undefined,
    scopes: heldScopeProblem(registry, assumptions),
    retiring_counts_as_active: tooManyActiveProblem(registry, assumptions, now),
  });

  for (const entry of registry.keys.values()) {
    entry.usage = usageInNewWindows(entry.usage, sandbox.windows, windows, now);
  }
  replaceState(sandbox, behavior);
  announceChange(sandbox, initiator, { type: "assumptions.changed" });
}

function heldScopeProblem(registry: Registry, next: Assumptions): string | undefined {
  for (const { key } of registry.keys.values()) {
    const lacking = key.scopes.find((scope) => !next.scopes.includes(scope));
    if (lacking !== undefined) return `lack ${lacking}, which the key ${quote(key.ref)} has`;
  }
  return undefined;
}

/** No organization may have too many active keys (R32), even if retiring ones then count. */
function tooManyActiveProblem(registry: Registry, next: Assumptions, now: number): string | undefined {
  for (const owner of registry.organizations.values()) {
    for (const environment of environments) {
      if (activeKeysIn(owner, environment, next, now) <= maximumActiveKeys) continue;
      return `would give ${owner.organization.ref} (${environment}) more than ${maximumActiveKeys} active keys (R32)`;
    }
  }
  return undefined;
}

/** Replaces the faults; their durations count from now. Throws `validation_failed` with every contradiction, without changes. */
export function changeFaults(
  sandbox: SandboxState,
  faults: readonly Fault[],
  initiator: Initiator = {},
): void {
  const now = timeOfChange(sandbox, initiator);
  const { registry, seed } = sandbox;
  const { keys, organizations } = registry;
  const problems = faultProblems(faults, {
    refs: {
      key: { has: (ref) => keys.has(ref), all: () => keys.keys() },
      organization: { has: (ref) => organizations.has(ref), all: () => organizations.keys() },
    },
    successes: successesOf(sandbox.scenario),
    now,
  });
  if (problems.length > 0) throw validationError("change the faults", problems);

  sandbox.faults = activateFaults(faults, seed, now);
  announceChange(sandbox, initiator, { type: "faults.changed" });
}
