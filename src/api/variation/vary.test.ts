import { expect, test } from "vitest";
import { variantOn } from "../../sandbox/variants.js";
import type { Body } from "./row.js";
import { lengtheningRows, variationTable } from "./table.js";

const eight = Array.from({ length: 8 }, (_, at) => at);

test("eight seeds in a row show each variant of each row", () => {
  for (const row of variationTable) {
    for (const first of [1, 2 ** 52]) {
      const variants = eight.map((at) => variantOn(200, row, { seed: first + at }));
      expect(new Set(variants)).toEqual(new Set(row.variants));
    }
  }
});

test("each row that makes a body longer has a variant that does", () => {
  const body: Body = {
    data: { organization: { name: "é" }, scopes: ["b", "a"], limits: {}, usage: {} },
    error: { message: "</a>" },
  };
  const usualLength = JSON.stringify(body).length;
  for (const row of lengtheningRows) {
    const lengths = row.variants.map(({ changeBody, writeBody = JSON.stringify, changeText }) => {
      const text = writeBody(changeBody?.(body, () => 0, 403) ?? body);
      return changeText?.(text).length ?? text.length;
    });
    expect(Math.max(...lengths), row.id).toBeGreaterThan(usualLength);
  }
});
