import { expect, test } from "vitest";
import { compareTimes, readTimeOrDuration, type StartTime, timeFrom } from "./times.js";

test("a duration counts from the start", () => {
  expect(timeFrom(0, "-1d")).toBe(-86_400_000);
  expect(timeFrom(1000, "30m")).toBe(1_801_000);
  expect(timeFrom(5000, "1970-01-01T00:00:01Z")).toBe(1000);
});

function orderOf(start: StartTime, first: string, second: string) {
  return compareTimes(start, readTimeOrDuration(first), readTimeOrDuration(second));
}

const firstSecond = "1970-01-01T00:00:01Z";
const nextSecond = "1970-01-01T00:00:02Z";

test.each([0, "unknown"] as const)("two times, or two durations, have an order at the start %s", (start) => {
  expect(orderOf(start, firstSecond, nextSecond)).toBe("before");
  expect(orderOf(start, "1m", "60s")).toBe("same");
  expect(orderOf(start, "1d", "-2d")).toBe("after");
});

test("a time and a duration have an order only if the start is known", () => {
  expect(orderOf(1000, firstSecond, "1s")).toBe("before");
  expect(orderOf(0, "1s", firstSecond)).toBe("same");
  expect(orderOf(0, nextSecond, "1s")).toBe("after");
  expect(orderOf("unknown", firstSecond, "1s")).toBe("unknown");
});
