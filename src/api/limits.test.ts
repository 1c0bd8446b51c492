import { expect, test } from "vitest";
import { assumedRetryAfter, rateLimitHeaders } from "./limits.js";

const minute = {
  name: "minute",
  quota: 60,
  remaining: 0,
  windowSeconds: 60,
  resetsAt: 34_000,
  secondsToReset: 34,
} as const;
const day = {
  name: "day",
  quota: 1000,
  remaining: 3,
  windowSeconds: 86_400,
  resetsAt: 53_974_000,
  secondsToReset: 53_974,
} as const;

test.each([
  [34_000, "Thu, 01 Jan 1970 00:00:35 GMT"],
  [34_001, "Thu, 01 Jan 1970 00:00:35 GMT"],
  [33_999, "Thu, 01 Jan 1970 00:00:34 GMT"],
  [34_999, "Thu, 01 Jan 1970 00:00:35 GMT"],
])("R22 for a reset at %i ms Retry-After is the date %s, the next second", (resetsAt, date) => {
  const reached = { ...minute, resetsAt };
  expect(assumedRetryAfter("date", { reached }, 250)).toEqual(["Retry-After", date]);
});

test.each([
  ["day", 4, ["1000", "3", "53974"]],
  ["minute", 3, ["60", "3", "34"]],
  ["minute", 2, ["60", "2", "34"]],
])(
  "R5 the legacy headers name the %s when the minute has %i requests left and the day 3",
  (_, remaining, named) => {
    const headers = rateLimitHeaders("legacy", {
      minute: { ...minute, remaining },
      day,
      reached: undefined,
    });
    expect(headers.filter((_, index) => index % 2 === 1)).toEqual(named);
  },
);
