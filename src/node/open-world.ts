import type { Inventor } from "../synthetic/invent.js";
import { createWorld, needsInvention, type World, type WorldOptions } from "../sandbox/world.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { inventKeyName } from "../synthetic/key-names.js";
import { nodeEdge } from "./edge.js";

/** How to open a world in Node; see {@link WorldOptions}. */
export type OpenWorldOptions = Omit<WorldOptions, "edge" | "inventor">;

/** Starts a world on this machine's clock. Loads the library that invents names only when a name is left out. */
export async function openWorld(scenario: Scenario, options: OpenWorldOptions = {}): Promise<World> {
  const inventor = needsInvention(scenario) ? (await import("../synthetic/invent.js")).inventor : namesGiven;
  return createWorld(scenario, { ...options, edge: nodeEdge, inventor });
}

const namesGiven: Inventor = {
  organizationName(_seed, ref) {
    throw new Error(`the organization ${ref} was to have a name`);
  },
  keyName: inventKeyName,
};
