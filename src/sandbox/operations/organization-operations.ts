import { readAccess } from "../../rules/organization.js";
import type { ControlBody } from "../../scenario/format/inputs.js";
import type { ChangeMade } from "../journal/events.js";
import type { SandboxState } from "../sandbox-state.js";
import type { OrganizationView } from "../view-shapes.js";
import { viewOrganization } from "../views.js";

export type OrganizationInput = ControlBody<"organization_update"> & { readonly ref: string };

/** Changes an organization, effective with the next request. Throws `unknown_ref` without changes. */
export function updateOrganization(
  sandbox: SandboxState,
  input: OrganizationInput,
): ChangeMade<{ readonly organization: OrganizationView }> {
  const entry = sandbox.registry.organization(input.ref);
  entry.organization = { ...entry.organization, ...readAccess(input, entry.organization) };
  const organization = viewOrganization(entry.organization, sandbox);
  return { result: { organization }, event: { type: "organization.updated", organization } };
}
