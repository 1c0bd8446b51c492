import { expect, test } from "vitest";
import { canBeAttested, personaOf } from "./farmer.js";

test.each([
  ["grants", 0.7],
  ["refuses", 0.1],
  ["silent", 0.15],
  ["grants_then_revokes", 0.05],
] as const)("of all but the first farmers %s is the persona of a share of %d", (persona, share) => {
  const personas = Array.from({ length: 20_000 }, (_, index) => personaOf(1, index + 5));
  expect(personas.filter((one) => one === persona).length / personas.length).toBeCloseTo(share, 1.7);
});

test("attestations of the fifth farmer fail, those of the four before never do, and one in twenty of all others does", () => {
  const seeds = Array.from({ length: 50 }, (_, seed) => seed);
  for (const farmer of [0, 1, 2, 3, 4]) {
    expect(seeds.map((seed) => canBeAttested(seed, farmer, "land"))).toEqual(seeds.map(() => farmer !== 4));
  }
  const farmers = Array.from({ length: 20_000 }, (_, index) => index + 5);
  const attested = farmers.map((farmer) => canBeAttested(1, farmer, "land"));
  expect(attested.filter(Boolean).length / farmers.length).toBeCloseTo(0.95, 1.7);
  // By themselves: not those of some personas, and not the same of each permission.
  expect(farmers.map((farmer) => canBeAttested(1, farmer, "loans"))).not.toEqual(attested);
});
