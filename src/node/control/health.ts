import type { World } from "../../sandbox/world.js";
import { version } from "../package-files.js";

/** What `GET /health` answers. */
export function health(world: World): Record<string, unknown> {
  return {
    status: "ok",
    version,
    scenario: world.name,
    seed: world.seed,
    now: new Date(world.clock.now()).toISOString(),
  };
}
