import type { Assumptions } from "../../rules/assumptions.js";
import { maximumActiveKeys } from "../../rules/key-state.js";
import { environments } from "../../rules/keys/key-text.js";
import { throwIfProblems } from "../../rules/validation.js";
import type { ControlBody } from "../../scenario/format/control-bodies.js";
import { quote } from "../../schema/words.js";
import type { ChangeMade } from "../journal/events.js";
import { assumptionsInEffect } from "../profile.js";
import type { Registry } from "../registry.js";
import { replaceState, type SandboxState } from "../sandbox-state.js";
import { usageInNewWindows, windowsOf } from "../usage.js";
import { recordAdditions } from "../varied-records.js";
import { activeKeysIn } from "./key-operations.js";

/** Changes assumptions: with a profile, the others become those of the profile. What keys have used stays counted. */
export function changeAssumptions(
  sandbox: SandboxState,
  input: ControlBody<"assumptions_change">,
  now: number,
): ChangeMade<undefined> {
  const { registry, seed, run, endpoints } = sandbox;
  const { profile, ownAssumptions } = chosenAssumptions(sandbox, input);
  const settings = { seed, run, endpoints, profile, ownAssumptions };
  const assumptions = assumptionsInEffect(settings);

  // The scopes and keys that there are must fit the new assumptions.
  throwIfProblems("change the assumptions", {
    me_scope: missingScopeProblem(assumptions),
    scopes: heldScopeProblem(registry, assumptions),
    retiring_counts_as_active: tooManyActiveProblem(registry, assumptions, now),
  });

  const windows = windowsOf(assumptions);
  for (const entry of registry.keys.values()) {
    entry.usage = usageInNewWindows(entry.usage, sandbox.windows, windows, now);
  }
  const additions = recordAdditions(settings);
  replaceState(sandbox, { profile, ownAssumptions, assumptions, windows, additions });
  return { result: undefined, event: { type: "assumptions.changed" } };
}

/** The sandbox's own choice after a change: another profile takes away what was set before. */
function chosenAssumptions(
  before: SandboxState,
  { profile, ...chosen }: ControlBody<"assumptions_change">,
): Pick<SandboxState, "profile" | "ownAssumptions"> {
  if (profile !== undefined) return { profile, ownAssumptions: chosen };
  return { profile: before.profile, ownAssumptions: { ...before.ownAssumptions, ...chosen } };
}

/** The assumed scope of `/me` must be one of the assumed scopes. */
function missingScopeProblem(next: Assumptions): string | undefined {
  const needed = next.me_scope;
  if (needed === null || next.scopes.includes(needed)) return undefined;
  return `is ${quote(needed)}, which is not one of scopes`;
}

/** Each scope of a key must be one of the assumed scopes. */
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
