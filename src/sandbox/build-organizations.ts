import type { Organization } from "../domain/organization.js";
import { randomStream, uuidFrom } from "../domain/seed.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { inventOrganizationName } from "../synthetic/names.js";

/** The organizations of a scenario, with everything left out derived from the seed and the ref. */
export function buildOrganizations(scenario: Scenario, seed: number): Organization[] {
  return Object.entries(scenario.organizations ?? {}).map(([ref, given]) => ({
    ref,
    id: given.id ?? uuidFrom(randomStream(seed, "organization.id", ref)),
    name: given.name ?? inventOrganizationName(seed, ref, given.type),
    type: given.type,
    status: given.status ?? "active",
    sandboxAccess: given.sandbox_access ?? true,
    liveAccess: given.live_access ?? "not_approved",
  }));
}
