import { snakeCase } from "../../api/snake-case.js";
import { describeFaults } from "../../sandbox/faults.js";
import { viewClock, viewKey, viewOrganization } from "../../sandbox/views.js";
import type { World } from "../../sandbox/world.js";

/** The world as the control plane shows it; never a key, only fingerprints (R34). */
export function worldState(world: World): Record<string, unknown> {
  const { registry, clock } = world;
  return {
    scenario: world.name,
    seed: world.seed,
    clock: viewClock(clock),
    assumptions: { profile: world.profile, ...world.assumptions },
    faults: describeFaults(world.faults),
    organizations: [...registry.organizations.values()].map(({ organization }) =>
      snakeCase(viewOrganization(organization)),
    ),
    keys: [...registry.keys.values()].map((entry) => snakeCase(viewKey(entry, world))),
  };
}
