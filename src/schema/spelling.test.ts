import { expect, test } from "vitest";
import { checkShape } from "./check.js";
import { jsonSchemaOf } from "./json-schema.js";
import { integer, mapping, needing, optional, text } from "./shape.js";
import { membersToCamelCase, membersToSnakeCase, shapeInJson } from "./spelling.js";

test("members are spelled for JSON and back; headers keep their names", () => {
  const value = {
    perMinute: [{ outcome: 1 }],
    "200.getKeyUsage": 1,
    "Content-Type": 1,
    headers: { farmToken: 4 },
  };
  const { perMinute: _, ...kept } = value;
  const json = { per_minute: [{ outcome: 1 }], ...kept };
  expect([membersToSnakeCase(value), membersToCamelCase(json)]).toEqual([json, value]);
});

test("a mapping in JSON needs one of its fields as JSON spells them", () => {
  const shape = needing(["perMinute"], mapping({ perMinute: optional(integer()), name: optional(text()) }));
  const inJson = shapeInJson(shape);
  expect(jsonSchemaOf(inJson).anyOf).toEqual([{ required: ["per_minute"] }]);
  expect(checkShape(inJson, { per_minute: 1 }).problems).toEqual([]);
  expect(checkShape(inJson, { name: "a" }).problems).toHaveLength(1);
});
