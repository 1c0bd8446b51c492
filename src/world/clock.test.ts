import { expect, test } from "vitest";
import { createClock } from "./clock.js";

test("a clock goes forth and back with its time, however often it is read, and keeps nothing of it", () => {
  let time = 1_000_000;
  const clock = createClock({ time: () => time, start: 100 });
  for (const [at, shown] of [
    [1_500_000, 500_100],
    [1_000_007, 107],
    [900_000, -99_900],
    [1_000_008, 108],
  ] as const) {
    time = at;
    expect([clock.now(), clock.now()]).toEqual([shown, shown]);
  }
});

test("a clock that was moved by hand is so much ahead, and one that was frozen stands where it was", () => {
  let time = 1_000_000;
  const clock = createClock({ time: () => time, start: 0 });
  time += 60_000;
  clock.advance(5_000);
  expect(clock.now()).toBe(65_000);
  expect(() => clock.set(64_999)).toThrow(expect.objectContaining({ code: "clock_backwards" }));
  time -= 60_000;
  expect(clock.now()).toBe(5_000);
  clock.freeze();
  time -= 60_000;
  expect(clock.now()).toBe(5_000);
  clock.resume();
  time += 1;
  expect(clock.now()).toBe(5_001);
});
