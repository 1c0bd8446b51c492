import { expect, test } from "vitest";
import { createClock } from "./clock.js";

function wallClock(start = 1_000_000) {
  let now = start;
  return { time: () => now, move: (by: number) => (now += by) };
}

test("a clock without a start shows the wall clock, as it moves", () => {
  const wall = wallClock();
  const clock = createClock({ time: wall.time });
  wall.move(5);
  expect(clock.now()).toBe(1_000_005);
});

test("a clock with a start runs from there", () => {
  const wall = wallClock();
  const clock = createClock({ time: wall.time, start: 0 });
  wall.move(5);
  expect(clock.now()).toBe(5);
});

test("a frozen clock stands still until it is moved or resumed", () => {
  const wall = wallClock();
  const clock = createClock({ time: wall.time, start: 0, frozen: true });
  wall.move(5);
  clock.advance(10);
  expect([clock.now(), clock.isFrozen()]).toEqual([10, true]);
  clock.resume();
  wall.move(5);
  expect([clock.now(), clock.isFrozen()]).toEqual([15, false]);
  clock.freeze();
  wall.move(5);
  expect(clock.now()).toBe(15);
});

test("the clock never runs backwards: it refuses to, and a wall clock set back holds it still", () => {
  const wall = wallClock();
  const clock = createClock({ time: wall.time, start: 100 });
  expect(() => clock.set(99)).toThrow(expect.objectContaining({ code: "clock_backwards" }));
  expect(() => clock.advance(-1)).toThrow(expect.objectContaining({ code: "clock_backwards" }));
  expect(() => clock.advance(Number.NaN)).toThrow(expect.objectContaining({ code: "clock_backwards" }));
  wall.move(-500_000);
  expect(clock.now()).toBe(100);
  wall.move(7);
  expect(clock.now()).toBe(107);
});
