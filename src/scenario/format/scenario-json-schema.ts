import { type Assumptions, assumptionTable } from "../../rules/assumptions.js";
import words from "../../rules/assumptions.json" with { type: "json" };
import { faultKindSentence, faultKinds } from "../../rules/fault-effects.js";
import {
  type Describe,
  type JsonSchema,
  jsonSchemaDocument,
  jsonSchemaOf,
} from "../../schema/json-schema.js";
import type { Shape } from "../../schema/shape.js";
import { shapeAt } from "../../schema/shape-fields.js";
import { isMapping } from "../../schema/type-tag.js";
import { type ControlBodyName, controlBodies } from "./control-bodies.js";
import descriptions from "./descriptions.json" with { type: "json" };
import { requestQuery } from "./inputs.js";
import { scenarioSchema } from "./schema.js";

/** What each field means, by its path: `organizations.<ref>.type`. */
type Texts = Readonly<Record<string, string>>;

const textsOfScenario = scenarioTexts();
const textsOfBodies: Readonly<Record<string, Texts>> = descriptions.control;
/** The text of each shape. Faults, actions and limits are one shape in several fields: the first field that has a text counts. */
const textOfShape = textsByShape();

/** The texts of `descriptions.json`, and those that the tables of faults and assumptions have. */
function scenarioTexts(): Texts {
  const texts: Record<string, string> = { ...descriptions.scenario };
  for (const kind of faultKinds) texts[`faults.<item>.then.${kind}`] = faultKindSentence(kind);
  for (const [name, { minimal }] of Object.entries(assumptionTable)) {
    const { meaning } = words[name as keyof Assumptions] ?? {}; // the names of its rows
    if (meaning === undefined) throw new Error(`assumptions.json has no words for ${name}`);
    texts[`assumptions.${name}`] = `${meaning} Default: ${JSON.stringify(minimal)}.`;
  }
  return texts;
}

function textsByShape(): ReadonlyMap<Shape, string> {
  const textByShape = new Map<Shape, string>();
  const add = (root: Shape, texts: Texts) => {
    for (const [path, text] of Object.entries(texts)) {
      const shape = shapeAt(root, path === "" ? [] : path.split("."));
      if (shape === undefined) throw new Error(`there is no field ${path} to describe`);
      if (!textByShape.has(shape)) textByShape.set(shape, text);
    }
  };

  add(scenarioSchema, textsOfScenario);
  for (const [name, texts] of Object.entries(textsOfBodies)) {
    add(controlBodies[name as ControlBodyName], texts);
  }
  add(requestQuery, descriptions.queries.requests);
  return textByShape;
}

export function shapeDescription(shape: Shape): string | undefined {
  return shape.description ?? textOfShape.get(shape);
}

/** Describes a shape: by its own description, else by the text of its path, else by its text at another place. */
function describeBy(texts: Texts): Describe {
  return (shape, path) => {
    if (shape.description !== undefined) return shape.description;
    // `faults.<item>.then.latency.<option>.min` is described without the option.
    const field = path.join(".").replaceAll(/\.<option>(?=\.)/g, "");
    // A step of a story has the actions of a timeline, which are described there.
    const fieldOfTimeline = field.replace(/^story\b/, "timeline");
    return texts[field] ?? texts[fieldOfTimeline] ?? textOfShape.get(shape);
  };
}

/** The scenario file as JSON Schema 2020-12. */
export function scenarioJsonSchema(bundled: readonly string[]): JsonSchema {
  const document = jsonSchemaDocument(scenarioSchema, describeBy(textsOfScenario));
  const schema: ScenarioSchema = JSON.parse(JSON.stringify(document, (_, part) => forEditors(part)));
  const { properties } = schema;

  // Editors suggest the bundled scenarios, and accept any other name.
  const { description, ...anyName } = properties.extends;
  properties.extends = { description, anyOf: [{ type: "string", enum: bundled }, anyName] };

  // The fields of organizations, keys and endpoints are required only without `extends`: below it, the extended scenario may
  // have them.
  const organization = properties.organizations.additionalProperties;
  const key = organization.properties.keys.additionalProperties;
  const [endpoint] = properties.endpoints.additionalProperties.anyOf;
  const requiredAlone = {
    organizations: {
      additionalProperties: {
        required: takeRequired(organization),
        properties: { keys: { additionalProperties: { required: takeRequired(key) } } },
      },
    },
    // No `null`, which removes an inherited endpoint: without `extends`, there is none.
    endpoints: { additionalProperties: { type: "object", required: takeRequired(endpoint) } },
  };
  return { ...schema, if: { required: ["extends"] }, else: { properties: requiredAlone } };
}

interface Requiring {
  required?: readonly string[];
}

/** Removes the required fields from a part of the schema, and returns them. */
function takeRequired(part: Requiring): readonly string[] | undefined {
  const { required } = part;
  delete part.required;
  return required;
}

/** The parts of the schema that differ from the shape. */
interface ScenarioSchema {
  properties: {
    extends: Record<string, unknown>;
    organizations: {
      additionalProperties: Requiring & { properties: { keys: { additionalProperties: Requiring } } };
    };
    endpoints: { additionalProperties: { anyOf: [Requiring, unknown] } };
  };
}

/** A part of the schema with what the check of a scenario allows or rejects beyond its shapes. */
function forEditors(part: unknown): unknown {
  if (!isMapping(part)) return part;
  // Larger integers are not exact in JSON.
  if (part.type === "integer") return { ...part, maximum: part.maximum ?? Number.MAX_SAFE_INTEGER };
  // A member whose name starts with `x-` exists only for its anchors.
  if (part.additionalProperties === false) return { ...part, patternProperties: { "^x-": {} } };
  return part;
}

/** A body of the control plane as JSON Schema, for its OpenAPI document. */
export function controlBodySchema(name: ControlBodyName): JsonSchema {
  return jsonSchemaOf(controlBodies[name], describeBy(textsOfBodies[name] ?? {}));
}
