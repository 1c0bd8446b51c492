import * as crypto from "node:crypto";
import { createWorld, type Platform, type World, type WorldOptions } from "../sandbox/world.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { loadedFarmers } from "./load-farmers.js";

// The one-shot hash takes half the time of createHash, but Node has it only since 20.12; bundlers for other
// runtimes may not have it at all.
const sha256: (text: string) => string =
  typeof crypto.hash === "function"
    ? (text) => crypto.hash("sha256", text, "hex")
    : (text) => crypto.createHash("sha256").update(text).digest("hex");

/** The platform of a world in Node. The wall clock is read when used, so that fake timers move it too. */
export const nodePlatform: Platform = {
  sha256,
  time: () => Date.now(),
  stopwatch: () => performance.now(),
  farmers: loadedFarmers,
  random: () => crypto.randomBytes(4).readUInt32LE(),
};

export type OpenWorldOptions = Omit<WorldOptions, "platform">;

/** Starts a world on this machine's clock. */
export function openWorld(scenario: Scenario, options: OpenWorldOptions = {}): World {
  return createWorld(scenario, { ...options, platform: nodePlatform });
}
