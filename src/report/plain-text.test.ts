import { expect, test } from "vitest";
import { alignColumns, commandLine, shellWord } from "./plain-text.js";

test("columns are as wide as their widest cell, without the colors of a cell and without spaces at the end", () => {
  const lines = alignColumns([["a", "\u001b[31mlong\u001b[39m", "x"], ["bcd", "1", ""], ["e"]]);
  expect(lines).toEqual(["a    \u001b[31mlong\u001b[39m  x", "bcd  1", "e"]);
});

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
});
