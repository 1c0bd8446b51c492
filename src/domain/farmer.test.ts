import { expect, test } from "vitest";
import { personaOf } from "./farmer.js";

test.each([
  ["grants", 0.7],
  ["refuses", 0.1],
  ["silent", 0.15],
  ["grants_then_revokes", 0.05],
] as const)("of all but the first farmers %s is the persona of a share of %d", (persona, share) => {
  const personas = Array.from({ length: 20_000 }, (_, index) => personaOf(1, index + 5));
  expect(personas.filter((one) => one === persona).length / personas.length).toBeCloseTo(share, 1.7);
});
