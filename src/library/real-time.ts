import type { Platform } from "../sandbox/sandbox-state.js";

// Saved when this module loads: a test runner's fake timers should move a sandbox's clock, but not delay anything.

const { performance } = globalThis;

export const { clearTimeout: endTimeout, setTimeout: startTimeout } = globalThis;

const stopwatch: () => number = performance.now.bind(performance);

const { now } = Date;
// Also follows a `Date` that is already fake.
const realNow = /\[native code\]/.test(Function.prototype.toString.call(now)) ? now : undefined;
const origin = now() - stopwatch();

export const realTime: Pick<Platform, "time" | "steadyTime" | "stopwatch"> = {
  time: () => Date.now(),
  // Does not follow corrections of the machine's clock, but `Date.now` while fake timers replace it.
  steadyTime: () => (Date.now === realNow ? Math.floor(origin + stopwatch()) : Date.now()),
  stopwatch,
};
