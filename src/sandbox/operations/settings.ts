import type { ControlBody } from "../../scenario/format/inputs.js";
import { faultProblems } from "../../scenario/rules/faults.js";
import { environments, maximumActiveKeys } from "../../spec/api-key.js";
import { type Assumptions, assumptionsFor, type Profile } from "../../spec/assumptions.js";
import { requireFields, validationError } from "../../spec/schema/check.js";
import { activateFaults, type Fault } from "../faults.js";
import { startUsage, type Usage, usageAt, type Windows, windowsOf } from "../keys.js";
import { unknownFaultPaths } from "../path-ids.js";
import { replaceState, type SandboxState } from "../sandbox.js";
import { endingOfName, withGrantedScopes, withoutGrantedScopes } from "../varied-records.js";
import type { OrganizationView } from "../view-shapes.js";
import { viewOrganization } from "../views.js";
import { activeKeysIn } from "./keys.js";

export type OrganizationInput = ControlBody<"organization_update"> & { readonly ref: string };

/** Changes an organization, effective with the next request. Throws `unknown_ref` without changes. */
export function updateOrganization(
  world: SandboxState,
  input: OrganizationInput,
): { readonly organization: OrganizationView } {
  const entry = world.registry.organization(input.ref);
  const { status, sandboxAccess, liveAccess } = entry.organization;
  entry.organization = {
    ...entry.organization,
    status: input.status ?? status,
    sandboxAccess: input.sandbox_access ?? sandboxAccess,
    liveAccess: input.live_access ?? liveAccess,
  };
  const organization = viewOrganization(entry.organization);
  world.history.announce({ type: "organization.updated", organization });
  return { organization };
}

/** Durations count from now. Throws `validation_failed` with every contradiction, without changes. */
export function changeFaults(world: SandboxState, faults: readonly Fault[], now: number): void {
  const { registry, seed, history } = world;
  const problems = faultProblems(faults, {
    refs: { key: registry.keys, organization: registry.organizations },
    scenario: world.scenario,
    now,
  });
  problems.push(...unknownFaultPaths(faults, world.endpoints));
  if (problems.length > 0) throw validationError("Failed to change the faults", problems);
  world.faults = activateFaults(faults, seed, now);
  history.announce({ type: "faults.changed" });
}

export function clearRequests({ history, counters }: SandboxState): void {
  history.enter();
  counters.clear();
  history.announce({ type: "requests.cleared" });
}

export type AssumptionsInput = Partial<Assumptions> & { readonly profile?: Profile };

/** With a profile, all others become the profile's. Usage in the current minute and day stays counted. */
export function changeAssumptions(
  world: SandboxState,
  { profile, ...input }: AssumptionsInput,
  now: number,
): Assumptions {
  const given = { ...(profile === undefined && world.givenAssumptions), ...input };
  const next = assumptionsFor(profile ?? world.profile, given, world.endpoints);
  const { me_scope: needed, scopes } = next;
  const isMissing = needed !== null && !scopes.includes(needed);
  const windows = windowsOf(next);
  requireFields("change the assumptions", {
    me_scope: isMissing ? `is ${JSON.stringify(needed)}, which is not one of scopes` : undefined,
    scopes: heldScopeProblem(world, next),
    retiring_counts_as_active: tooManyActiveProblem(world, next, now),
  });
  for (const entry of world.registry.keys.values())
    entry.usage = carriedOver(entry.usage, world.windows, windows, now);
  const changes = {
    profile: profile ?? world.profile,
    assumptions: next,
    givenAssumptions: given,
    windows,
  } satisfies Partial<SandboxState>;
  varyRecords(world, { ...world, ...changes });
  replaceState(world, changes);
  world.history.announce({ type: "assumptions.changed" });
  return next;
}

// The profile `varied` adds parts to records. They appear and disappear with the profile.
function varyRecords(world: SandboxState, next: SandboxState): void {
  const { organizations, keys } = world.registry;
  for (const entry of organizations.values()) {
    const { ref, name } = entry.organization;
    const [old, ending] = [endingOfName(world, ref), endingOfName(next, ref)];
    if (old === ending) continue;
    entry.organization = { ...entry.organization, name: name.slice(0, name.length - old.length) + ending };
  }
  if (world.profile !== "varied" && next.profile !== "varied") return;
  for (const entry of keys.values()) {
    let first = entry.key;
    for (let old = keys.get(first.replaces ?? ""); old !== undefined; old = keys.get(first.replaces ?? "")) {
      first = old.key;
    }
    const scopes = withGrantedScopes(next, first.ref, withoutGrantedScopes(world, entry.key.scopes));
    world.registry.change(entry, { scopes });
  }
}

function heldScopeProblem(world: SandboxState, { scopes }: Assumptions): string | undefined {
  for (const { key } of world.registry.keys.values()) {
    const held = withoutGrantedScopes(world, key.scopes).find((scope) => !scopes.includes(scope));
    if (held !== undefined) return `lack ${held}, which the key ${JSON.stringify(key.ref)} has`;
  }
  return undefined;
}

function tooManyActiveProblem({ registry }: SandboxState, next: Assumptions, now: number) {
  for (const holder of registry.organizations.values()) {
    const full = environments.find((one) => activeKeysIn(holder, one, next, now) > maximumActiveKeys);
    if (full !== undefined)
      return `would give ${holder.organization.ref} (${full}) more than ${maximumActiveKeys} active keys (R32)`;
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
