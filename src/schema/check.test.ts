import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { hasKind, isAllowed } from "./allowed.js";
import { checkShape, findMismatches } from "./check.js";
import { jsonSchemaOf } from "./json-schema.js";
import {
  anything,
  choice,
  either,
  integer,
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
    const answers = [isAllowed(shape, value), hasKind(shape, value), isValid(value)];
    expect([value, ...answers, findMismatches(shape, value, String)]).toEqual([value, true, true, true, []]);
  }
  for (const value of refused) {
    expect([value, isAllowed(shape, value), isValid(value)]).toEqual([value, false, false]);
    expect(findMismatches(shape, value, String)).toHaveLength(1);
  }
});

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
  [text({ isSecret: true, max: 3 }), "abcd", "part is too long: 4 characters"],
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

test.each([{ toString: 1 }, [{ toString: 1 }], Object.create(null)])(
  "a mapping in place of a choice is no choice, whatever its members are called: %j",
  (value) => {
    const { problems } = checkShape(mapping({ kind: choice(["a", "b"]) }), { kind: value });
    expect(problems).toMatchObject([{ code: "bad_choice", field: ["kind"] }]);
  },
);
