import { afterEach, expect, test, vi } from "vitest";
import { readHttpDate } from "./headers.js";

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
