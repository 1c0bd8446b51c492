import { expect, test } from "vitest";
import { expectLinear } from "../../../test/support/expect-linear.js";
import { readChallenge } from "./challenge.js";
import { createRedactKeys } from "./redact-keys.js";
import { readResponse } from "./redacted-response.js";

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

test("a long challenge is read in linear time", () => {
  for (const piece of ["a", "a=", 'a="b', "a=b, ", "ApiKey "]) expectLinear(piece, 20_000, readOf);
});
