import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { checkShape } from "./check.js";
import { jsonSchemaOf } from "./json-schema.js";
import { anything, choice, integer, list, mapping, optional, orNull, type Shape, text } from "./shape.js";

function hintOf(part: Shape, value: unknown): string | undefined {
  return checkShape(mapping({ part }), { part: value }).problems[0]?.hint;
}

test.each([
  [integer(), "007", "write 7 without quotes"],
  [integer(), "60", "write 60 without quotes"],
  [integer({ max: 5 }), "7", "write an integer from 0 to 5"],
  [integer(), "9".repeat(20), "write an integer of at least 0"],
  [choice([0, 503]), "0503", "write 503 without quotes"],
  [choice([0, 503]), " ", "write 0 or 503"],
])("a number in quotes is written without them only where it is allowed: %#", (shape, value, hint) => {
  expect(hintOf(shape, value)).toBe(hint);
});

test.each([
  [[1], "part is too short: 1 entry", "list at least 2"],
  [[1, 2, 3, 4], "part is too long: 4 entries", "list at most 3"],
])("a list out of its limits is too short or too long: %j", (value, message, hint) => {
  const { problems } = checkShape(mapping({ part: list(integer(), { min: 2, max: 3 }) }), {
    part: value,
  });
  expect(problems).toMatchObject([{ code: "out_of_range", message, hint }]);
});

test.each([
  [integer(), 2 ** 53, "part is too large: 9.007199254740992e+15"],
  [text(), 2 ** 53, "part must be a string, not 9.007199254740992e+15"],
  [integer(), null, "part is empty"],
  [list(integer(), { min: 1 }), [], "part is an empty list"],
  [text({ isSecret: true, max: 3 }), "abcd", "part must be a string of 0 to 3 characters"],
])("a message says what is wrong with a value: %#", (shape, value, message) => {
  const { problems } = checkShape(mapping({ part: shape }), { part: value });
  expect(problems.map((problem) => problem.message)).toEqual([message]);
});

test("a required field of any value is missing if it is not there, as in JSON Schema", () => {
  const shape = mapping({ needed: anything(), nullable: orNull(anything()), free: optional(anything()) });
  const isValid = new Ajv2020().compile(jsonSchemaOf(shape));
  for (const value of [{ needed: null, nullable: null }, {}, { needed: 1 }, { nullable: 1 }]) {
    expect([value, checkShape(shape, value).problems.length === 0]).toEqual([value, isValid(value)]);
  }
  expect(checkShape(shape, { nullable: 1 }).problems).toMatchObject([
    { code: "missing_field", field: ["needed"] },
  ]);
});
