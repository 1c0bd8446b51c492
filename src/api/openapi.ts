import { type Outcome, outcomeRow, outcomes } from "../rules/outcomes.js";
import { type ReleasedEndpoint, successOutcomesOf } from "../sandbox/call.js";
import { type JsonSchema, jsonSchemaOf } from "../schema/json-schema.js";
import * as s from "../schema/shape.js";
import { shapeInJson } from "../schema/spelling.js";
import { builtIn } from "./endpoints.js";

/** The version of the specification's machine-readable description (section 9). */
export const apiVersion = "0.1.0";

const requestIdHeader = {
  description: "Identifies the request. Quote it when you contact support.",
  required: true,
  schema: { type: "string", minLength: 1 },
};

const license = { name: "MIT", identifier: "MIT" };

export const errorShape = s.mapping({
  error: s.openMapping({ code: s.text(), message: s.text(), details: s.optional(s.record(s.anything())) }),
});

/** The body of every error of the API. A service may add members. */
export interface ApiErrorBody extends s.ValueOf<typeof errorShape> {}

const errorSchema = /* @__PURE__ */ schemaNamed("ApiError");

/** The OpenAPI 3.1.0 description of the API, made from the same tables as the responses (R48); a new object on every call. */
export function openApiDocument(): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, JsonSchema> = {};
  for (const endpoint of builtIn) {
    const { path, method, responseName, responseShape, operationId, summary, description } = endpoint;
    const operation = { operationId, summary, description, responses: responsesOf(endpoint) };
    schemas[responseName] = jsonSchemaOf(shapeInJson(responseShape));
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  // Calls share parts such as the license: a copy may be changed.
  return structuredClone({
    openapi: "3.1.0",
    info: {
      title: "Relying-Party API",
      version: apiVersion,
      license,
      description:
        "Relying parties (banks and insurers) confirm an API key and see its context. This description leaves open everything that the specification leaves open.",
    },
    // The service's own host is not announced yet; the specification writes {base_url} for it.
    servers: [{ url: "http://127.0.0.1:4747", description: "The sandbox, at its default address." }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "The key's prefix decides the environment: SVC_test_ or SVC_live_.",
        },
      },
      // Not "Error", which would shadow JavaScript's Error in generated code.
      schemas: { ...schemas, ApiError: jsonSchemaOf(errorShape) },
    },
  });
}

function schemaNamed(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function responsesOf(endpoint: ReleasedEndpoint): Record<string, object> {
  const responses: Record<string, object> = {
    default: {
      description: "Errors that the specification does not list, such as an unknown method.",
      content: {
        "application/json": { schema: errorSchema, examples: examplesOf([outcomeRow("405.method")]) },
      },
    },
  };

  const schema = schemaNamed(endpoint.responseName);
  responses[endpoint.status] = {
    description: descriptionOf(successOutcomesOf(endpoint).map(outcomeRow)),
    headers: { "X-Request-Id": requestIdHeader },
    content: { "application/json": { schema, example: endpoint.responseExample } },
  };

  for (const status of [401, 403, 429]) {
    const rows = (outcomes as readonly Outcome[]).filter((row) => row.status === status);
    responses[status] = {
      description: descriptionOf(rows),
      content: { "application/json": { schema: errorWith(rows), examples: examplesOf(rows) } },
    };
  }
  return responses;
}

// A 401 never shows its cause (R14), but its description may list the causes.
function descriptionOf(rows: readonly Outcome[]): string {
  return rows.map(({ when, id }) => `${when} (\`${id}\`)`).join("; ");
}

// The specification does not name the code of a 429, so its schema allows any code. Its example has the code of the profile `minimal`.
function errorWith(rows: readonly Outcome[]): JsonSchema {
  const codes = new Set(rows.filter(({ status }) => status !== 429).map(({ code }) => code));
  if (codes.size === 0) return errorSchema;
  // Open, or linters would report the error's other members.
  const error = { properties: { code: { enum: [...codes] } }, additionalProperties: true };
  return { allOf: [errorSchema, { properties: { error } }] };
}

/** A body for each code. All outcomes of a code have the same. */
function examplesOf(rows: readonly Outcome[]): object {
  return Object.fromEntries(rows.map(({ code, message }) => [code, { value: { error: { code, message } } }]));
}
