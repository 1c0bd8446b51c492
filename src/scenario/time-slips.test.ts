import { expect, test } from "vitest";
import { timeSlip } from "./time-slips.js";

test.each([
  ["2026-03-02", "2026-03-02T00:00:00Z"],
  ["2026-03-02T09:00:00", "2026-03-02T09:00:00Z"],
  ["2026-03-02 09:00:00Z", "write 2026-03-02T09:00:00Z"],
  ["2026-03-02 09:00", "2026-03-02T09:00Z"],
  ["2026-03-02T09:00:00 z", "write 2026-03-02T09:00:00Z"],
  ["2026-02-30T09:00:00Z", "2026-02 has 28 days"],
  ["2024-02-30", "2024-02 has 29 days"],
  ["2026-13-01T09:00:00Z", "months go from 01 to 12"],
  ["60", "60s or 60m"],
  ["10 minutes", "write 10m"],
  ["-1 day", "write -1d"],
  ["2w", "write 14d"],
  ["10M", "write 10m"],
  ["1h30m", "write 90m"],
  ["1h 30m", "write 90m"],
  ["1.5h", "write 90m"],
  ["1.5s", "write 1500ms"],
  ["PT1H", "write 1h"],
  ["P1DT12H", "write 36h"],
  ["2 hours and 5 minutes", "write 125m"],
  ["1h30", "one unit"],
  ["99999999d", "100 years"],
  ["soon", "such as 90m"],
])("of %s is said: %s", (text, hint) => {
  expect(timeSlip(text, true).hint).toContain(hint);
});

test("where only a time is allowed, durations are not offered", () => {
  expect(timeSlip("10m", false).hint).toContain("nothing to start from");
  expect(timeSlip("soon", false).hint).not.toContain("90m");
});
