import { expect, test } from "vitest";
import { alignColumns } from "./plain-text.js";

test("columns are as wide as their widest cell, without the colors of a cell and without spaces at the end", () => {
  const lines = alignColumns([["a", "\u001b[31mlong\u001b[39m", "x"], ["bcd", "1", ""], ["e"]]);
  expect(lines).toEqual(["a    \u001b[31mlong\u001b[39m  x", "bcd  1", "e"]);
});
