import { expect, test } from "vitest";
import { startInNode } from "../node/platform.js";
import { textWidth } from "../rules/terminal-text.js";
import { resolveSource } from "../scenario/scenario-source.js";
import { keyRows, keyTable } from "./key-rows.js";
import { createPrinter, paintStatus, startOfLine } from "./terminal.js";

const wrap = (text: string) => text;
const palette = { green: () => "green", yellow: () => "yellow", red: () => "red", dim: wrap } as never;

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: "1" }, false],
  [true, { NO_COLOR: "" }, true],
  [true, { TERM: "dumb" }, false],
  [true, { TERM: "xterm" }, true],
])("a terminal (%j) with %j has colors: %j", (isTTY, env, hasColors) => {
  const style = createPrinter({ isTTY, write() {} }, env as Record<string, string>).style();
  expect([style.palette.red("no"), style.isTerminal, style.width]).toEqual([
    hasColors ? "\u001B[31mno\u001B[39m" : "no",
    isTTY,
    Number.POSITIVE_INFINITY,
  ]);
});

test.each([
  // Status 0 is no response.
  [0, "red"],
  [200, "green"],
  [299, "green"],
  [300, "red"],
  [429, "yellow"],
  [503, "red"],
])("the status %i is %s", (status, color) => {
  expect(paintStatus(palette, status)("")).toBe(color);
});

test.each([
  ["short enough", 12, "short enough"],
  ["short enough", 11, "short\nenough"],
  ["x".repeat(101), 200, "x".repeat(101)],
  [`${"x".repeat(98)} x`, 200, `${"x".repeat(98)} x`],
  [`${"x".repeat(98)} xx`, 200, `${"x".repeat(98)}\nxx`],
  ["key  a text", 10, "key  a\n     text"],
  ["  long-key-here  a text", 18, "  long-key-here\n      a text"],
  ["now run svc-sandbox start x, or not", 20, "now run\nsvc-sandbox start x,\nor not"],
  ["\u001B[31mred\u001B[39m bank", 8, "\u001B[31mred\u001B[39m bank"],
  ["銀行 bank", 8, "銀行\nbank"],
  // Words without spaces.
  ["銀行銀行銀行", 8, "銀行銀行\n銀行"],
  ["to 銀行銀行銀行 bank", 8, "to 銀行\n銀行銀行\nbank"],
  ["see http://a.example/b", 10, "see http:/\n/a.example\n/b"],
  ["\u001B[31m銀行銀行銀行\u001B[39m", 8, "\u001B[31m銀行銀行\n銀行\u001B[39m"],
  ["👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 4, "👩‍👩‍👧👩‍👩‍👧\n👩‍👩‍👧"],
  ["Run `svc-sandbox start my.yaml` now", 12, "Run\n`svc-sandbox start my.yaml`\nnow"],
])("the line %j in %i columns", (line, columns, wrapped) => {
  const printer = createPrinter({ write() {}, isTTY: true, columns }, {});
  expect(printer.wrap(line)).toBe(wrapped);
});

const quoted = (before: string, after: string) => `a.yaml:1: x\n  ${before}x: 1${after}\n`;
const pointing = (line: string) => line.indexOf("x: 1") - 2;

test.each([
  ["the start", "", "y".repeat(90)],
  ["the middle", "a: 1, ".repeat(9), ", b: 1".repeat(9)],
  ["the end", "a: 1, ".repeat(9), ""],
  ["wide characters", "銀行".repeat(15), "銀行".repeat(15)],
  ["tabs", "\t\ta: 1, \t".repeat(8), "\t"],
])("of a line that is too wide, the part around the caret is shown: %s", (_, before, after) => {
  for (const columns of [30, 60, 70]) {
    const printer = createPrinter({ write() {}, isTTY: true, columns }, {});
    const caret = before.replace(/[^\t]/g, (sign) => (sign > "z" ? "  " : " "));
    const [, line = "", caretLine = "", hint] = printer
      .wrap(`${quoted(before, after)}  ${caret}^\nhint: y`)
      .split("\n");
    expect([hint, caretLine.trim()]).toEqual(["hint: y", "^"]);
    expect(textWidth(line)).toBeLessThanOrEqual(columns);
    expect(line).toContain("x: 1".slice(0, columns - 10));
    expect(textWidth(caretLine) - 1).toBe(textWidth(line.slice(0, pointing(line) + 2)));
  }
});

test.each([
  ["ten columns", 11, "ten columns"],
  ["ten columns", 10, "ten colum…"],
  ["ten  columns", 6, "ten…"],
  ["銀行 bank", 4, "銀…"],
  ["ab👩‍👩‍👧cd", 4, "ab…"],
])("%j in %i columns is shortened to whole characters", (line, width, expected) => {
  expect(startOfLine(line, width)).toBe(expected);
});

test("a table of keys has as many columns as fit", () => {
  const rows = keyRows(startInNode(resolveSource("key-states")));
  const whole = keyTable(rows, palette, Number.POSITIVE_INFINITY);
  const widthOf = (lines: readonly string[]) => Math.max(...lines.map(({ length }) => length));
  const titles = (width: number) => (keyTable(rows, palette, width)[0] as string).split(/ {2,}/);
  const columns = ["KEY", "SECRET", "A REQUEST GETS", "OUTCOME"];
  expect(titles(widthOf(whole))).toEqual(columns);
  const narrower = keyTable(rows, palette, widthOf(whole) - 1);
  expect(titles(widthOf(whole) - 1)).toEqual(columns.slice(0, 3));
  expect(titles(widthOf(narrower))).toEqual(columns.slice(0, 3));
  for (const width of [widthOf(narrower) - 1, 1]) expect(titles(width)).toEqual(["KEY", "SECRET", "GETS"]);
  expect(rows.find(({ ref }) => ref === "wrong-scope")).toMatchObject({
    status: 403,
    outcome: "403.insufficient_scope",
  });
});
