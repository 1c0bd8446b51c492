import { expect, test } from "vitest";
import { createClock } from "./clock.js";

test("the clock never runs backwards: a wall clock set back holds it still", () => {
  let wall = 1_000_000;
  const clock = createClock({ time: () => wall, start: 100 });
  wall -= 500_000;
  expect(clock.now()).toBe(100);
  wall += 7;
  expect(clock.now()).toBe(107);
});
