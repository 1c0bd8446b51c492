import { expect, test } from "vitest";
import { timeFrom } from "./times.js";

test("a duration counts from the start", () => {
  expect(timeFrom(0, "-1d")).toBe(-86_400_000);
  expect(timeFrom(1000, "30m")).toBe(1_801_000);
  expect(timeFrom(5000, "1970-01-01T00:00:01Z")).toBe(1000);
});
