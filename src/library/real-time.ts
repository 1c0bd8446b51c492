import type { Platform } from "../sandbox/sandbox-state.js";

// Saved when this module loads: a test runner's fake timers should move a sandbox's clock, but not delay anything.

const { performance } = globalThis;

export const { clearTimeout: endTimeout, setTimeout: startTimeout } = globalThis;

const stopwatch: () => number = performance.now.bind(performance);

const { now } = Date;
// A `Date` that is already fake is followed from the start.
const isNative = /\[native code\]/.test(Function.prototype.toString.call(now));
const realNow = isNative ? now : undefined;
/** Adding the stopwatch to it gives the time. */
const origin = now() - stopwatch();

export const realTime: Pick<Platform, "time" | "steadyTime" | "stopwatch"> = {
  time: () => Date.now(),
  // Does not follow corrections of the machine's clock, but `Date.now` while fake timers replace it.
  steadyTime() {
    if (Date.now === realNow) return Math.floor(origin + stopwatch());
    return Date.now();
  },
  stopwatch,
};
