import { environments, maximumActiveKeys } from "../../rules/api-key.js";
import type { Assumptions, Profile } from "../../rules/assumptions.js";
import { readMembers } from "../../rules/organization.js";
import { requireFields, validationError } from "../../rules/schema/check.js";
import { faultProblems } from "../../scenario/checks/faults.js";
import type { ControlBody } from "../../scenario/format/inputs.js";
import { assumptionsIn, profileOf } from "../conditions.js";
import { activateFaults, type Fault } from "../faults.js";
import { startUsage, type Usage, usageAt, type Windows, windowsOf } from "../keys.js";
import { unknownFaultPaths } from "../path-ids.js";
import { replaceState, type SandboxState } from "../sandbox.js";
import { nameSuffixOf, withGrantedScopes, withoutGrantedScopes } from "../varied-records.js";
import type { OrganizationView } from "../view-shapes.js";
import { viewOrganization } from "../views.js";
import { activeKeysIn } from "./keys.js";

export type OrganizationInput = ControlBody<"organization_update"> & { readonly ref: string };

/** Changes an organization, effective with the next request. Throws `unknown_ref` without changes. */
export function updateOrganization(
  sandbox: SandboxState,
  input: OrganizationInput,
): { readonly organization: OrganizationView } {
  const entry = sandbox.registry.organization(input.ref);
  entry.organization = { ...entry.organization, ...readMembers(input, entry.organization) };
  const organization = viewOrganization(entry.organization);
  sandbox.history.emit({ type: "organization.updated", organization });
  return { organization };
}

/** Durations count from now. Throws `validation_failed` with every contradiction, without changes. */
export function changeFaults(sandbox: SandboxState, faults: readonly Fault[], now: number): void {
  const { registry, seed, history } = sandbox;
  const problems = faultProblems(faults, {
    refs: { key: registry.keys, organization: registry.organizations },
    scenario: sandbox.scenario,
    now,
  });
  problems.push(...unknownFaultPaths(faults, sandbox.endpoints));
  if (problems.length > 0) throw validationError("Failed to change the faults", problems);
  sandbox.faults = activateFaults(faults, seed, now);
  history.emit({ type: "faults.changed" });
}

export function clearRequests({ history, counters }: SandboxState): void {
  history.enter();
  counters.clear();
  history.emit({ type: "requests.cleared" });
}

export type AssumptionsInput = Partial<Assumptions> & { readonly profile?: Profile };

/** With a profile, all others become the profile's. Usage in the current minute and day stays counted. */
export function changeAssumptions(
  sandbox: SandboxState,
  { profile, ...input }: AssumptionsInput,
  now: number,
): Assumptions {
  const assumptions = { ...(profile === undefined && sandbox.givenAssumptions), ...input };
  const settings = { profile: profile ?? sandbox.profile, givenAssumptions: assumptions };
  const next = assumptionsIn({ ...settings, platform: sandbox.platform }, sandbox.endpoints);
  const { me_scope: needed, scopes } = next;
  const isMissing = needed !== null && !scopes.includes(needed);
  const windows = windowsOf(next);
  requireFields("change the assumptions", {
    me_scope: isMissing ? `is ${JSON.stringify(needed)}, which is not one of scopes` : undefined,
    scopes: heldScopeProblem(sandbox, next),
    retiring_counts_as_active: tooManyActiveProblem(sandbox, next, now),
  });
  for (const entry of sandbox.registry.keys.values())
    entry.usage = carriedOver(entry.usage, sandbox.windows, windows, now);
  const changes = { ...settings, assumptions: next, windows };
  varyRecords(sandbox, { ...sandbox, ...changes });
  replaceState(sandbox, changes);
  sandbox.history.emit({ type: "assumptions.changed" });
  return next;
}

// The profile `varied` adds parts to records. They appear and disappear with the profile.
function varyRecords(sandbox: SandboxState, next: SandboxState): void {
  const { organizations, keys } = sandbox.registry;
  for (const entry of organizations.values()) {
    const { ref, name } = entry.organization;
    const [old, suffix] = [nameSuffixOf(sandbox, ref), nameSuffixOf(next, ref)];
    if (old === suffix) continue;
    entry.organization = { ...entry.organization, name: name.slice(0, name.length - old.length) + suffix };
  }
  if (profileOf(sandbox) !== "varied" && profileOf(next) !== "varied") return;
  for (const entry of keys.values()) {
    let first = entry.key;
    for (let old = keys.get(first.replaces ?? ""); old !== undefined; old = keys.get(first.replaces ?? "")) {
      first = old.key;
    }
    const scopes = withGrantedScopes(next, first.ref, withoutGrantedScopes(sandbox, entry.key.scopes));
    sandbox.registry.change(entry, { scopes });
  }
}

function heldScopeProblem(sandbox: SandboxState, { scopes }: Assumptions): string | undefined {
  for (const { key } of sandbox.registry.keys.values()) {
    const held = withoutGrantedScopes(sandbox, key.scopes).find((scope) => !scopes.includes(scope));
    if (held !== undefined) return `lack ${held}, which the key ${JSON.stringify(key.ref)} has`;
  }
  return undefined;
}

function tooManyActiveProblem({ registry }: SandboxState, next: Assumptions, now: number) {
  for (const owner of registry.organizations.values()) {
    const full = environments.find((one) => activeKeysIn(owner, one, next, now) > maximumActiveKeys);
    if (full !== undefined)
      return `would give ${owner.organization.ref} (${full}) more than ${maximumActiveKeys} active keys (R32)`;
  }
  return undefined;
}

// Counts have no times: with other windows, the requests so far count as if they were sent now.
function carriedOver(usage: Usage, from: Windows, to: Windows, now: number): Usage {
  if (from.sliding === to.sliding && from.dayResetsAt === to.dayResetsAt) return usage;
  const { minuteCount: thisMinute, dayCount, recent } = usageAt(usage, from, now);
  const today = Math.max(thisMinute, dayCount);
  return startUsage(to, now, { thisMinute, today, countedAt: from.sliding ? recent : undefined });
}
