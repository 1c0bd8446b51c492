import { liveAccessStates, type Organization, organizationStatuses } from "../../domain/organization.js";
import { viewOrganization } from "../views.js";
import type { World } from "../world.js";
import { type Actor, requireAdministrator } from "./administrator.js";
import { choiceProblem, requireFields, unknownFields } from "./require-fields.js";

/** What can change about an organization. */
export type OrganizationChange = Partial<Pick<Organization, "status" | "sandboxAccess" | "liveAccess">>;

/** Changes an organization from the next request on; throws `unknown_ref` or `validation_failed`, and changes nothing then. */
export function updateOrganization(
  world: World,
  ref: string,
  change: OrganizationChange,
  actor: Actor = "administrator",
): Organization {
  requireAdministrator(actor);
  const entry = world.registry.organization(ref);
  requireFields("change the organization", {
    ...unknownFields(change, ["status", "sandboxAccess", "liveAccess"]),
    status: choiceProblem(change.status, [...organizationStatuses, undefined]),
    sandbox_access: choiceProblem(change.sandboxAccess, [true, false, undefined]),
    live_access: choiceProblem(change.liveAccess, [...liveAccessStates, undefined]),
  });
  const { status, sandboxAccess, liveAccess } = entry.organization;
  entry.organization = {
    ...entry.organization,
    status: change.status ?? status,
    sandboxAccess: change.sandboxAccess ?? sandboxAccess,
    liveAccess: change.liveAccess ?? liveAccess,
  };
  world.events.announce({ type: "organization.updated", organization: viewOrganization(entry.organization) });
  return entry.organization;
}
