import { expect, test } from "vitest";
import { variantOn } from "../../sandbox/variants.js";
import { variationTable } from "./table.js";

const eight = Array.from({ length: 8 }, (_, at) => at);

test("eight seeds in a row show each variant of each row", () => {
  for (const row of variationTable) {
    for (const first of [1, 2 ** 52]) {
      const variants = eight.map((at) => variantOn(200, row, { seed: first + at }));
      expect(new Set(variants)).toEqual(new Set(row.variants));
    }
  }
});
