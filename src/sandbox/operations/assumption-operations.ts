import { type Assumptions, assumptionTable } from "../../rules/assumptions.js";
import { maximumActiveKeys } from "../../rules/key-state.js";
import { environments } from "../../rules/key-text.js";
import { throwIfProblems } from "../../rules/validation.js";
import type { ControlBody } from "../../scenario/format/control-bodies.js";
import { quote } from "../../schema/words.js";
import { assumptionsInEffect } from "../profile.js";
import type { Registry } from "../registry.js";
import { replaceState, type SandboxState } from "../sandbox-state.js";
import { startUsage, type Usage, usageAt, type Windows, windowsOf } from "../usage.js";
import { recordAdditions } from "../varied-records.js";
import { activeKeysIn } from "./key-operations.js";

/** Changes assumptions: with a profile, the others become those of the profile. What keys have used stays counted. */
export function changeAssumptions(
  sandbox: SandboxState,
  input: ControlBody<"assumptions_change">,
  now: number,
): Assumptions {
  const { registry, seed, run, endpoints } = sandbox;
  const { profile, ownAssumptions } = chosenAssumptions(sandbox, input);
  const choices = { seed, run, endpoints, profile, ownAssumptions };
  const assumptions = assumptionsInEffect(choices);

  // The scopes and keys that there are must fit the new assumptions.
  throwIfProblems("change the assumptions", {
    me_scope: missingScopeProblem(assumptions),
    scopes: heldScopeProblem(registry, assumptions),
    retiring_counts_as_active: tooManyActiveProblem(registry, assumptions, now),
  });

  const windows = windowsOf(assumptions);
  for (const entry of registry.keys.values()) {
    entry.usage = carriedOver(entry.usage, sandbox.windows, windows, now);
  }
  const additions = recordAdditions(choices);
  replaceState(sandbox, { profile, ownAssumptions, assumptions, windows, additions });
  sandbox.journal.emit({ type: "assumptions.changed" });
  return assumptions;
}

/** The sandbox's own choice after a change: another profile takes away what was set before. */
function chosenAssumptions(
  before: SandboxState,
  { profile, ...chosen }: ControlBody<"assumptions_change">,
): Pick<SandboxState, "profile" | "ownAssumptions"> {
  if (profile !== undefined) return { profile, ownAssumptions: chosen };
  return { profile: before.profile, ownAssumptions: { ...before.ownAssumptions, ...chosen } };
}

/** The names of the values that a change of assumptions sets, as in `changes.ts`: with a profile, all of them. */
export function assumptionNames({ profile, ...chosen }: ControlBody<"assumptions_change">): string[] {
  if (profile === undefined) return Object.keys(chosen);
  return ["profile", "fixed", ...Object.keys(assumptionTable)];
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

/** The usage of a key after a change of the windows. Its counts have no times: the requests so far count as if they were sent now. */
function carriedOver(usage: Usage, from: Windows, to: Windows, now: number): Usage {
  if (from.sliding === to.sliding && from.dayResetsAt === to.dayResetsAt) return usage;
  const current = usageAt(usage, from, now);
  return startUsage(to, now, {
    thisMinute: current.minuteCount,
    // The minute may have begun on the day before, but now its requests count on this one.
    today: Math.max(current.minuteCount, current.dayCount),
    countedAt: from.sliding ? current.recent : undefined,
  });
}
