import { expect, test } from "vitest";
import { commandLine, shellWord } from "./curl-line.js";

test.each([
  ["a=b", "a=b"],
  ["=ls", "'=ls'"],
  ["", "''"],
  ["it's", "'it'\\''s'"],
  ["$x", "'$x'"],
])("the word %j of a command is shown as a shell reads it: %s", (word, shown) => {
  expect(shellWord(word)).toBe(shown);
});

test("a command is shown up to its longest", () => {
  expect([commandLine(["abc", "d"], 5), commandLine(["abc", "de"], 5)]).toEqual(["abc d", "abc d…"]);
  expect([commandLine(["a🚜b"], 3), commandLine(["a🚜b"], 4)]).toEqual(["'a…", "'a🚜…"]);
});
