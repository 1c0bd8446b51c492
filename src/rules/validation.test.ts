import { expect, test } from "vitest";
import { jsonNotation } from "../schema/notation.js";
import { list, record, text } from "../schema/shape.js";
import { SandboxError } from "./errors.js";
import { checkValue } from "./validation.js";

function fieldsOf(check: () => unknown): Readonly<Record<string, string>> {
  try {
    check();
  } catch (error) {
    if (error instanceof SandboxError) return error.details.fields as Record<string, string>;
  }
  throw new Error("The value is valid.");
}

test("the details of an error have each problem of a member whose name and value are wrong", () => {
  const shape = record(text(), text({ pattern: /^[a-z]+$/ }));
  const fields = fieldsOf(() => checkValue(shape, { "A b": 1 }, "Failed", jsonNotation));
  expect(Object.keys(fields)).toEqual(["A b"]);
  expect(fields["A b"]?.split("; ")).toHaveLength(2);
});

test("an item of a list that JavaScript left undefined is an empty value", () => {
  const fields = fieldsOf(() => checkValue(list(text()), ["a", undefined], "Failed", jsonNotation));
  expect(fields["1"]).toContain("is empty: write a string");
});
