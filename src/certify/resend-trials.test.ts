import { expect, test } from "vitest";
import { timingOf } from "./resend-trials.js";

// Of N requests, the p-th is rejected; `all`: how many came, and `early`: how many of them after it and before its time.
test.each<[string, number, number, number, number, string]>([
  ["one before the time, after the last of N", 3, 3, 1, 4, "again"],
  ["one before the time, and none after it: another test has stopped", 3, 3, 1, 3, "again"],
  ["no more than N", 3, 3, 0, 3, "unused"],
  ["fewer than N", 3, 1, 0, 1, "unused"],
  ["one more than N, after the time", 3, 3, 0, 4, "waited"],
  ["the only one again, before the time", 1, 1, 1, 2, "again"],
  ["the only one again, after the time", 1, 1, 0, 2, "waited"],
  ["the others in time for a test, and one more after the time", 3, 1, 2, 4, "unclear"],
  ["the others, and one more before the time", 3, 1, 3, 4, "again"],
  ["the others only", 3, 1, 2, 3, "unused"],
  ["all after the time", 3, 1, 0, 4, "waited"],
])("a run with %s", (_, count, at, early, all, kind) => {
  expect(timingOf(count, at, early, all)).toBe(kind);
});
