// Kept when this module is loaded: fake timers of a test runner are to move the clock of a sandbox, and to hold up nothing.

const { performance } = globalThis;

/** The global timers, in real time. */
export const { clearTimeout, setTimeout } = globalThis;

/** A clock for durations, in milliseconds with fractions. */
export const stopwatch: () => number = performance.now.bind(performance);

// A `Date` that is a fake already is followed as every other one.
const realNow = /\[native code\]/.test(Function.prototype.toString.call(Date.now)) ? Date.now : undefined;
const origin = Date.now() - stopwatch();

/** The wall clock, in epoch milliseconds; a fake one where there is one. */
export const wallTime = (): number => Date.now();

/**
 * Epoch milliseconds by which clocks move: evenly, also when the machine's clock is corrected. While `Date.now` is replaced,
 * as fake timers do, those that it says.
 */
export function steadyTime(): number {
  return Date.now === realNow ? Math.floor(origin + stopwatch()) : Date.now();
}
