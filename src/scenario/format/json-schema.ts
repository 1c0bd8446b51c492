import { type Assumptions, assumptionTable } from "../../rules/assumptions.js";
import words from "../../rules/assumptions.json" with { type: "json" };
import { effectWords, faultKinds } from "../../rules/fault-effects.js";
import { type JsonSchema, jsonSchemaDocument, jsonSchemaOf } from "../../rules/schema/json-schema.js";
import { type Shape, shapeAt } from "../../rules/schema/shape.js";
import descriptions from "./descriptions.json" with { type: "json" };
import { type ControlBodyName, controlBodies, requestQuery } from "./inputs.js";
import { scenarioSchema } from "./schema.js";
import { assumptionsSchema } from "./steps.js";

// Shapes used in several places (faults, actions, limits) are described at the first one.
const assumptions = Object.entries(assumptionTable).map(([name, { minimal }]) => [
  name,
  `${words[name as keyof Assumptions].meaning} Default: ${JSON.stringify(minimal)}.`,
]);
const effects = faultKinds.map((kind) => [`faults.<item>.then.${kind}`, effectWords(kind)]);
const fields = { ...descriptions.scenario, ...Object.fromEntries(effects) };
const described = new Map([
  ...describedFields(scenarioSchema, fields),
  ...Object.entries(descriptions.control).flatMap(([body, fields]) => [
    ...describedFields(controlBodies[body as ControlBodyName], fields),
  ]),
  ...describedFields(requestQuery, descriptions.queries.requests),
  ...describedFields(assumptionsSchema, Object.fromEntries(assumptions)),
]);

export function descriptionOf(shape: Shape): string | undefined {
  return shape.description ?? described.get(shape);
}

/** The scenario file as JSON Schema 2020-12. A file that extends another one can omit required fields. */
export function scenarioJsonSchema(bundled: readonly string[]): JsonSchema {
  const document = JSON.stringify(jsonSchemaDocument(scenarioSchema, descriptionOf), (_, part) => {
    // Larger integers are not exact in JSON.
    if (part?.type === "integer") return { ...part, maximum: part.maximum ?? Number.MAX_SAFE_INTEGER };
    // A place for anchors.
    return part?.additionalProperties === false ? { ...part, patternProperties: { "^x-": {} } } : part;
  });
  const schema: RequiredFields = JSON.parse(document);
  const { description, ...name } = schema.properties.extends;
  schema.properties.extends = { description, anyOf: [{ type: "string", enum: bundled }, name] };
  const organization = schema.properties.organizations.additionalProperties;
  const key = organization.properties.keys.additionalProperties;
  const { required } = organization;
  const keys = { additionalProperties: { required: key.required } };
  const organizations = { additionalProperties: { required, properties: { keys } } };
  delete organization.required;
  delete key.required;
  return { ...schema, if: { required: ["extends"] }, else: { properties: { organizations } } };
}

interface Required {
  required?: readonly string[];
}

interface RequiredFields {
  properties: {
    extends: Record<string, unknown>;
    organizations: {
      additionalProperties: Required & { properties: { keys: { additionalProperties: Required } } };
    };
  };
}

export function controlBodySchema(name: ControlBodyName): JsonSchema {
  return jsonSchemaOf(controlBodies[name], descriptionOf);
}

/** The descriptions of a shape's fields, by path: `<ref>` is any name in a mapping, `<item>` any item of a list. */
function describedFields(root: Shape, fields: Readonly<Record<string, string>>): Map<Shape, string> {
  return new Map(
    Object.entries(fields).map(([path, description]) => {
      const shape = shapeAt(root, path === "" ? [] : path.split("."));
      if (shape === undefined) throw new Error(`there is no field ${path} to describe`);
      return [shape, description];
    }),
  );
}
