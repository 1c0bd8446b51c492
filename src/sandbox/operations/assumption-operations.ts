import { environments, maximumActiveKeys } from "../../rules/api-key.js";
import { type Assumptions, assumptionTable } from "../../rules/assumptions.js";
import { requireFields } from "../../rules/validation.js";
import type { ControlBody } from "../../scenario/format/control-bodies.js";
import { quote } from "../../schema/words.js";
import { assumptionsInEffect, type ProfileSettings, profileInEffect } from "../profile.js";
import { replaceState, type SandboxState } from "../sandbox-state.js";
import { startUsage, type Usage, usageAt, type Windows, windowsOf } from "../usage.js";
import {
  withGrantedScopes,
  withNameSuffix,
  withoutGrantedScopes,
  withoutNameSuffix,
} from "../varied-records.js";
import { activeKeysIn } from "./key-operations.js";

/** Changes assumptions: with a profile, the others become those of the profile. What keys have used stays counted. */
export function changeAssumptions(
  sandbox: SandboxState,
  input: ControlBody<"assumptions_change">,
  now: number,
): Assumptions {
  const { profile, ...chosen } = input;
  const ownBefore = profile === undefined ? sandbox.ownAssumptions : {};
  const settings = { profile: profile ?? sandbox.profile, ownAssumptions: { ...ownBefore, ...chosen } };
  const next = assumptionsInEffect({ ...settings, run: sandbox.run, endpoints: sandbox.endpoints });

  // The scopes and keys that there are must fit the new assumptions.
  requireFields("change the assumptions", {
    me_scope: missingScopeProblem(next),
    scopes: heldScopeProblem(sandbox, next),
    retiring_counts_as_active: tooManyActiveProblem(sandbox, next, now),
  });

  // Keys and organizations change with the assumptions.
  const windows = windowsOf(next);
  for (const entry of sandbox.registry.keys.values()) {
    entry.usage = carriedOver(entry.usage, sandbox.windows, windows, now);
  }
  const nextState = { ...settings, assumptions: next, windows };
  varyRecords(sandbox, { ...sandbox, ...nextState });

  replaceState(sandbox, nextState);
  sandbox.journal.emit({ type: "assumptions.changed" });
  return next;
}

/** The names of the values that a change of assumptions sets, as in `changes.ts`: with a profile, all of them. */
export function assumptionNames({ profile, ...chosen }: ControlBody<"assumptions_change">): string[] {
  if (profile === undefined) return Object.keys(chosen);
  return ["profile", "fixed", ...Object.keys(assumptionTable)];
}

/** Removes from the records what the profile `varied` has added with the settings before, and adds that of the next settings. */
function varyRecords(sandbox: SandboxState, next: ProfileSettings): void {
  const { organizations, keys } = sandbox.registry;
  for (const entry of organizations.values()) {
    const plain = withoutNameSuffix(sandbox, entry.organization);
    entry.organization = withNameSuffix(next, plain);
  }

  if (profileInEffect(sandbox) !== "varied" && profileInEffect(next) !== "varied") return;
  for (const entry of keys.values()) {
    const plain = withoutGrantedScopes(sandbox, entry.key.scopes);
    sandbox.registry.change(entry, { scopes: withGrantedScopes(next, plain) });
  }
}

/** The assumed scope of `/me` must be one of the assumed scopes. */
function missingScopeProblem(next: Assumptions): string | undefined {
  const needed = next.me_scope;
  if (needed === null || next.scopes.includes(needed)) return undefined;
  return `is ${quote(needed)}, which is not one of scopes`;
}

/** Each scope of a key must be one of the assumed scopes. */
function heldScopeProblem(sandbox: SandboxState, next: Assumptions): string | undefined {
  for (const { key } of sandbox.registry.keys.values()) {
    const ownScopes = withoutGrantedScopes(sandbox, key.scopes);
    const lacking = ownScopes.find((scope) => !next.scopes.includes(scope));
    if (lacking !== undefined) return `lack ${lacking}, which the key ${quote(key.ref)} has`;
  }
  return undefined;
}

/** No organization may have too many active keys (R32), even if retiring ones then count. */
function tooManyActiveProblem(sandbox: SandboxState, next: Assumptions, now: number): string | undefined {
  for (const owner of sandbox.registry.organizations.values()) {
    for (const environment of environments) {
      if (activeKeysIn(owner, environment, next, now) <= maximumActiveKeys) continue;
      return `would give ${owner.organization.ref} (${environment}) more than ${maximumActiveKeys} active keys (R32)`;
    }
  }
  return undefined;
}

/** The usage of a key after a change of the windows. Counts have no times: the requests so far count as if they were sent now. */
function carriedOver(usage: Usage, from: Windows, to: Windows, now: number): Usage {
  if (from.sliding === to.sliding && from.dayResetsAt === to.dayResetsAt) return usage;
  const current = usageAt(usage, from, now);
  return startUsage(to, now, {
    thisMinute: current.minuteCount,
    today: Math.max(current.minuteCount, current.dayCount),
    countedAt: from.sliding ? current.recent : undefined,
  });
}
