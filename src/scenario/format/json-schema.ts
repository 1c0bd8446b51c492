import { type Assumptions, assumptionTable } from "../../domain/assumptions.js";
import words from "../../domain/assumptions.json" with { type: "json" };
import { assumptionsSchema } from "./assumptions.js";
import { type ControlBodyName, controlBodies } from "./control-bodies.js";
import descriptions from "./descriptions.json" with { type: "json" };
import { scenarioSchema } from "./schema.js";
import { type Shape, shapeAt, shapeOf } from "./shape.js";

// Descriptions of the fields by their paths: `<ref>` is any name in a mapping, `<item>` any item of a list. What is
// used in several places (faults, actions, limits) is described in the first of them.
const described = new Map<Shape, string>();
describe(scenarioSchema, descriptions.scenario);
for (const [body, fields] of Object.entries(descriptions.control)) {
  describe(controlBodies[body as ControlBodyName], fields);
}
const assumptions = Object.entries(assumptionTable).map(([name, { minimal }]) => [
  name,
  `${words[name as keyof Assumptions].meaning} Default: ${JSON.stringify(minimal)}.`,
]);
describe(assumptionsSchema, Object.fromEntries(assumptions));

function describe(root: Shape, fields: Readonly<Record<string, string>>): void {
  for (const [path, description] of Object.entries(fields)) {
    const shape = shapeAt(root, path === "" ? [] : path.split("."));
    if (shape === undefined) throw new Error(`there is no field ${path} to describe`);
    described.set(shape, description);
  }
}

/** The description of a shape, as the JSON Schema has it. */
export function descriptionOf(shape: Shape): string | undefined {
  return shape.description ?? described.get(shape);
}

/**
 * The scenario file as JSON Schema 2020-12, for editors and for other languages; `bundled` are the names that an editor
 * offers for `extends`.
 *
 * A file that extends another may leave to it what would be required otherwise.
 */
export function scenarioJsonSchema(bundled: readonly string[]): Record<string, unknown> {
  const schema = jsonSchemaDocument(scenarioSchema) as unknown as RequiredFields;
  const { description, ...name } = schema.properties.extends;
  schema.properties.extends = { description, anyOf: [{ type: "string", enum: bundled }, name] };
  const organization = schema.properties.organizations.additionalProperties;
  const key = organization.properties.keys.additionalProperties;
  const requiredOnItsOwn = {
    properties: {
      organizations: {
        additionalProperties: {
          required: organization.required,
          properties: { keys: { additionalProperties: { required: key.required } } },
        },
      },
    },
  };
  delete organization.required;
  delete key.required;
  return { ...schema, if: { required: ["extends"] }, else: requiredOnItsOwn };
}

interface RequiredFields {
  properties: {
    extends: Record<string, unknown>;
    organizations: {
      additionalProperties: {
        required?: readonly string[];
        properties: { keys: { additionalProperties: { required?: readonly string[] } } };
      };
    };
  };
}

/** A shape as a file of JSON Schema 2020-12. */
export function jsonSchemaDocument(shape: Shape): Record<string, unknown> {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...jsonSchemaOf(shape) };
}

/** The JSON Schema 2020-12 of a body. */
export function controlBodySchema(name: ControlBodyName): Record<string, unknown> {
  return jsonSchemaOf(controlBodies[name]);
}

/** The JSON Schema 2020-12 of a shape. */
export function jsonSchemaOf(shape: Shape): Record<string, unknown> {
  const description = descriptionOf(shape);
  return {
    ...(description !== undefined && { description }),
    ...keywordsOf(shape),
    // A keyword of editors; validators pass over it.
    ...(shape.isOfSnapshots && { doNotSuggest: true }),
  };
}

function keywordsOf(shape: Shape): Record<string, unknown> {
  switch (shape.kind) {
    case "anything":
      return {};
    case "either":
      return { anyOf: shape.options.map(jsonSchemaOf) };
    case "choice":
      return { type: typeof shape.choices[0], enum: shape.choices };
    case "list":
      return { type: "array", items: jsonSchemaOf(shape.item), ...limited("Items", shape) };
    case "text": {
      const { pattern } = shape;
      return { type: "string", ...limited("Length", shape), ...(pattern && { pattern: pattern.source }) };
    }
    case "number":
      return { type: shape.isWhole ? "integer" : "number", ...limited("imum", shape) };
    case "record": {
      const names = { propertyNames: jsonSchemaOf(shape.name) };
      return { type: "object", ...names, additionalProperties: jsonSchemaOf(shape.member) };
    }
    case "mapping": {
      const fields = Object.entries(shape.fields);
      const properties = Object.fromEntries(
        fields.map(([name, field]) => [name, jsonSchemaOf(shapeOf(field))]),
      );
      const required = fields.filter(([, field]) => !("optional" in field)).map(([name]) => name);
      const some = required.length > 0 && { required };
      return { type: "object", properties, ...some, additionalProperties: false };
    }
    default:
      return { type: shape.kind };
  }
}

function limited(what: string, { least, most }: { readonly least?: number; readonly most?: number }) {
  return {
    ...(least !== undefined && { [`min${what}`]: least }),
    ...(most !== undefined && { [`max${what}`]: most }),
  };
}
