import { expect, test } from "vitest";
import { dayStart, minuteStart, timeOfDay } from "./limits.js";

test("a minute begins at its full UTC minute, before 1970 too", () => {
  expect(minuteStart(Date.parse("2026-03-02T09:00:59.999Z"))).toBe(Date.parse("2026-03-02T09:00:00Z"));
  expect(minuteStart(Date.parse("2026-03-02T09:01:00Z"))).toBe(Date.parse("2026-03-02T09:01:00Z"));
  expect(minuteStart(-1)).toBe(-60_000);
});

test.each([
  ["2026-03-02T05:59:59.999Z", "06:00", "2026-03-01T06:00:00Z"],
  ["2026-03-02T06:00:00Z", "06:00", "2026-03-02T06:00:00Z"],
  ["2026-03-02T00:00:00Z", "00:00", "2026-03-02T00:00:00Z"],
  ["2026-03-02T23:59:00Z", "23:59", "2026-03-02T23:59:00Z"],
])("at %s the day that resets at %s began at %s", (now, resetsAt, began) => {
  expect(dayStart(Date.parse(now), timeOfDay(resetsAt))).toBe(Date.parse(began));
});
