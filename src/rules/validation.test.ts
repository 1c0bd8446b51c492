import { expect, test } from "vitest";
import { jsonNotation } from "../schema/describe.js";
import { list, record, text } from "../schema/shape.js";
import { SandboxError } from "./errors.js";
import { checkedCopy } from "./validation.js";

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
  const fields = fieldsOf(() => checkedCopy(shape, { "A b": 1 }, "read the body", jsonNotation));
  expect(Object.keys(fields)).toEqual(["A b"]);
  expect(fields["A b"]?.split("; ")).toHaveLength(2);
});

test("an item of a list that JavaScript left undefined is an empty value", () => {
  const fields = fieldsOf(() => checkedCopy(list(text()), ["a", undefined], "read the body", jsonNotation));
  expect(fields["[1]"]).toContain("is empty: write a string");
});
