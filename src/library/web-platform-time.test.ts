import { afterEach, expect, test, vi } from "vitest";
import { realTime, startTimeout } from "./web-platform.js";

afterEach(() => void vi.useRealTimers());

test("the time follows a fake Date, and is real when the fake ends", () => {
  const { time } = realTime;
  const before = time();
  vi.useFakeTimers({ now: 1000 });
  vi.advanceTimersByTime(500);
  expect(time()).toBe(1500);
  vi.useRealTimers();
  expect(time()).toBeGreaterThanOrEqual(before);
});

test("pauses and durations are real while timers are fake", async () => {
  const { stopwatch } = realTime;
  vi.useFakeTimers();
  const before = stopwatch();
  await new Promise<void>((resolve) => void startTimeout(resolve, 1));
  expect(stopwatch()).toBeGreaterThan(before);
});
