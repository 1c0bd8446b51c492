import { expect, test } from "vitest";
import { assumedRetryAfter, rateLimitHeaders, type reachedReading } from "./limits.js";

type LimitReading = NonNullable<ReturnType<typeof reachedReading>>;

const minute: LimitReading = {
  name: "minute",
  quota: 60,
  used: 60,
  window: 60,
  remaining: 0,
  resetsAt: 34_000,
  reset: 34,
};
const day: LimitReading = {
  name: "day",
  quota: 1000,
  used: 997,
  window: 86_400,
  remaining: 3,
  resetsAt: 53_974_000,
  reset: 53_974,
};

test.each([
  [34_000, "Thu, 01 Jan 1970 00:00:35 GMT"],
  [34_001, "Thu, 01 Jan 1970 00:00:35 GMT"],
  [33_999, "Thu, 01 Jan 1970 00:00:34 GMT"],
  [34_999, "Thu, 01 Jan 1970 00:00:35 GMT"],
])("R22 for a reset at %i ms Retry-After is the date %s, the next second", (resetsAt, date) => {
  const limits = { minute: { ...minute, resetsAt }, day };
  expect(assumedRetryAfter("date", limits, 250)).toEqual(["Retry-After", date]);
});

test.each([
  ["day", 4, ["1000", "3", "53974"]],
  ["minute", 3, ["60", "3", "34"]],
  ["minute", 2, ["60", "2", "34"]],
])(
  "R5 the legacy headers name the %s when the minute has %i requests left and the day 3",
  (_, remaining, named) => {
    const headers = rateLimitHeaders("legacy", {
      minute: { ...minute, used: 60 - remaining, remaining },
      day,
    });
    expect(headers.filter((_, index) => index % 2 === 1)).toEqual(named);
  },
);
