import { afterEach, expect, test, vi } from "vitest";
import { expectLinear } from "../../../test/support/expect-linear.js";
import { readChallenge, readHttpDate } from "./parts.js";
import { createRedactKeys, readResponse } from "./response.js";

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

const readOf = (...values: string[]) => {
  const headers = values.map((value) => ["WWW-Authenticate", value] as const);
  const raw = { status: 401, version: "1.1", reason: "", headers, body: new Uint8Array() };
  return readChallenge(readResponse(raw, createRedactKeys([])));
};

test.each([
  ["ApiKey", "ApiKey", {}],
  ['ApiKey realm="a, b", max_age=60', "ApiKey", { realm: '"a, b"', max_age: "60" }],
  ['ApiKey realm="a \\" b"', "ApiKey", { realm: '"a \\" b"' }],
])("RFC 9110 %s is one challenge", (value, scheme, parameters) => {
  const challenge = readOf(value);
  expect(challenge).toMatchObject({ kind: "one", headerName: "WWW-Authenticate", scheme });
  const pairs = Object.entries(parameters).map(([name, value]) => ({ name, value }));
  expect(challenge).toMatchObject({ parameters: pairs });
});

test("RFC 9110 two challenges are not one, in one header or in two", () => {
  expect(readOf('Basic realm="a", ApiKey realm="b"').kind).toBe("another_text");
  expect(readOf('Basic realm="a"', 'ApiKey realm="b"').kind).toBe("another_text");
  expect(readOf().kind).toBe("none");
});

test("a long challenge is read in linear time", async () => {
  for (const piece of ["a", "a=", 'a="b', "a=b, ", "ApiKey "]) await expectLinear(piece, 20_000, readOf);
});
