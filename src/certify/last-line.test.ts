import { expect, test } from "vitest";
import { lastLineOf } from "./last-line.js";

const ofNode = [
  "not ok 1 - a key",
  "  ---",
  "  error: |-",
  "    Expected values:",
  "    ",
  "    200 !== 401",
  "    ",
];

test.each<[string, string[], string | undefined]>([
  ["the last line with an error", ["Error: a", "  Error: b", "at c", ""], "Error: b"],
  ["the last line without one", ["a", " b ", ""], "b"],
  [
    "the text below it in node:test",
    [...ofNode, "  code: 'X'", "  ...", "# fail 1"],
    "error: Expected values: 200 !== 401",
  ],
  ["that text at the end of the output", ofNode, "error: Expected values: 200 !== 401"],
  ["nothing", ["", " "], undefined],
])("the last line shows %s", (_what, output, lastLine) => {
  expect(lastLineOf({ output })).toEqual(lastLine === undefined ? {} : { lastLine });
});
