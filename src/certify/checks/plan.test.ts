import { expect, test } from "vitest";
import { variedSeeds } from "./plan.js";

test("a seed that --only names again is one seed", () => {
  expect(variedSeeds({ only: ["varied.1", "varied.3", "varied.1"], firstSeed: 1 })).toEqual([1, 3]);
});
