import { expect, test } from "vitest";
import { row, variationTable } from "./table.js";
import { selector } from "./vary.js";

test("what a row chooses does not depend on the rows that chose before", () => {
  const rowOf = (id: string) => row(id, [200], "a", { b: {}, c: {}, d: {} });
  const choose = selector(1, 200, 5);
  for (const id of ["x", "y"]) choose(rowOf(id)).random();
  expect(choose(rowOf("row")).variant).toEqual(selector(1, 200, 5)(rowOf("row")).variant);
});

test("eight seeds in a row show each variant of each row, in the nth response with each status", () => {
  for (const one of variationTable) {
    expect(one.variants.length).toBeLessThanOrEqual(8);
    for (const [status, nth] of [
      [200, 0],
      [401, 3],
      [429, 17],
    ] as const) {
      const seeds = Array.from({ length: 8 }, (_, at) => 2 ** 52 + at);
      const shown = new Set(seeds.map((seed) => selector(seed, status, nth)(one).variant.id));
      expect(shown.size).toBe(one.variants.length);
    }
  }
});

test("eight responses with a status show each variant of each row", () => {
  for (const one of variationTable) {
    const shown = new Set(Array.from({ length: 8 }, (_, nth) => selector(7, 401, nth)(one).variant.id));
    expect(shown.size).toBe(one.variants.length);
  }
});
