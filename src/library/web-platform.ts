import { _SHA256 as Sha256 } from "@noble/hashes/sha2.js";
import type { Platform } from "../sandbox/platform.js";

/** The SHA-256 of a text's UTF-8 bytes in hex, where the platform has no synchronous one. */
export function sha256Hex(text: string): string {
  // The package's functions `sha256` and `bytesToHex` weigh 0.6 kB more in a page.
  const digest = new Sha256().update(new TextEncoder().encode(text)).digest();
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The functions of this runtime, saved when this module loads: a test runner's fake timers should move a sandbox's clock, but not
// delay anything. What the steady time follows:
//
//     Date is real, and has been since this module loaded    the real time, only forward
//     Date is fake, or was when this module loaded           the time of `Date`, in both directions

const { performance } = globalThis;

export const { clearTimeout: endTimeout, setTimeout: startTimeout } = globalThis;

const stopwatch: () => number = performance.now.bind(performance);

const { now: dateNowAtLoad } = Date;
// The text of a built-in function is `function now() { [native code] }`.
const wasDateReal = /\[native code\]/.test(Function.prototype.toString.call(dateNowAtLoad));

/**
 * A clock that follows the wall clock forward, such as after a machine has slept, which stops some stopwatches. It does not
 * follow a step back, and goes on by the stopwatch until the wall clock has come to it again. Both are in milliseconds, and are
 * read for the first time when the clock is: while modules load, the wall clock of some runtimes shows the year 1970.
 */
export function forwardClock(wall: () => number, stopwatch: () => number): () => number {
  /** The time when the stopwatch was 0, by the latest wall clock that was seen. */
  let origin = Number.NEGATIVE_INFINITY;
  return () => {
    const elapsed = stopwatch();
    origin = Math.max(origin, wall() - elapsed);
    return Math.floor(origin + elapsed);
  };
}

const forwardTime = forwardClock(() => dateNowAtLoad(), stopwatch);

export const realTime: Pick<Platform, "time" | "steadyTime" | "stopwatch"> = {
  time: () => Date.now(),
  steadyTime: () => (wasDateReal && Date.now === dateNowAtLoad ? forwardTime() : Date.now()),
  stopwatch,
};
