import { expect, test } from "vitest";
import { row, variationTable } from "./table.js";
import { selector } from "./vary.js";

const eight = Array.from({ length: 8 }, (_, at) => at);

test("what a row chooses does not depend on the rows that chose before", () => {
  const rowOf = (id: string) => row(id, [200], "a", { b: {}, c: {}, d: {} });
  const choose = selector(1);
  for (const id of ["x", "y"]) choose(rowOf(id)).random();
  expect(choose(rowOf("row")).variant).toEqual(selector(1)(rowOf("row")).variant);
});

test("eight seeds in a row show each variant of each row", () => {
  for (const one of variationTable) {
    const ids = [1, 2 ** 52].map((first) => eight.map((at) => selector(first + at)(one).variant.id));
    for (const chosen of ids) expect(new Set(chosen).size).toBe(one.variants.length);
  }
});
