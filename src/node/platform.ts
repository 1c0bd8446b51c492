import * as crypto from "node:crypto";
import type { Platform } from "../sandbox/world.js";
import { loadedFarmers } from "./load-farmers.js";

// The one-shot hash takes half the time of createHash, but Node has it only since 20.12; bundlers for other
// runtimes may not have it at all.
const sha256: (text: string) => string =
  typeof crypto.hash === "function"
    ? (text) => crypto.hash("sha256", text, "hex")
    : (text) => crypto.createHash("sha256").update(text).digest("hex");

/** The edge of a world that runs in Node. The wall clock is read when used, so that fake timers move it too. */
export const nodePlatform: Platform = {
  sha256,
  time: () => Date.now(),
  stopwatch: () => performance.now(),
  farmers: loadedFarmers,
  random: () => crypto.randomBytes(4).readUInt32LE(),
};
