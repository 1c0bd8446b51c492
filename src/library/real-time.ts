import type { Platform } from "../sandbox/sandbox-state.js";

// The functions of this runtime, saved when this module loads: a test runner's fake timers should move a sandbox's clock, but not
// delay anything.

const { performance } = globalThis;

export const { clearTimeout: endTimeout, setTimeout: startTimeout } = globalThis;

const stopwatch: () => number = performance.now.bind(performance);

const { now } = Date;
const isNative = /\[native code\]/.test(Function.prototype.toString.call(now));
/** The real `Date.now`; `undefined` if `Date` is already fake: it is followed from the start. */
const realNow = isNative ? now : undefined;
/** The time when the stopwatch was 0. */
const origin = now() - stopwatch();

export const realTime: Pick<Platform, "time" | "steadyTime" | "stopwatch"> = {
  time: () => Date.now(),
  // Does not follow corrections of the machine's clock. While fake timers replace `Date.now`, it follows them.
  steadyTime() {
    if (Date.now === realNow) return Math.floor(origin + stopwatch());
    return Date.now();
  },
  stopwatch,
};
