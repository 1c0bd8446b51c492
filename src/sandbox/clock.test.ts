import { expect, test } from "vitest";
import { createClock } from "./clock.js";

test("a clock never runs backwards: it continues from a time that moved back", () => {
  let time = 1_000_000;
  const clock = createClock({ time: () => time, start: 100 });
  for (const [at, shown] of [
    [1_500_000, 500_100],
    [1_000_007, 500_100],
    [1_000_008, 500_101],
    [900_000, 500_101],
    [1_000_000, 600_101],
  ] as const) {
    time = at;
    expect([clock.now(), clock.now()]).toEqual([shown, shown]);
  }
});

test("a moved clock stays ahead by the same time, and a frozen clock stays where it was", () => {
  let time = 1_000_000;
  const clock = createClock({ time: () => time, start: 0 });
  time += 60_000;
  clock.advance(5_000);
  expect(clock.now()).toBe(65_000);
  expect(() => clock.set(64_999)).toThrow(expect.objectContaining({ code: "clock_backwards" }));
  clock.freeze();
  time += 60_000;
  expect(clock.now()).toBe(65_000);
  clock.resume();
  time += 1;
  expect(clock.now()).toBe(65_001);
});

test("a clock that keeps its minute leaves it only when it is moved", () => {
  let time = 0;
  const clock = createClock({ time: () => time, start: 30_000, holdsMinute: true });
  time = 20_000;
  expect(clock.now()).toBe(50_000);
  time = 500_000;
  expect(clock.now()).toBe(59_999);
  clock.advance(1_001);
  expect(clock.now()).toBe(61_000);
  time = 900_000;
  expect(clock.now()).toBe(119_999);
});
