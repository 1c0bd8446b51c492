import { _SHA256 as Sha256 } from "@noble/hashes/sha2.js";
import type { Platform } from "../sandbox/platform.js";

/** The SHA-256 of a text's UTF-8 bytes in hex, where the platform has no synchronous one. */
export function sha256Hex(text: string): string {
  // The package's functions `sha256` and `bytesToHex` weigh 0.6 kB more in a page.
  const digest = new Sha256().update(new TextEncoder().encode(text)).digest();
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Saved when this module loads: a test runner's fake timers should move a sandbox's clock, but not delay anything.
const { performance } = globalThis;

export const { clearTimeout: endTimeout, setTimeout: startTimeout } = globalThis;

export const realTime: Pick<Platform, "time" | "stopwatch"> = {
  time: () => Date.now(),
  stopwatch: performance.now.bind(performance),
};
