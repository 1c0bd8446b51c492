import { type Assumptions, assumptionTable } from "../../rules/assumptions.js";
import words from "../../rules/assumptions.json" with { type: "json" };
import { effectWords, faultKinds } from "../../rules/fault-effects.js";
import {
  type Describe,
  type JsonSchema,
  jsonSchemaDocument,
  jsonSchemaOf,
} from "../../rules/schema/json-schema.js";
import { type Shape, shapeAt } from "../../rules/schema/shape.js";
import descriptions from "./descriptions.json" with { type: "json" };
import { type ControlBodyName, controlBodies, requestQuery } from "./inputs.js";
import { scenarioSchema } from "./schema.js";

// A shape without a description at its path has the one of its first place: faults, actions and limits are in several.
const shared = new Map<Shape, string>();
const assumptions = Object.entries(assumptionTable).map(([name, { minimal }]) => [
  `assumptions.${name}`,
  `${meaningOf(name as keyof Assumptions)} Default: ${JSON.stringify(minimal)}.`, // the names of its rows
]);
const effects = faultKinds.map((kind) => [`faults.<item>.then.${kind}`, effectWords(kind)]);
const describeScenario = describeFields(scenarioSchema, {
  ...descriptions.scenario,
  ...Object.fromEntries([...effects, ...assumptions]),
});
const bodyDescriptions = new Map(
  Object.entries(descriptions.control).map(([name, fields]) => [
    name,
    describeFields(controlBodies[name as ControlBodyName], fields),
  ]),
);
describeFields(requestQuery, descriptions.queries.requests);

function meaningOf(name: keyof Assumptions): string {
  const { meaning } = words[name] ?? {};
  if (meaning === undefined) throw new Error(`assumptions.json has no words for ${name}`);
  return meaning;
}

export function descriptionOf(shape: Shape): string | undefined {
  return shape.description ?? shared.get(shape);
}

/** The scenario file as JSON Schema 2020-12. A file that extends another one can omit required fields. */
export function scenarioJsonSchema(bundled: readonly string[]): JsonSchema {
  const document = JSON.stringify(jsonSchemaDocument(scenarioSchema, describeScenario), (_, part) => {
    // Larger integers are not exact in JSON.
    if (part?.type === "integer") return { ...part, maximum: part.maximum ?? Number.MAX_SAFE_INTEGER };
    // A place for anchors.
    return part?.additionalProperties === false ? { ...part, patternProperties: { "^x-": {} } } : part;
  });
  const schema: RequiringSchema = JSON.parse(document);
  const { description, ...name } = schema.properties.extends;
  schema.properties.extends = { description, anyOf: [{ type: "string", enum: bundled }, name] };
  const organization = schema.properties.organizations.additionalProperties;
  const key = organization.properties.keys.additionalProperties;
  const [endpoint] = schema.properties.endpoints.additionalProperties.anyOf;
  const { required } = organization;
  const keys = { additionalProperties: { required: key.required } };
  const organizations = { additionalProperties: { required, properties: { keys } } };
  // Only what a scenario extends can be removed.
  const endpoints = { additionalProperties: { type: "object", required: endpoint.required } };
  for (const part of [organization, key, endpoint]) delete part.required;
  return { ...schema, if: { required: ["extends"] }, else: { properties: { organizations, endpoints } } };
}

interface Required {
  required?: readonly string[];
}

interface RequiringSchema {
  properties: {
    extends: Record<string, unknown>;
    endpoints: { additionalProperties: { anyOf: [Required, unknown] } };
    organizations: {
      additionalProperties: Required & { properties: { keys: { additionalProperties: Required } } };
    };
  };
}

export function controlBodySchema(name: ControlBodyName): JsonSchema {
  return jsonSchemaOf(controlBodies[name], bodyDescriptions.get(name) ?? descriptionOf);
}

function describeFields(root: Shape, fields: Readonly<Record<string, string>>): Describe {
  for (const [path, description] of Object.entries(fields)) {
    const shape = shapeAt(root, path === "" ? [] : path.split("."));
    if (shape === undefined) throw new Error(`there is no field ${path} to describe`);
    if (!shared.has(shape)) shared.set(shape, description);
  }
  return (shape, path) => {
    const place = path.join(".").replaceAll(/\.<option>(?=\.)/g, "");
    // A story has the actions of a timeline.
    const atPlace = fields[place] ?? fields[place.replace(/^story\b/, "timeline")];
    return shape.description ?? atPlace ?? shared.get(shape);
  };
}
