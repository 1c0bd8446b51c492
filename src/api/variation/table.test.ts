import { expect, test } from "vitest";
import { variantOn } from "../../sandbox/variants.js";
import type { RowVariant, VariationRow } from "./row.js";
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

const idRow = variationTable.find(({ id }) => id === "request_id_form") as VariationRow;

/** The id that a variant makes of the digits of a request. */
function idOf({ requestId }: RowVariant, digits: string, series: number): string {
  return requestId === undefined ? `req_${digits}` : requestId(digits, series);
}

test("seeds go through the forms of request ids in turn, as the table at the head of table.ts has it", () => {
  const forms = eight.map((seed) => variantOn(200, idRow, { seed }).id);
  expect(forms).toEqual(["number", "opaque", "long", "prefixed", "uuid", "trace", "dated", "number"]);
});

test("R7 an id of the form number differs from all ids of other series, and the first series has at most ten digits", () => {
  const form = idRow.variants.find(({ id }) => id === "number") as RowVariant;
  const tails = ["00000000", "0000000a", "ffffffff"].map((tail) => `${"0".repeat(16)}${tail}`);
  const ids = [0, 1, 2, 10, 2 ** 21 - 1].flatMap((series) =>
    tails.map((digits) => idOf(form, digits, series)),
  );
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.slice(0, 3)).toEqual(["0", "10", "4294967295"]);
});
