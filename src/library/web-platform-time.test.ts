import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { shownAfter } from "../../test/model/clock-model.js";
import { runs } from "../../test/support/property-seed.js";
import type * as RealTime from "./web-platform.js";
import { forwardClock } from "./web-platform.js";

const { now } = Date;
const month = 30 * 86_400_000;

afterEach(() => {
  vi.useRealTimers();
  Date.now = now;
});

/** Loads the module again, with the current `Date`. */
async function loadAgain(reason: string) {
  const { realTime, startTimeout }: typeof RealTime = await import(
    /* @vite-ignore */ `./web-platform.js?${reason}`
  );
  return { ...realTime, startTimeout };
}

test("the time follows corrections of the machine's clock forward, and no step back", async () => {
  let correction = 0;
  // Bound, because the text of a bound function looks like Node's own.
  Date.now = (() => now() + correction).bind(undefined);
  const { steadyTime } = await loadAgain("corrected");
  const before = steadyTime();
  const moves = [month, 0, -month].map((next) => {
    correction = next;
    const moved = steadyTime() - before - month;
    return moved >= 0 && moved < 600_000;
  });
  expect(moves).toEqual([true, true, true]);
});

test("any clock goes as the model: with the wall clock, and by the stopwatch from a step back until the wall clock is there", () => {
  const step = fc.record({
    passed: fc.nat(100_000),
    jump: fc.oneof(fc.constant(0), fc.integer({ min: -200_000, max: 200_000 })),
  });
  fc.assert(
    fc.property(fc.nat(4_000_000_000_000), fc.nat(1_000_000), fc.array(step), (wall, stopwatch, steps) => {
      const reading = { wall, stopwatch };
      const time = forwardClock(
        () => reading.wall,
        () => reading.stopwatch,
      );
      const readings = [{ ...reading }];
      expect(time()).toBe(wall);
      for (const { passed, jump } of steps) {
        reading.stopwatch += passed;
        reading.wall += passed + jump;
        readings.push({ ...reading });
        expect(time()).toBe(shownAfter(readings));
      }
    }),
    runs(300),
  );
});

test("the time follows a fake Date, and continues as real time when the fake ends", async () => {
  const { steadyTime } = await loadAgain("faked-later");
  const before = steadyTime();
  for (const fake of [before + month, before - month, 0]) {
    vi.useFakeTimers({ now: fake });
    expect(steadyTime()).toBe(fake);
    vi.advanceTimersByTime(86_400_000);
    expect(steadyTime()).toBe(fake + 86_400_000);
    vi.useRealTimers();
    const moved = steadyTime() - before;
    expect([moved >= 0, moved < 600_000]).toEqual([true, true]);
  }
  vi.spyOn(Date, "now").mockReturnValueOnce(7);
  expect(steadyTime()).toBe(7);
});

test("the time also follows a Date that is fake when the sandbox is loaded", async () => {
  vi.useFakeTimers({ now: 1000 });
  const { steadyTime } = await loadAgain("faked-before");
  expect(steadyTime()).toBe(1000);
  vi.setSystemTime(5000);
  expect(steadyTime()).toBe(5000);
  vi.useRealTimers();
  expect(Math.abs(steadyTime() - Date.now())).toBeLessThan(600_000);
});

test("pauses and durations are real while timers are fake", async () => {
  const { startTimeout, stopwatch } = await loadAgain("timers");
  vi.useFakeTimers();
  const before = stopwatch();
  await new Promise<void>((resolve) => void startTimeout(resolve, 1));
  expect(stopwatch()).toBeGreaterThan(before);
});
