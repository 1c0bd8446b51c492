import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { bundledScenarios, scenarioNames } from "./bundled.js";
import { scenarioJsonSchema } from "./json-schema.generated.js";
import { starterScenario } from "./starter.js";

const validate = new Ajv2020({ strict: false }).compile(scenarioJsonSchema);

test("the bundled scenarios and the starter are valid by the JSON Schema", () => {
  for (const name of scenarioNames) expect([name, validate(bundledScenarios[name])]).toEqual([name, true]);
  expect(validate(parse(starterScenario))).toBe(true);
});

test("a file may leave what is required to the scenario that it extends, and only then", () => {
  const organizations = { bank: { keys: { main: { limits: { per_minute: 5 } } } } };
  expect(validate({ version: 1, extends: "key-states", organizations })).toBe(true);
  expect(validate({ version: 1, organizations })).toBe(false);
});

test("unknown fields are refused by the JSON Schema too", () => {
  expect(validate({ version: 1, organisations: {} })).toBe(false);
});
