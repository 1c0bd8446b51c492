import { afterEach, expect, test, vi } from "vitest";
import { describeValue, readHttpDate } from "./read-response.js";
import { shownText } from "./response.js";

afterEach(() => vi.unstubAllEnvs());

test.each(["UTC", "America/New_York", "Asia/Tokyo"])(
  "RFC 9110 a date without a zone is in GMT, also in the time zone %s",
  (zone) => {
    vi.stubEnv("TZ", zone);
    const time = Date.UTC(2026, 2, 2, 9, 0, 30);
    expect(readHttpDate("Mon, 02 Mar 2026 09:00:30 GMT")).toBe(time);
    expect(readHttpDate("Monday, 02-Mar-26 09:00:30 GMT")).toBe(time);
    expect(readHttpDate("Mon Mar  2 09:00:30 2026")).toBe(time);
  },
);

test("a server's texts are cut after 80 characters", () => {
  const max = "x".repeat(80);
  expect([shownText(max), shownText(`${max}x`)]).toEqual([max, `${max}…`]);
});

test("a server's text is cut before an emoji that would be cut in two", () => {
  const start = "x".repeat(79);
  expect(shownText(`${start}🚀 and more`)).toBe(`${start}…`);
});

test.each([
  [undefined, "nothing"],
  [null, "null"],
  ["60", 'the string "60"'],
  [[], "an empty list"],
  [[1], "a list"],
  [{}, "a mapping"],
  [60, "the number 60"],
  [{ toString: 1 }, "a mapping"],
  [[{ toString: 1 }], "a list"],
])("the value %j is described as %s", (value, described) => expect(describeValue(value)).toBe(described));
