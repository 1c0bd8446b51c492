import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { checkShape, findMismatches } from "./check.js";
import { isAllowed, isOfKind } from "./find-mistakes.js";
import { jsonSchemaOf } from "./json-schema.js";
import {
  anything,
  choice,
  either,
  list,
  mapping,
  number,
  openMapping,
  optional,
  orNull,
  record,
  type Shape,
  text,
} from "./shape.js";

const shape = mapping({
  name: text({ min: 2, max: 3 }),
  scopes: list(choice(["a", "b"]), { min: 1, max: 3 }),
  note: optional(orNull(text())),
  more: optional(openMapping({ id: text() })),
});
const sound = { name: "abc", scopes: ["a", "b"], note: null, more: { id: "x", other: 1 } };

test.each([
  [sound, []],
  [{ ...sound, name: "🌾🌾🌾" }, []],
  [{ ...sound, name: "🌾" }, ["name: a string of 2 to 3 characters"]],
  [{ ...sound, scopes: [] }, ["scopes: a list of 1 to 3"]],
  [{ ...sound, scopes: ["a", "a", "a", "a"] }, ["scopes: a list of 1 to 3"]],
  [{ ...sound, scopes: ["a", "x"] }, ['scopes[1]: "a" or "b"']],
  [{ ...sound, note: 7, more: {}, a: 1 }, ["a: no such member", "note: a string", "more.id: a string"]],
])(
  "%j: the mismatches are those that JSON Schema finds, and nothing inside a part that is wrong",
  (value, expected) => {
    expect(findMismatches(shape, value, String).map(({ path, expected }) => `${path}: ${expected}`)).toEqual(
      expected,
    );
    expect(new Ajv2020({ allowUnionTypes: true }).compile(jsonSchemaOf(shape))(value)).toBe(!expected.length);
  },
);

test("R46 the path of a mismatch has no key, also inside a member whose name is one", () => {
  const members = record(mapping({ id: text() }));
  const redact = (name: string) => name.replace("SVC_test_abc", "SVC_test_…");
  const [mismatch] = findMismatches(members, { SVC_test_abc: { id: 5 } }, redact);
  expect(mismatch?.path).toBe("SVC_test_….id");
});

test("a missing part is described by its kind", () => {
  const parts = mapping({
    any: anything(),
    nothing: { kind: "null" },
    several: either(text(), list(text(), { max: 2 })),
  });
  expect(findMismatches(parts, {}).map(({ path, expected }) => `${path}: ${expected}`)).toEqual([
    "any: any value",
    "nothing: null",
    "several: a string",
  ]);
});

test("a list and a mapping each have one word, as what is required and as what is there", () => {
  const values = [[], {}, "text", 7];
  const messages = [list(text(), { min: 1 }), mapping({}), record(text()), text()].flatMap((part) =>
    values.flatMap((value) =>
      checkShape(mapping({ part }), { part: value }).problems.map(({ message }) => message),
    ),
  );
  expect(messages).toContain("part must be a mapping, not a list");
  expect(messages).toContain("part must be a list of at least 1, not a mapping");
  expect(messages.filter((one) => /array|object/.test(one))).toEqual([]);
});

const status = { ...choice(["401"]), alsoMatching: /^20\d$/ } as Shape;

test.each<[name: string, shape: Shape, allowed: readonly unknown[], refused: readonly unknown[]]>([
  ["anything", anything(), [null, 1, "a", [], {}], []],
  ["a nullable text", orNull(text({ min: 2 })), [null, "ab"], ["a", 1, undefined]],
  ["a nullable choice of one", orNull(choice(["a"])), [null, "a"], ["b"]],
  ["one of several kinds", either(text(), number({ max: 5 })), ["a", 5], [6, null, []]],
  [
    "one of several mappings",
    either(orNull(mapping({ a: optional(text()) })), list(text())),
    [null, {}, []],
    ["a"],
  ],
  ["a choice with other texts", status, ["401", "204"], ["301", 204]],
])("%s is allowed by each question alike, as by JSON Schema", (_name, shape, allowed, refused) => {
  const isValid = new Ajv2020({ allowUnionTypes: true, strictTypes: false }).compile(jsonSchemaOf(shape));
  for (const value of allowed) {
    const answers = [isAllowed(shape, value), isOfKind(shape, value), isValid(value)];
    expect([value, ...answers, findMismatches(shape, value, String)]).toEqual([value, true, true, true, []]);
  }
  for (const value of refused) {
    expect([value, isAllowed(shape, value), isValid(value)]).toEqual([value, false, false]);
    expect(findMismatches(shape, value, String)).toHaveLength(1);
  }
});
