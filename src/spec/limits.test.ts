import fc from "fast-check";
import { expect, test } from "vitest";
import { propertySeed } from "../../test/support/property-seed.js";
import { day, dayStart, minute, minuteStart } from "./limits.js";

test("R22 R23 each instant lies in one minute and one day, before 1970 too", () => {
  const instants = fc.integer({ min: -(10 ** 13), max: 10 ** 13 });
  fc.assert(
    fc.property(instants, fc.integer({ min: 0, max: day - 1 }), (now, resetsAt) => {
      for (const [start, length, offset] of [
        [minuteStart(now), minute, 0],
        [dayStart(now, resetsAt), day, resetsAt],
      ] as const) {
        expect(now).toBeGreaterThanOrEqual(start);
        expect(now).toBeLessThan(start + length);
        expect(Math.abs((start - offset) % length)).toBe(0);
      }
    }),
    propertySeed,
  );
  expect([minuteStart(-1), dayStart(-1, 0), minuteStart(-minute)]).toEqual([-minute, -day, -minute]);
});
