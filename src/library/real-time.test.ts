import { afterEach, expect, test, vi } from "vitest";
import type * as RealTime from "./real-time.js";

const { now } = Date;
const month = 30 * 86_400_000;

afterEach(() => {
  vi.useRealTimers();
  Date.now = now;
});

/** Loads the module once more, as it is loaded with the `Date` of this moment. */
async function loadAnew(reason: string): Promise<typeof RealTime> {
  return import(/* @vite-ignore */ `./real-time.js?${reason}`);
}

test("a correction of the machine's clock moves no time, forth or back", async () => {
  let correction = 0;
  // To a reader of its text the function is Node's own, as every bound one.
  Date.now = (() => now() + correction).bind(undefined);
  const { steadyTime } = await loadAnew("corrected");
  const before = steadyTime();
  for (correction of [month, -month]) {
    const moved = steadyTime() - before;
    expect([moved >= 0, moved < 600_000]).toEqual([true, true]);
  }
});

test("a fake Date takes time with it, and real time goes on when it ends", async () => {
  const { steadyTime } = await loadAnew("faked-later");
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

test("a Date that is a fake when the sandbox is loaded is followed as well", async () => {
  vi.useFakeTimers({ now: 1000 });
  const { steadyTime } = await loadAnew("faked-before");
  expect(steadyTime()).toBe(1000);
  vi.setSystemTime(5000);
  expect(steadyTime()).toBe(5000);
  vi.useRealTimers();
  expect(Math.abs(steadyTime() - Date.now())).toBeLessThan(600_000);
});

test("pauses and durations are real while the timers of the process are fakes", async () => {
  const { setTimeout, stopwatch } = await loadAnew("timers");
  vi.useFakeTimers();
  const before = stopwatch();
  await new Promise<void>((resolve) => void setTimeout(resolve, 1));
  expect(stopwatch()).toBeGreaterThan(before);
});
