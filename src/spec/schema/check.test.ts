import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { checkValue, mismatchesIn } from "./check.js";
import { jsonSchemaOf } from "./json-schema.js";
import { choice, count, flag, list, mapping, nullable, openMapping, optional, text } from "./shape.js";

const shape = mapping({
  name: text({ least: 2, most: 3 }),
  scopes: list(choice(["a", "b"]), { least: 1, isUnique: true }),
  note: optional(nullable(text())),
  more: optional(openMapping({ id: text() })),
});
const sound = { name: "abc", scopes: ["a", "b"], note: null, more: { id: "x", other: 1 } };

test.each([
  [sound, []],
  [{ ...sound, name: "🌾🌾🌾" }, []],
  [{ ...sound, name: "🌾" }, ["name: a string of 2 to 3 characters"]],
  [{ ...sound, scopes: ["x", "x"] }, ["scopes: an array of at least 1, without duplicates"]],
  [{ ...sound, scopes: ["a", "x"] }, ['scopes[1]: "a" or "b"']],
  [{ ...sound, note: 7, more: {}, a: 1 }, ["note: a string", "more.id: a string", "a: no such member"]],
])("%j: the mismatches are those that JSON Schema finds, and nothing inside a part that is wrong", (value, expected) => {
  expect(mismatchesIn(shape, value).map(({ path, expected }) => `${path}: ${expected}`)).toEqual(expected);
  expect(new Ajv2020({ allowUnionTypes: true }).compile(jsonSchemaOf(shape))(value)).toBe(!expected.length);
});

test("a problem has a form for files, and one beside its field, without its name and without quotes and lines", () => {
  const of = mapping({
    at: count({ most: 9 }),
    on: flag(),
    of: list(text(), { least: 1 }),
    is: choice([1, 2]),
  });
  const input = { at: "5", on: "yes", of: [], is: " 2 " };
  let details: Record<string, Record<string, string>> = {};
  try {
    checkValue(of, input);
  } catch (error) {
    details = (error as { details: typeof details }).details;
  }
  expect(details.fields?.at).toBe(`at ${details.in_form?.at}: write 5 without quotes`);
  expect(details.in_form).toEqual({
    at: 'must be an integer from 0 to 9, not the text "5"',
    on: 'must be a boolean, not the text "yes"',
    of: "is an empty list",
    is: 'must be 1 or 2, not " 2 "',
  });
  expect(details.fields?.is).toBe(`is ${details.in_form?.is}: write 2 without quotes`);
});
