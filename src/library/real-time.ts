import { createSteadyTime } from "../sandbox/clock.js";

// Saved when this module loads: a test runner's fake timers should move a sandbox's clock, but not delay anything.

const { performance } = globalThis;

export const { clearTimeout: endTimeout, setTimeout: startTimeout } = globalThis;

export const stopwatch: () => number = performance.now.bind(performance);

/** The wall clock in epoch milliseconds; follows a fake `Date`. */
export const wallTime = (): number => Date.now();

/** Epoch milliseconds for the clocks of sandboxes; steady, but follows a fake `Date`. */
export const steadyTime = createSteadyTime(globalThis, stopwatch);
