import { type JsonSchema, jsonSchemaDocument, jsonSchemaOf } from "../../schema/json-schema.js";
import { isMapping } from "../../schema/type-tag.js";
import { type ControlBodyName, controlBodies } from "./control-bodies.js";
import { describeBodyField, describeScenarioField } from "./field-descriptions.js";
import { scenarioSchema } from "./schema.js";

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
  const document = jsonSchemaDocument(scenarioSchema, describeScenarioField);
  const schema = withRulesOfCheck(document) as ScenarioSchema & JsonSchema; // it has these parts, as the scenario's shape
  const { properties } = schema;

  // Editors suggest the bundled scenarios, and accept any other name.
  const { description, ...anyName } = properties.extends;
  properties.extends = { description, anyOf: [{ type: "string", enum: bundled }, anyName] };

  // Below `extends`, organizations, keys and endpoints may inherit their required fields. So these fields move from the schema to
  // its `else`: they are required only if there is no `extends`.
  //
  //   before   { properties: { endpoints: { …, required: ["path"] } } }
  //   after    { properties: { endpoints: { … } }, if: { required: ["extends"] }, else: { properties: { endpoints: { required: ["path"] } } } }
  const organization = properties.organizations.additionalProperties;
  const requiredOfOrganization = takeRequired(organization);
  const requiredOfKey = takeRequired(organization.properties.keys.additionalProperties);
  const requiredOfEndpoint = takeRequired(properties.endpoints.additionalProperties.anyOf[0]);

  const keys = { additionalProperties: { required: requiredOfKey } };
  const requiredAlone = {
    organizations: { additionalProperties: { required: requiredOfOrganization, properties: { keys } } },
    // No `null`, which removes an inherited endpoint: without `extends`, there is none.
    endpoints: { additionalProperties: { type: "object", required: requiredOfEndpoint } },
  };
  return { ...schema, if: { required: ["extends"] }, else: { properties: requiredAlone } };
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
  return jsonSchemaOf(controlBodies[name], describeBodyField(name));
}
