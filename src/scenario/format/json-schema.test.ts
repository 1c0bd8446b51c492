import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../test/support/property-seed.js";
import { shapeProblems } from "../../rules/schema/check.js";
import { bundledScenarios, scenarioNames } from "../bundled.js";
import { controlBodies } from "./inputs.js";
import { controlBodySchema, scenarioJsonSchema } from "./json-schema.js";
import { scenarioSchema } from "./schema.js";

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: Described | boolean;
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
}

function bareFields({ properties = {}, additionalProperties, items, anyOf = [] }: Described): string[] {
  const own = Object.entries(properties).flatMap(([name, field]) => [
    ...(field.description === undefined ? [name] : []),
    ...bareFields(field).map((inner) => `${name}.${inner}`),
  ]);
  // An alternative with `required` is only a condition.
  const alternatives = anyOf.filter((one) => !("required" in one));
  const inside = [...alternatives, items, additionalProperties].filter((one) => typeof one === "object");
  return [...own, ...inside.flatMap(bareFields)];
}

test("an editor is offered the bundled names, and no field that snapshots write", () => {
  const schema = scenarioJsonSchema(["rotation"]) as { properties: Record<string, object> };
  expect(schema.properties.extends).toMatchObject({ anyOf: [{ enum: ["rotation"] }, { type: "string" }] });
  const hidden = new Set<string>();
  JSON.stringify(schema, (name, value) => {
    if (value?.doNotSuggest === true) hidden.add(name);
    return value;
  });
  const written = new Set<string>();
  JSON.stringify(bundledScenarios, (name, value) => written.add(name) && value);
  expect([hidden.has("sha256"), [...hidden].filter((name) => written.has(name))]).toEqual([true, []]);
});

const valid = new Ajv2020({ strict: false }).compile(scenarioJsonSchema(scenarioNames));

// Texts that no check beyond the pattern concerns.
const replacements = [1e16, -1, 0, 1.5, true, false, null, "", "ok-ref", "A".repeat(300), [], {}, undefined];
const steps = [{}, { after: "1m" }, { at: "1h" }, { say: "Hi." }, { organization: { ref: "bank" } }];
const faults = JSON.parse('[{ "then": {} }, { "then": { "reset": false } }, { "then": { "body": "html" } }]');

test("the JSON Schema accepts exactly the scenarios whose fields the validator accepts", () => {
  const whole = scenarioNames.map((name) => ({ ...bundledScenarios[name], extends: undefined }));
  const changed = fc.record({
    scenario: fc.constantFrom(...whole),
    steps: fc.nat(10_000),
    part: fc.constantFrom<unknown>(...replacements, [{}], ...steps.map((one) => [one]), ...faults, faults),
  });
  fc.assert(
    fc.property(changed, ({ scenario, steps, part }) => {
      const copy = changedAt(JSON.parse(JSON.stringify(scenario)), steps, part);
      expect([copy, shapeProblems(scenarioSchema, copy).length === 0]).toEqual([copy, valid(copy)]);
    }),
    runs(500),
  );
});

/** The value with one part replaced, the part that a walk with this number reaches. */
function changedAt(value: unknown, walk: number, part: unknown): unknown {
  if (typeof value !== "object" || value === null || walk === 0) return part;
  const members = value as Record<string, unknown>;
  const names = [...Object.keys(members), "seed", "timeline", "story", "faults"];
  const name = names[walk % names.length] as string;
  if (Object.hasOwn(members, name) || !Array.isArray(value))
    members[name] = changedAt(members[name], Math.floor(walk / names.length), part);
  return JSON.parse(JSON.stringify(value));
}

test("every field of a scenario and of the control plane's bodies has a description", () => {
  expect(bareFields(scenarioJsonSchema([]))).toEqual([]);
  for (const name of Object.keys(controlBodies) as (keyof typeof controlBodies)[])
    expect(bareFields(controlBodySchema(name))).toEqual([]);
});
