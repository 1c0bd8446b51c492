import { expect, test } from "vitest";
import { readPlain } from "./written-scenario.js";

/** The codes of the problems of a value that may have five members and items. */
function codesOf(value: unknown): string[] {
  return readPlain(value, 5).problems.map(({ code }) => code);
}

test.each<[what: string, allowed: unknown, tooLarge: unknown]>([
  ["members", { a: 1, b: 2, c: 3, d: 4, e: 5 }, { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }],
  ["items", { a: [1, 2, 3, 4] }, { a: [1, 2, 3, 4, 5] }],
  ["members of members", { a: { b: 1 }, c: { d: { e: 1 } } }, { a: { b: 1 }, c: { d: { e: { f: 1 } } } }],
])("a scenario may have exactly as many %s as the limit", (_what, allowed, tooLarge) => {
  expect([codesOf(allowed), codesOf(tooLarge)]).toEqual([[], ["too_large"]]);
});
