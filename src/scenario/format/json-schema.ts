// From where it stands, and not from `zod/mini`: a page that checks scenarios then does not load it.
import type { z } from "zod/mini";
import { globalRegistry, toJSONSchema } from "zod/v4/core";
import { type Assumptions, assumptionTable } from "../../domain/assumptions.js";
import words from "../../domain/assumptions.json" with { type: "json" };
import { type ControlBodyName, controlBodies } from "./control-bodies.js";
import descriptions from "./descriptions.json" with { type: "json" };
import { type Schema, schemaAt } from "./inspect.js";
import { assumptionsSchema, scenarioSchema } from "./schema.js";

// Descriptions of the fields by their paths: `<ref>` is any name in a mapping, `<item>` any item of a list. What is
// used in several places (faults, actions, limits) is described in the first of them.
describe(scenarioSchema, descriptions.scenario);
for (const [body, fields] of Object.entries(descriptions.control)) {
  describe(controlBodies[body as ControlBodyName], fields);
}
describe(
  assumptionsSchema,
  Object.fromEntries(
    Object.entries(assumptionTable).map(([name, { minimal }]) => [
      name,
      `${words[name as keyof Assumptions].meaning} Default: ${JSON.stringify(minimal)}.`,
    ]),
  ),
);

function describe(root: Schema, fields: Readonly<Record<string, string>>): void {
  for (const [path, description] of Object.entries(fields)) {
    const steps = path === "" ? [] : path.split(".").map((step) => (step === "<item>" ? 0 : step));
    const schema = schemaAt(root, steps);
    if (schema === undefined) throw new Error(`there is no field ${path} to describe`);
    globalRegistry.add(required(schema), { description });
  }
}

/** A schema without what makes it optional. */
function required(schema: Schema): Schema {
  const { type, innerType } = schema._zod.def as unknown as { type: string; innerType: Schema };
  return type === "optional" ? required(innerType) : schema;
}

/** The description of a field, as the JSON Schema has it. */
export function descriptionOf(schema: Schema): string | undefined {
  return globalRegistry.get(required(schema))?.description;
}

/**
 * The scenario file as JSON Schema 2020-12, for editors and for other languages.
 *
 * A file that extends another may leave to it what would be required otherwise.
 */
export function scenarioJsonSchema(): Record<string, unknown> {
  const schema = toJSONSchema(scenarioSchema, { target: "draft-2020-12" }) as unknown as RequiredFields;
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
    organizations: {
      additionalProperties: {
        required?: readonly string[];
        properties: { keys: { additionalProperties: { required?: readonly string[] } } };
      };
    };
  };
}

/** The JSON Schema 2020-12 of a body. */
export function controlBodySchema(name: ControlBodyName): Record<string, unknown> {
  return jsonSchemaOf(controlBodies[name]);
}

/** The JSON Schema 2020-12 of a body or a query. */
export function jsonSchemaOf(schema: z.ZodMiniType): Record<string, unknown> {
  const { $schema: _, ...described } = toJSONSchema(schema) as Record<string, unknown>;
  return described;
}
