import { assumptionTable } from "../../rules/assumptions.js";
import type { KeyRecord } from "../../rules/key-state.js";
import type { ControlBody } from "../../scenario/format/control-bodies.js";
import { canonicalJson } from "../../schema/json-text.js";
import { writtenFaults } from "../active-faults.js";
import type { SandboxState } from "../sandbox-state.js";
import type { NamedValues } from "../user-changes.js";
import { viewAssumptions } from "../views.js";
import type { OrganizationInput } from "./organization-operations.js";

// The values that each operation sets, as texts. They are read before and after the operation, and `UserChanges` notes the values
// that a user has changed: `key main revokedAt` is "" before `revoke`, and a time after. Requests and time change none of them.

/** Members of a key; none if there is no such key. */
export function keyValues(
  { registry }: SandboxState,
  ref: string,
  members: readonly (keyof KeyRecord)[],
): NamedValues {
  const key = registry.keys.get(ref)?.key;
  if (key === undefined) return {};
  const values: Record<string, string> = {};
  for (const member of members) values[`key ${ref} ${member}`] = valueText(key[member]);
  return values;
}

/** The members of an organization that the input sets; none if there is no such organization. */
export function organizationValues({ registry }: SandboxState, input: OrganizationInput): NamedValues {
  const { ref, status, sandbox_access, live_access } = input;
  const organization = registry.organizations.get(ref)?.organization;
  if (organization === undefined) return {};
  const values: Record<string, string> = {};
  const name = `organization ${ref}`;
  if (status !== undefined) values[`${name} status`] = organization.status;
  if (sandbox_access !== undefined) values[`${name} sandbox_access`] = String(organization.sandboxAccess);
  if (live_access !== undefined) values[`${name} live_access`] = organization.liveAccess;
  return values;
}

export function faultValues(sandbox: SandboxState): NamedValues {
  const faults = writtenFaults(sandbox.faults);
  // Requests change this count.
  for (const fault of faults) delete fault.requests_matched;
  return { faults: valueText(faults) };
}

/** The assumptions that the input sets: all of them, if it sets the profile. */
export function assumptionValues(
  sandbox: SandboxState,
  { profile, ...chosen }: ControlBody<"assumptions_change">,
): NamedValues {
  const values: Record<string, string> = {};
  if (profile !== undefined) values.profile = sandbox.profile;

  const assumptions: Readonly<Record<string, unknown>> = { ...viewAssumptions(sandbox) };
  const names = Object.keys(profile === undefined ? chosen : assumptionTable);
  for (const name of names) {
    // `varied` varies what the sandbox does not set itself.
    const varies = sandbox.profile === "varied" && !Object.hasOwn(sandbox.ownAssumptions, name);
    values[name] = varies ? "varies" : valueText(assumptions[name]);
  }
  return values;
}

function valueText(value: unknown): string {
  return value === undefined ? "" : canonicalJson(value);
}
