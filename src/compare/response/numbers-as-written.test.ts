import { expect, test } from "vitest";
import { numbersAsWritten } from "./numbers-as-written.js";

test.each<[json: string, numbers: [place: string, digits: string][]]>([
  [
    '{"a": 1.50, "b": {"c": [2, 9223372036854775807]}, "d": "7.0"}',
    [
      ["a", "1.50"],
      ["b.c[1]", "9223372036854775807"],
    ],
  ],
  ['{"text": "1.0, \\"2.0\\"", "n": 1.0}', [["n", "1.0"]]],
  [
    "[1e3, -0.0, 12]",
    [
      ["[0]", "1e3"],
      ["[1]", "-0.0"],
    ],
  ],
  ["1.0", [["", "1.0"]]],
])("the numbers of %s are kept as it has them", (json, numbers) => {
  expect([...numbersAsWritten(json, JSON.parse(json))]).toEqual(numbers);
});

test("a text that is not JSON has no numbers", () => {
  expect([...numbersAsWritten("{1.0", { a: 1 })]).toEqual([]);
});
