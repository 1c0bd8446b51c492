import fc from "fast-check";
import { expect, test } from "vitest";
import { propertySeed } from "../../test/support/property-seed.js";
import { day, dayEnd, minute, minuteEnd, parseDuration, parseTime } from "./time.js";

test.each([
  ["2026-03-02T09:00:00Z", Date.UTC(2026, 2, 2, 9)],
  ["2026-03-02T09:00:00.250Z", Date.UTC(2026, 2, 2, 9, 0, 0, 250)],
  ["2026-03-02T09:00:00+05:30", Date.UTC(2026, 2, 2, 3, 30)],
  ["2026-03-02T09:00:00.1234567Z", Date.UTC(2026, 2, 2, 9, 0, 0, 123)],
  ["2026-03-02 09:00:00+00:00", Date.UTC(2026, 2, 2, 9)],
  ["2026-03-02t09:00:00.5z", Date.UTC(2026, 2, 2, 9, 0, 0, 500)],
  ["2000-02-29T00:00:00Z", Date.UTC(2000, 1, 29)],
  ["0000-01-01T00:00:00Z", -62_167_219_200_000],
])("%s is a time", (text, time) => {
  expect(parseTime(text)).toBe(time);
});

test.each([
  "1900-02-29T00:00:00Z",
  "2026-04-31T00:00:00Z",
  "9999-12-31T23:59:59-01:00",
  "2026-13-01T00:00:00Z",
  "2026-03-02T24:00:00Z",
  "2026-03-02T09:60:00Z",
  "2026-03-02T09:00:00",
  "2026-03-02T09:00:00+25:00",
  "2026-03-02  09:00:00Z",
  "",
])("%j is not a time", (text) => {
  expect(parseTime(text)).toBeUndefined();
});

test.each([
  ["250ms", 250],
  ["-1d", -86_400_000],
  ["-0s", 0],
])("%s is %i milliseconds", (text, length) => {
  expect(parseDuration(text)).toBe(length);
});

test.each([
  ...["", "10", "1h30m", "10M", "m", "--1d", "+1h", "+250ms", "9999999999999999d"],
  ...["1.5h", "5 minutes", "10 m", "10min", "2w", " 10m", "10m ", "1e3s"],
])("%j is not a duration", (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test("R22 R23 each instant lies in one minute and one day, before 1970 too", () => {
  const instants = fc.integer({ min: -(10 ** 13), max: 10 ** 13 });
  fc.assert(
    fc.property(instants, (now) => {
      for (const [end, length] of [
        [minuteEnd(now), minute],
        [dayEnd(now), day],
      ] as const) {
        expect(now).toBeGreaterThanOrEqual(end - length);
        expect(now).toBeLessThan(end);
        expect(Math.abs(end % length)).toBe(0);
      }
    }),
    propertySeed,
  );
  expect([minuteEnd(-1), dayEnd(-1), minuteEnd(-minute)]).toEqual([0, 0, 0]);
});
