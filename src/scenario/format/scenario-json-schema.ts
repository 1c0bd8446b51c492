import { type Assumptions, assumptionTable } from "../../rules/assumptions.js";
import words from "../../rules/assumptions.json" with { type: "json" };
import { effectWords, faultKinds } from "../../rules/fault-effects.js";
import {
  type Describe,
  type JsonSchema,
  jsonSchemaDocument,
  jsonSchemaOf,
} from "../../rules/schema/json-schema.js";
import { isMapping, type Shape, shapeAt } from "../../rules/schema/shape.js";
import descriptions from "./descriptions.json" with { type: "json" };
import { type ControlBodyName, controlBodies, requestQuery } from "./inputs.js";
import { scenarioSchema } from "./schema.js";

/** What a field means, by its path: `organizations.<ref>.type`. */
type Texts = Readonly<Record<string, string>>;

const textsOfScenario = scenarioTexts();
const textsOfBodies: Readonly<Record<string, Texts>> = descriptions.control;

function scenarioTexts(): Texts {
  const texts: Record<string, string> = { ...descriptions.scenario };
  for (const kind of faultKinds) texts[`faults.<item>.then.${kind}`] = effectWords(kind);
  for (const [name, { minimal }] of Object.entries(assumptionTable)) {
    const meaning = meaningOf(name as keyof Assumptions); // the names of its rows
    texts[`assumptions.${name}`] = `${meaning} Default: ${JSON.stringify(minimal)}.`;
  }
  return texts;
}

function meaningOf(name: keyof Assumptions): string {
  const { meaning } = words[name] ?? {};
  if (meaning === undefined) throw new Error(`assumptions.json has no words for ${name}`);
  return meaning;
}

/** The text of each shape at its first place: faults, actions and limits are in several. */
const textOfShape = new Map<Shape, string>();
keepTexts(scenarioSchema, textsOfScenario);
for (const [name, texts] of Object.entries(textsOfBodies)) {
  keepTexts(controlBodies[name as ControlBodyName], texts);
}
keepTexts(requestQuery, descriptions.queries.requests);

function keepTexts(root: Shape, texts: Texts): void {
  for (const [path, text] of Object.entries(texts)) {
    const shape = shapeAt(root, path === "" ? [] : path.split("."));
    if (shape === undefined) throw new Error(`there is no field ${path} to describe`);
    if (!textOfShape.has(shape)) textOfShape.set(shape, text);
  }
}

export function descriptionOf(shape: Shape): string | undefined {
  return shape.description ?? textOfShape.get(shape);
}

/** A shape has its own description, or the text of its path, or that of its first place. */
function describeBy(texts: Texts): Describe {
  return (shape, path) => {
    if (shape.description !== undefined) return shape.description;
    const field = path.join(".").replaceAll(/\.<option>(?=\.)/g, "");
    // A story has the actions of a timeline.
    const fieldOfTimeline = field.replace(/^story\b/, "timeline");
    return texts[field] ?? texts[fieldOfTimeline] ?? textOfShape.get(shape);
  };
}

/** The scenario file as JSON Schema 2020-12. */
export function scenarioJsonSchema(bundled: readonly string[]): JsonSchema {
  const document = jsonSchemaDocument(scenarioSchema, describeBy(textsOfScenario));
  const schema: ScenarioSchema = JSON.parse(JSON.stringify(document, (_, part) => forEditors(part)));

  // Editors suggest the bundled scenarios, and accept any other name.
  const { description, ...anyName } = schema.properties.extends;
  schema.properties.extends = { description, anyOf: [{ type: "string", enum: bundled }, anyName] };
  return { ...schema, if: { required: ["extends"] }, else: { properties: moveRequired(schema) } };
}

function forEditors(part: unknown): unknown {
  if (!isMapping(part)) return part;
  // Larger integers are not exact in JSON.
  if (part.type === "integer") return { ...part, maximum: part.maximum ?? Number.MAX_SAFE_INTEGER };
  // A place for anchors.
  if (part.additionalProperties === false) return { ...part, patternProperties: { "^x-": {} } };
  return part;
}

/** Takes the required fields out of what a file that extends another one may leave out, and returns them. */
function moveRequired(schema: ScenarioSchema): Record<string, unknown> {
  const { properties } = schema;
  const organization = properties.organizations.additionalProperties;
  const key = organization.properties.keys.additionalProperties;
  const [endpoint] = properties.endpoints.additionalProperties.anyOf;
  const keys = { additionalProperties: { required: key.required } };
  const organizations = {
    additionalProperties: { required: organization.required, properties: { keys } },
  };
  // Only what a scenario extends can be removed.
  const endpoints = { additionalProperties: { type: "object", required: endpoint.required } };
  for (const part of [organization, key, endpoint]) delete part.required;
  return { organizations, endpoints };
}

interface Required {
  required?: readonly string[];
}

/** The parts that are changed. */
interface ScenarioSchema {
  properties: {
    extends: Record<string, unknown>;
    endpoints: { additionalProperties: { anyOf: [Required, unknown] } };
    organizations: {
      additionalProperties: Required & { properties: { keys: { additionalProperties: Required } } };
    };
  };
}

export function controlBodySchema(name: ControlBodyName): JsonSchema {
  return jsonSchemaOf(controlBodies[name], describeBy(textsOfBodies[name] ?? {}));
}
