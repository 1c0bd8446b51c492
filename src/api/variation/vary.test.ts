import { expect, test } from "vitest";
import { chooseVariant } from "../../sandbox/variants.js";
import { variationTable } from "./table.js";

const eight = Array.from({ length: 8 }, (_, at) => at);

test("eight seeds in a row show each variant of each row", () => {
  for (const row of variationTable) {
    const { length } = row.variants;
    for (const first of [1, 2 ** 52]) {
      const places = eight.map((at) => chooseVariant({ seed: first + at }, row, 200, length));
      expect(new Set(places).size).toBe(length);
    }
  }
});
