// From where it stands, and not from `zod/mini`: a page that checks scenarios then does not load it.
import type { z } from "zod/mini";
import { toJSONSchema } from "zod/v4/core";
import { type ControlBodyName, controlBodies } from "./control-bodies.js";
import { scenarioSchema } from "./schema.js";

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
