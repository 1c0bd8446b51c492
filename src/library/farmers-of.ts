import { defaultFarmerPage } from "../sandbox/farm-population.js";
import { requireFields } from "../sandbox/lifecycle/require-fields.js";
import type { World } from "../sandbox/world.js";
import type { SandboxFarmers } from "./sandbox.js";

/** The farmers of the world that runs at the time. */
export function farmersOf(world: () => World): SandboxFarmers {
  return {
    get count() {
      return world().farmers.count;
    },
    at: (index) => world().farmers.at(index),
    get: (id) => world().farmers.get(id),
    list({ offset = 0, limit = defaultFarmerPage } = {}) {
      requireFields("list farmers", { offset: countProblem(offset), limit: countProblem(limit) });
      return world().farmers.list({ offset, limit });
    },
  };
}

function countProblem(value: unknown): string | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number from 0";
}
