import type { Organization } from "../../domain/organization.js";
import { viewOrganization } from "../views.js";
import type { World } from "../world.js";
import { type Actor, requireAdministrator } from "./administrator.js";

/** What can change about an organization. */
export type OrganizationChange = Partial<Pick<Organization, "status" | "sandboxAccess" | "liveAccess">>;

/** Changes an organization from the next request on; throws `unknown_ref`. */
export function updateOrganization(
  world: World,
  ref: string,
  change: OrganizationChange,
  actor: Actor = "administrator",
): Organization {
  requireAdministrator(actor);
  const entry = world.registry.organization(ref);
  entry.organization = { ...entry.organization, ...change };
  world.events.announce({ type: "organization.updated", organization: viewOrganization(entry.organization) });
  return entry.organization;
}
