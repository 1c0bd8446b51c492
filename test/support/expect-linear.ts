import { expect } from "vitest";

/** Shorter measurements say nothing: a collection of garbage takes as long. */
const floorMs = 20;
const tries = 3;

/**
 * Expects that a text of twice the length takes at most 2.5 times the processor time; in quadratic time, it would be 4 times. Both
 * are measured in the same run, so that a slow machine changes nothing.
 */
export function expectLinear(piece: string, length: number, read: (text: string) => unknown): void {
  const text = piece.repeat(length / piece.length);
  const once = processorMs(() => read(text));
  const twice = processorMs(() => read(text + text));
  expect(twice).toBeLessThan(2.5 * Math.max(once, floorMs));
}

/** The processor time of the fastest of some tries. */
function processorMs(run: () => unknown): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let nth = 0; nth < tries; nth++) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    fastest = Math.min(fastest, (user + system) / 1000);
  }
  return fastest;
}
