import * as crypto from "node:crypto";
import { steadyTime, stopwatch, wallTime } from "../library/real-time.js";
import { createWorld } from "../sandbox/create-world.js";
import type { Platform, World, WorldOptions } from "../sandbox/world.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { makeFarmers } from "../synthetic/farmers/farmers.js";
import { withMemory } from "./hash-memory.js";

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

const random = () => crypto.randomBytes(4).readInt32LE();

/** The platform of a world in Node. */
export const nodePlatform: Platform = {
  sha256: withMemory(sha256, random(), random()),
  time: wallTime,
  steadyTime,
  stopwatch,
  farmers: makeFarmers,
  random: () => crypto.randomBytes(4).readUInt32LE(),
};

export type OpenWorldOptions = Omit<WorldOptions, "platform">;

/** Starts a world on this machine's clock. */
export function openWorld(scenario: Scenario, options: OpenWorldOptions = {}): World {
  return createWorld(scenario, { ...options, platform: nodePlatform });
}
