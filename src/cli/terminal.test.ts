import { expect, test } from "vitest";
import { startInNode } from "../node/platform.js";
import { resolveSource } from "../scenario/scenario-source.js";
import { keyRows, keyTable } from "./key-rows.js";
import { createPrinter, paintStatus } from "./terminal.js";

const palette = {
  green: () => "green",
  yellow: () => "yellow",
  red: () => "red",
  dim: (text: string) => text,
} as never;

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

test("an output shows no full key, unless it is printed on purpose (R46)", () => {
  const key = "SVC_test_sbx0123456789abcdefghijklmnopqrstuv";
  const written: string[] = [];
  const printer = createPrinter({ write: (text) => written.push(text) }, {});
  printer.write(key);
  printer.say(`::error::${key}\n`);
  printer.printSecret(key);
  expect(written).toEqual(["SVC_test_…", "\uFFFD:error::SVC_test_…\n", key]);
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
