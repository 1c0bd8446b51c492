import { expect, test } from "vitest";
import { textWidth } from "./text-width.js";

test.each([
  ["key", 3],
  ["\u001B[31mkey\u001B[39m", 3],
  ["\t[31m", 4],
  ["e\u0301te\u0301", 3],
  ["銀行 🏦", 7],
  ["⌚", 2],
  ["☀️", 2],
  ["⭐ ✅", 5],
  ["👨‍👩‍👧‍👦", 2],
  ["🇫🇮", 2],
  ["1️⃣", 2],
  ["…–✓", 3],
])("%j takes up %i columns", (text, columns) => expect(textWidth(text)).toBe(columns));
