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
