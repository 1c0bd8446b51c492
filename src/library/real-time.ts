import { createSteadyTime } from "../world/clock.js";

// Kept when this module is loaded: fake timers of a test runner are to move the clock of a sandbox, and to hold up nothing.

const { performance } = globalThis;

/** The global timers, in real time. */
export const { clearTimeout, setTimeout } = globalThis;

/** A clock for durations, in milliseconds with fractions. */
export const stopwatch: () => number = performance.now.bind(performance);

/** The wall clock, in epoch milliseconds; a fake one where there is one. */
export const wallTime = (): number => Date.now();

/** Epoch milliseconds by which clocks move. */
export const steadyTime = createSteadyTime(globalThis, stopwatch);
