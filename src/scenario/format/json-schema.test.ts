import { expect, test } from "vitest";
import { controlBodies } from "./inputs.js";
import { controlBodySchema, scenarioJsonSchema } from "./json-schema.js";

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
  const inside = [...anyOf, items, additionalProperties].filter((one) => typeof one === "object");
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
  expect([...hidden].sort()).toEqual([
    "counted_at",
    "requests_answered",
    "requests_matched",
    "revoked_at",
    "sha256",
    "suspensions",
  ]);
});

test("every field of a scenario and of the control plane's bodies has a description", () => {
  expect(bareFields(scenarioJsonSchema([]))).toEqual([]);
  for (const name of Object.keys(controlBodies) as (keyof typeof controlBodies)[]) {
    expect(bareFields(controlBodySchema(name))).toEqual([]);
  }
});
