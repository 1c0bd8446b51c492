import { expect, test } from "vitest";
import { describeValue } from "./describe.js";
import { shownText } from "./response.js";

test("a server's texts are cut after 80 characters", () => {
  const max = "x".repeat(80);
  expect([shownText(max), shownText(`${max}x`)]).toEqual([max, `${max}…`]);
});

test("a server's text is cut before an emoji that would be cut in two", () => {
  const start = "x".repeat(79);
  expect(shownText(`${start}🚀 and more`)).toBe(`${start}…`);
});

test.each([
  [undefined, "nothing"],
  [null, "null"],
  ["60", 'the string "60"'],
  [[], "an empty list"],
  [[1], "a list"],
  [{}, "a mapping"],
  [60, "the number 60"],
  [{ toString: 1 }, "a mapping"],
  [[{ toString: 1 }], "a list"],
])("the value %j is described as %s", (value, described) => expect(describeValue(value)).toBe(described));
