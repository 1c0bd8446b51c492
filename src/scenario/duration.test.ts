import { expect, test } from "vitest";
import { parseDuration } from "./duration.js";

test.each([
  ["250ms", 250],
  ["90s", 90_000],
  ["61m", 3_660_000],
  ["2h", 7_200_000],
  ["7d", 604_800_000],
  ["-1d", -86_400_000],
  ["+10m", 600_000],
  ["0s", 0],
])("%s is %i milliseconds", (text, length) => {
  expect(parseDuration(text)).toBe(length);
});

test.each([
  "",
  "10",
  "10 m",
  "1.5h",
  "1h30m",
  "10M",
  "1w",
  "m",
  "--1d",
  "9999999999999999d",
])("%j is no duration", (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test("minus nothing is nothing", () => {
  expect(parseDuration("-0s")).toBe(0);
});
