import { expect, test } from "vitest";
import { alignColumns } from "./plain-text.js";

test("columns are aligned, and no line ends with a space", () => {
  expect(
    alignColumns([
      ["a", "1", "x"],
      ["long", "22", ""],
    ]),
  ).toEqual(["a     1   x", "long  22  "].map((line) => line.trimEnd()));
});
