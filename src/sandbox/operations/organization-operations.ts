import { readAccess } from "../../rules/organization.js";
import type { ControlBody } from "../../scenario/format/control-bodies.js";
import { membersToCamelCase } from "../../schema/spelling.js";
import type { SandboxState } from "../sandbox-state.js";
import type { OrganizationView } from "../view-shapes.js";
import { viewOrganization } from "../views.js";

type OrganizationInput = ControlBody<"organization_update"> & { readonly ref: string };

/** Changes an organization, effective with the next request. Throws `unknown_ref` without changes. */
export function updateOrganization(
  sandbox: SandboxState,
  input: OrganizationInput,
): { readonly organization: OrganizationView } {
  const entry = sandbox.registry.organization(input.ref);
  entry.organization = { ...entry.organization, ...readAccess(input, entry.organization) };
  const organization = viewOrganization(entry.organization, sandbox);
  sandbox.journal.emit({ type: "organization.updated", organization });
  return { organization };
}

/** The names of the values that a change of an organization sets, as in `organizationValues`. */
export function accessNames({ ref, ...access }: OrganizationInput): string[] {
  const written = membersToCamelCase(access) as Readonly<Record<string, unknown>>; // a mapping stays one
  const names: string[] = [];
  for (const [member, value] of Object.entries(written)) {
    if (value !== undefined) names.push(`organization ${ref} ${member}`);
  }
  return names;
}
