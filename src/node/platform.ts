import * as crypto from "node:crypto";
import { steadyTime, stopwatch, wallTime } from "../library/real-time.js";
import { createWorld } from "../sandbox/create-world.js";
import type { Platform, World, WorldOptions } from "../sandbox/world.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { FarmerMaker } from "../synthetic/farmers/farmers.js";

// The one-shot hash takes half the time of createHash, but Node has it only since 20.12; bundlers for other
// runtimes may not have it at all.
const sha256: Platform["sha256"] =
  typeof crypto.hash === "function"
    ? (text) => crypto.hash("sha256", text, "hex")
    : (text) => crypto.createHash("sha256").update(text).digest("hex");

/** Kept as it is now: some fake timers replace it. */
export const { nextTick } = process;

/** Node's own timers, kept as well: in jsdom the global ones have no `unref`, and fake ones would stop the time. */
export const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } =
  process.getBuiltinModule("node:timers");

let makeFarmers: FarmerMaker | undefined;

/**
 * Loads the module that makes farmers, so that worlds can make them without waiting. Every entry point that shows farmers
 * awaits this first; most starts show none, and would be slower.
 */
export async function loadFarmers(): Promise<void> {
  makeFarmers ??= (await import("../synthetic/farmers/farmers.js")).makeFarmers;
}

/** Loads it for a scenario whose API shows farmers. */
export async function loadFarmersFor(scenario: Scenario): Promise<void> {
  if ("preview" in scenario) await loadFarmers();
}

const loadedFarmers: FarmerMaker = (population) => {
  if (makeFarmers === undefined) throw new Error("the farmers are not loaded: await loadFarmers() before");
  return makeFarmers(population);
};

/** The platform of a world in Node. */
export const nodePlatform: Platform = {
  sha256,
  time: wallTime,
  steadyTime,
  stopwatch,
  farmers: loadedFarmers,
  random: () => crypto.randomBytes(4).readUInt32LE(),
};

export type OpenWorldOptions = Omit<WorldOptions, "platform">;

/** Starts a world on this machine's clock. */
export function openWorld(scenario: Scenario, options: OpenWorldOptions = {}): World {
  return createWorld(scenario, { ...options, platform: nodePlatform });
}
