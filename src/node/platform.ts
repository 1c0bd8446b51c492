import { steadyTime, stopwatch, wallTime } from "../library/real-time.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { makeFarmers } from "../synthetic/farmers/farmers.js";
import { createWorld } from "../world/create-world.js";
import type { Platform, World, WorldOptions } from "../world/world.js";

/** `node:crypto`; an import of it takes longer. */
export const nodeCrypto = process.getBuiltinModule("node:crypto");

// The one-shot hash, in hex by default, takes half the time of createHash; other runtimes may lack it.
const { createHash, hash, randomBytes } = nodeCrypto;
const sha256: Platform["sha256"] =
  typeof hash === "function"
    ? (hash.bind(undefined, "sha256") as Platform["sha256"])
    : (text) => createHash("sha256").update(text).digest("hex");

/** Kept as it is now: some fake timers replace it. */
export const { nextTick } = process;

/** Node's own timers, kept as well: in jsdom the global ones have no `unref`, and fake ones would stop the time. */
export const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } =
  process.getBuiltinModule("node:timers");

/** The platform of a world in Node. */
export const nodePlatform: Platform = {
  sha256,
  time: wallTime,
  steadyTime,
  stopwatch,
  // Not the function itself, which CommonJS reads when it is first called.
  farmers: (settings) => makeFarmers(settings),
  random: () => randomBytes(4).readUInt32LE(),
};

export type OpenWorldOptions = Omit<WorldOptions, "platform">;

/** Starts a world on this machine's clock. */
export function openWorld(scenario: Scenario, options: OpenWorldOptions = {}): World {
  return createWorld(scenario, { ...options, platform: nodePlatform });
}
