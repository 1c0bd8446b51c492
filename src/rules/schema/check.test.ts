import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { mismatchesIn, shapeProblems } from "./check.js";
import { jsonSchemaOf } from "./json-schema.js";
import { choice, list, mapping, nullable, openMapping, optional, record, text } from "./shape.js";

const shape = mapping({
  name: text({ min: 2, max: 3 }),
  scopes: list(choice(["a", "b"]), { min: 1 }),
  note: optional(nullable(text())),
  more: optional(openMapping({ id: text() })),
});
const sound = { name: "abc", scopes: ["a", "b"], note: null, more: { id: "x", other: 1 } };

test.each([
  [sound, []],
  [{ ...sound, name: "🌾🌾🌾" }, []],
  [{ ...sound, name: "🌾" }, ["name: a string of 2 to 3 characters"]],
  [{ ...sound, scopes: [] }, ["scopes: a list of at least 1"]],
  [{ ...sound, scopes: ["a", "x"] }, ['scopes[1]: "a" or "b"']],
  [{ ...sound, note: 7, more: {}, a: 1 }, ["note: a string", "more.id: a string", "a: no such member"]],
])(
  "%j: the mismatches are those that JSON Schema finds, and nothing inside a part that is wrong",
  (value, expected) => {
    expect(mismatchesIn(shape, value).map(({ path, expected }) => `${path}: ${expected}`)).toEqual(expected);
    expect(new Ajv2020({ allowUnionTypes: true }).compile(jsonSchemaOf(shape))(value)).toBe(!expected.length);
  },
);

test("a list and a mapping each have one word, as what is required and as what is there", () => {
  const values = [[], {}, "text", 7];
  const messages = [list(text(), { min: 1 }), mapping({}), record(text()), text()].flatMap((part) =>
    values.flatMap((value) =>
      shapeProblems(mapping({ part }), { part: value }).map(({ message }) => message),
    ),
  );
  expect(messages).toContain("part must be a mapping, not a list");
  expect(messages).toContain("part must be a list of at least 1, not a mapping");
  expect(messages.filter((one) => /array|object/.test(one))).toEqual([]);
});
