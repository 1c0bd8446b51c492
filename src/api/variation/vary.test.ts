import { expect, test } from "vitest";
import { row, variationTable } from "./table.js";
import { selector } from "./vary.js";

test("what a row chooses does not depend on the rows that chose before", () => {
  const rowOf = (id: string) => row(id, [200], "a", { b: {}, c: {}, d: {} });
  const choose = selector(1, 200, 5);
  for (const id of ["x", "y"]) choose(rowOf(id)).random();
  expect(choose(rowOf("row")).variant).toEqual(selector(1, 200, 5)(rowOf("row")).variant);
});

test("eight seeds in a row, in the nth response with each status, or eight responses, show each variant of each row", () => {
  const eight = Array.from({ length: 8 }, (_, at) => at);
  for (const one of variationTable) {
    expect(one.variants.length).toBeLessThanOrEqual(8);
    const ofSeeds = (status: number, nth: number) =>
      eight.map((at) => selector(2 ** 52 + at, status, nth)(one));
    const ofResponses = eight.map((nth) => selector(7, 401, nth)(one));
    for (const chosen of [ofSeeds(200, 0), ofSeeds(401, 3), ofSeeds(429, 17), ofResponses])
      expect(new Set(chosen.map(({ variant }) => variant.id)).size).toBe(one.variants.length);
  }
});
