// Saved when this module loads: a test runner's fake timers should move a sandbox's clock, but not delay anything.

const { performance } = globalThis;

export const { clearTimeout: endTimeout, setTimeout: startTimeout } = globalThis;

export const stopwatch: () => number = performance.now.bind(performance);

/** The wall clock in epoch milliseconds; follows a fake `Date`. */
export const wallTime = (): number => Date.now();

/** Epoch milliseconds for the clocks of sandboxes; steady, but follows a fake `Date`. */
export const steadyTime = createSteadyTime(globalThis, stopwatch);

/** Does not follow corrections of the machine's clock, but `Date.now` while fake timers replace it. */
function createSteadyTime(
  global: { readonly Date: { readonly now: () => number } },
  stopwatch: () => number,
): () => number {
  const { now } = global.Date;
  // Also follows a `Date` that is already fake.
  const real = /\[native code\]/.test(Function.prototype.toString.call(now)) ? now : undefined;
  const origin = global.Date.now() - stopwatch();
  return () => (global.Date.now === real ? Math.floor(origin + stopwatch()) : global.Date.now());
}
