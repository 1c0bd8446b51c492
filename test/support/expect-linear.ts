import { expect } from "vitest";

/** Shorter measurements say nothing: a collection of garbage takes as long. */
const floorMs = 20;
const tries = 3;

/**
 * Expects that a text of twice the length takes at most three times the processor time; in quadratic time, it would be four times. Both
 * are measured in the same run, so that a slow machine changes nothing.
 */
export async function expectLinear(
  piece: string,
  length: number,
  read: (text: string) => unknown,
): Promise<void> {
  const text = piece.repeat(length / piece.length);
  const most = 3;
  let [once, twice] = [0, 0];
  // A collection of garbage of other tests may fall into a measurement, but not into each.
  for (let nth = 0; nth < tries && twice >= most * once; nth++) {
    // The longer one is read first: if it takes next to no time, the shorter one says nothing.
    twice = await processorMs(() => read(text + text), most * floorMs);
    if (twice < most * floorMs) return;
    once = Math.max(floorMs, await processorMs(() => read(text), 0));
  }
  expect(twice, `${length} characters of ${JSON.stringify(piece)}`).toBeLessThan(most * once);
}

/** The processor time of the fastest of some tries, or of the first one that is below `enough`. */
async function processorMs(run: () => unknown, enough: number): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY;
  for (let nth = 0; nth < tries && fastest >= enough; nth++) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    fastest = Math.min(fastest, (user + system) / 1000);
  }
  return fastest;
}
