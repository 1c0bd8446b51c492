import { steadyTime, stopwatch, wallTime } from "../library/real-time.js";
import { sha256 as ownSha256 } from "../library/sha256.js";
import { createWorld } from "../sandbox/create-world.js";
import type { Platform, World, WorldOptions } from "../sandbox/world.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { makeFarmers } from "../synthetic/farmers/farmers.js";
import { withMemory } from "./hash-memory.js";

/** `node:crypto`, loaded when it is used: that takes 2 to 4 ms, a twentieth of a start. */
export const nodeCrypto = (): typeof import("node:crypto") => process.getBuiltinModule("node:crypto");

/** So many hashes are made by our own code, in less time than it takes to load Node's, which is twice as fast. */
const firstHashes = 1000;
let hashes = 0;
let hashNatively: Platform["sha256"] | undefined;

const sha256: Platform["sha256"] = (text) => {
  if (hashNatively !== undefined) return hashNatively(text);
  hashes += 1;
  if (hashes <= firstHashes) return ownSha256(text);
  const { hash, createHash } = nodeCrypto();
  // The one-shot hash takes half the time of createHash; other runtimes may not have it.
  hashNatively =
    typeof hash === "function"
      ? (one) => hash("sha256", one, "hex")
      : (one) => createHash("sha256").update(one).digest("hex");
  return hashNatively(text);
};

/** Kept as it is now: some fake timers replace it. */
export const { nextTick } = process;

/** Node's own timers, kept as well: in jsdom the global ones have no `unref`, and fake ones would stop the time. */
export const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } =
  process.getBuiltinModule("node:timers");

// Good enough for a hash that no one is shown.
const randomWord = () => (Math.random() * 2 ** 32) | 0;

/** The platform of a world in Node. */
export const nodePlatform: Platform = {
  sha256: withMemory(sha256, randomWord(), randomWord()),
  time: wallTime,
  steadyTime,
  stopwatch,
  farmers: makeFarmers,
  random: () => nodeCrypto().randomBytes(4).readUInt32LE(),
};

export type OpenWorldOptions = Omit<WorldOptions, "platform">;

/** Starts a world on this machine's clock. */
export function openWorld(scenario: Scenario, options: OpenWorldOptions = {}): World {
  return createWorld(scenario, { ...options, platform: nodePlatform });
}
