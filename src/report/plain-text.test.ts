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

test("colour does not count as width", () => {
  const paint = (text: string, _row: number, column: number) =>
    column === 0 ? `\u001b[1m${text}\u001b[22m` : text;
  expect(
    alignColumns(
      [
        ["a", "1"],
        ["long", "2"],
      ],
      paint,
    ),
  ).toEqual(["\u001b[1ma\u001b[22m     1", "\u001b[1mlong\u001b[22m  2"]);
});

test("no rows are no lines", () => {
  expect(alignColumns([])).toEqual([]);
});
