import { expect, test } from "vitest";
import { variedSeeds } from "./plan.js";

test("a seed that --only names again is one seed", () => {
  expect(variedSeeds({ only: ["varied.1", "varied.3", "varied.1"], firstSeed: 1 })).toEqual([1, 3]);
});

test("a seed that --only names besides the group is one more", () => {
  const seeds = variedSeeds({ only: ["varied", "varied.30", "varied.2"], firstSeed: 1 });
  expect(seeds).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 30]);
});
