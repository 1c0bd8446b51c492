import { createWorld, type World, type WorldOptions } from "../sandbox/world.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { nodePlatform } from "./platform.js";

/** How to open a world in Node; see {@link WorldOptions}. */
export type OpenWorldOptions = Omit<WorldOptions, "platform">;

/** Starts a world on this machine's clock. */
export function openWorld(scenario: Scenario, options: OpenWorldOptions = {}): World {
  return createWorld(scenario, { ...options, platform: nodePlatform });
}
