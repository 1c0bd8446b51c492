import { expect, test } from "vitest";
import { oneSafeLine, safeOutput } from "./terminal-text.js";

test.each([
  ["C0", "\u001B[2J\u0007\u0008"],
  ["C1", "\u009B31m\u0085\u0090"],
  ["bidi marks", "\u200E\u200F\u061C\u202A\u202E\u2066\u2069"],
])("%s is not printed", (_what, text) => {
  const left = /[\p{Cc}\u061C\u200E-\u200F\u2028-\u202E\u2066-\u2069]/u;
  for (const shown of [safeOutput(text), safeOutput(text, true), oneSafeLine(text)]) {
    expect(shown).not.toMatch(left);
    expect(shown).toHaveLength(text.length);
  }
});

test("lines, tabs and letters of every language are printed, and colors where they are ours", () => {
  const text = "a\tb\r\nBänk 銀行 🏦\n";
  expect(safeOutput(text)).toBe(text);
  expect(safeOutput("\u001B[31mred\u001B[39m", true)).toBe("\u001B[31mred\u001B[39m");
  expect(safeOutput("\u001B[31mred\u001B[39m")).toBe("\uFFFD[31mred\uFFFD[39m");
});

test.each([
  ["\uFEFFa\uFEFF", "\uFEFFa\uFFFD"],
  ["a\rb\r\n\r", "a\uFFFDb\r\n\uFFFD"],
  ["\u001B[123mx", "\uFFFD[123mx"],
  ["\u001B[1mx\u001B[2Kx", "\u001B[1mx\uFFFD[2Kx"],
])("of %j only a first byte order mark, ends of lines and our colors are printed", (text, shown) => {
  expect(safeOutput(text, true)).toBe(shown);
});
