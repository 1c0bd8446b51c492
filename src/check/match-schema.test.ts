import { expect, test } from "vitest";
import { me } from "../api/endpoints/me.js";
import { errorSchema } from "../api/openapi.js";
import { mismatches } from "./match-schema.js";

test("the endpoint's own example has no mismatch", () => {
  expect(mismatches(me.responseSchema, me.responseExample)).toEqual([]);
});

test.each([
  [{ error: { code: 1, message: "x" } }, "$.error.code", "a string", "the number 1"],
  [{ error: { code: "a", message: null } }, "$.error.message", "a string", "null"],
  [{ error: { code: "a", message: "x", details: [] } }, "$.error.details", "an object", "an empty array"],
  [{ error: [] }, "$.error", "an object", "an empty array"],
  [[], "$", "an object", "an empty array"],
  [
    { error: { code: "a", message: "x" }, "a b\n": 1 },
    '$["a b\\ufffd"]',
    "nothing but error",
    "the number 1",
  ],
])("%j is told by its path", (value, at, expected, found) => {
  const [first, ...others] = mismatches(errorSchema, value).map((one) => ({
    ...one,
    at: one.at.replace("\ufffd", "\\ufffd"),
  }));
  expect([first, others]).toEqual([{ at, expected, found }, []]);
});

test("members that a prototype has are missing all the same", () => {
  const schema = {
    type: "object",
    required: ["constructor"],
    properties: { constructor: { type: "string" } },
  };
  expect(mismatches(schema, {})).toEqual([{ at: "$.constructor", expected: "a string", found: "nothing" }]);
});

test("a keyword that has no check is refused rather than overlooked", () => {
  expect(() => mismatches({ type: "string", pattern: "^a" }, "b")).toThrow(
    "no check for the JSON Schema keyword pattern",
  );
  expect(() => mismatches({ type: "number" }, 1)).toThrow("no check for the JSON Schema type number");
});
