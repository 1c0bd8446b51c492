import { type Assumptions, assumptionTable } from "../../rules/assumptions.js";
import assumptionWords from "../../rules/assumptions.json" with { type: "json" };
import { type FaultKind, faultKinds, faultKindTable } from "../../rules/fault-effects.js";
import { type JsonSchema, jsonSchemaDocument, jsonSchemaOf } from "../../schema/json-schema.js";
import { type Shape, shapeAt } from "../../schema/shape.js";
import { isMapping } from "../../schema/type-tag.js";
import descriptions from "./descriptions.json" with { type: "json" };
import { type ControlBodyName, controlBodies, requestQuery } from "./inputs.js";
import { scenarioSchema } from "./schema.js";

// What each field means, for editors and for the documents of the control plane.

/** Describes a kind of fault in a sentence: `Resets the connection.` Default: its cause. */
export function faultKindSentence(kind: FaultKind): string {
  const texts: Readonly<Record<string, string>> = descriptions.scenario;
  const ownText = texts[`faults.<item>.then.${kind}`];
  if (ownText !== undefined) return ownText;
  const { causeClause } = faultKindTable[kind];
  return `${causeClause[0]?.toUpperCase()}${causeClause.slice(1)}.`;
}

/** The texts of `descriptions.json`, and those that the tables of faults and assumptions have, by field path: `organizations.<ref>.type`. */
function scenarioTexts() {
  const texts: Record<string, string> = { ...descriptions.scenario };
  for (const kind of faultKinds) texts[`faults.<item>.then.${kind}`] = faultKindSentence(kind);
  for (const [name, { minimal }] of Object.entries(assumptionTable)) {
    const { meaning } = assumptionWords[name as keyof Assumptions] ?? {}; // the names of its rows
    if (meaning === undefined) throw new Error(`assumptions.json has no words for ${name}`);
    texts[`assumptions.${name}`] = `${meaning} Default: ${JSON.stringify(minimal)}.`;
  }
  return texts;
}

const textsOfScenario = scenarioTexts();
const textsOfBodies: Readonly<Record<string, Readonly<Record<string, string>>>> = descriptions.control;

/** The text of each shape. A shape that several fields have, such as the limits of a key, has the text of the first of them. */
function textsByShape(): ReadonlyMap<Shape, string> {
  const roots: [root: Shape, texts: Readonly<Record<string, string>>][] = [[scenarioSchema, textsOfScenario]];
  for (const [name, texts] of Object.entries(textsOfBodies)) {
    roots.push([controlBodies[name as ControlBodyName], texts]);
  }
  roots.push([requestQuery, descriptions.queries.requests]);

  const byShape = new Map<Shape, string>();
  for (const [root, texts] of roots) {
    for (const [path, text] of Object.entries(texts)) {
      const shape = shapeAt(root, path === "" ? [] : path.split("."));
      if (shape === undefined) throw new Error(`there is no field ${path} to describe`);
      if (!byShape.has(shape)) byShape.set(shape, text);
    }
  }
  return byShape;
}

const shapeTexts = textsByShape();

/** The text of a shape, whichever field has it: the shape's own description, or that of `descriptions.json`. */
export function shapeDescription(shape: Shape): string | undefined {
  return shape.description ?? shapeTexts.get(shape);
}

/** Describes a field by the text of its path. A field without one has the text of its shape, which may be from another field. */
function describeBy(texts: Readonly<Record<string, string>>) {
  return (shape: Shape, path: readonly string[]) => {
    // The path of a text has no options: `faults.<item>.then.latency.min` is that of `…latency.<option>.min`.
    const pathOfText = path.join(".").replaceAll(/\.<option>(?=\.)/g, "");
    return texts[pathOfText] ?? shapeDescription(shape);
  };
}

/** The parts of the schema that change here. */
interface ScenarioSchema {
  properties: {
    extends: Record<string, unknown>;
    organizations: {
      additionalProperties: Requiring & { properties: { keys: { additionalProperties: Requiring } } };
    };
    endpoints: { additionalProperties: { anyOf: [Requiring, unknown] } };
  };
}

interface Requiring {
  required?: readonly string[];
}

/** The scenario file as JSON Schema 2020-12. */
export function scenarioJsonSchema(bundled: readonly string[]): JsonSchema {
  const document = jsonSchemaDocument(scenarioSchema, describeBy(textsOfScenario));
  const schema = withRulesOfCheck(document) as ScenarioSchema & JsonSchema; // it has these parts, as the scenario's shape
  const { properties } = schema;

  // Editors suggest the bundled scenarios, and accept any other name.
  const { description, ...anyName } = properties.extends;
  properties.extends = { description, anyOf: [{ type: "string", enum: bundled }, anyName] };

  // Below `extends`, organizations, keys and endpoints may inherit their required fields. So these fields move from the schema to
  // its `else`: they are required only if there is no `extends`.
  //
  //   before   { properties: { endpoints: { …, required: ["path"] } } }
  //   after    { properties: { endpoints: { … } }, if: { required: ["extends"] }, else: { patternProperties: { "^endpoints$": { required: ["path"] } } } }
  //
  // Editors would offer a name among `properties` a second time.
  const organization = properties.organizations.additionalProperties;
  const requiredOfOrganization = takeRequired(organization);
  const requiredOfKey = takeRequired(organization.properties.keys.additionalProperties);
  const requiredOfEndpoint = takeRequired(properties.endpoints.additionalProperties.anyOf[0]);

  const keys = { additionalProperties: { required: requiredOfKey } };
  const ofOrganization = { required: requiredOfOrganization, patternProperties: { "^keys$": keys } };
  const requiredAlone = {
    "^organizations$": { additionalProperties: ofOrganization },
    // No `null`, which removes an inherited endpoint: without `extends`, there is none.
    "^endpoints$": { additionalProperties: { type: "object", required: requiredOfEndpoint } },
  };
  return { ...schema, if: { required: ["extends"] }, else: { patternProperties: requiredAlone } };
}

/** Removes the required fields from a part of the schema, and returns them. */
function takeRequired(part: Requiring): readonly string[] | undefined {
  const { required } = part;
  delete part.required;
  return required;
}

/** A copy of a part of the schema, and of all parts inside it, with what the check of a scenario allows or rejects beyond its shapes. */
function withRulesOfCheck(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withRulesOfCheck);
  if (!isMapping(part)) return part;

  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(part)) copy[name] = withRulesOfCheck(member);
  // Larger integers are not exact in JSON.
  if (part.type === "integer") copy.maximum ??= Number.MAX_SAFE_INTEGER;
  // A member whose name starts with `x-` exists only for its anchors.
  if (part.additionalProperties === false) copy.patternProperties = { "^x-": {} };
  return copy;
}

/** A body of the control plane as JSON Schema, for its OpenAPI document. */
export function controlBodySchema(name: ControlBodyName): JsonSchema {
  return jsonSchemaOf(controlBodies[name], describeBy(textsOfBodies[name] ?? {}));
}
