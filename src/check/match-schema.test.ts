import { expect, test } from "vitest";
import { me } from "../api/endpoints/me.js";
import { mismatches } from "./match-schema.js";

test("the endpoint's own example has no mismatch", () => {
  expect(mismatches(me.responseSchema, me.responseExample)).toEqual([]);
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
