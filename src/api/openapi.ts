import type { PathId } from "../domain/outcomes.js";
import { outcomes } from "../domain/outcomes.js";
import type { Endpoint, JsonSchema } from "./endpoint.js";
import { endpoints } from "./routes.js";

/** The version that the specification gives its machine-readable description (section 9). */
export const apiVersion = "0.1.0";

const requestIdHeader = {
  description: "Identifies the request; to be quoted when contacting support.",
  required: true,
  schema: { type: "string", minLength: 1 },
};

/**
 * The OpenAPI 3.1.0 description of the API, made from the same tables as the answers (R48).
 *
 * A new object on every call.
 */
export function openApiDocument(): Record<string, unknown> {
  return {
    openapi: "3.1.0",
    info: {
      title: "Relying-Party API",
      version: apiVersion,
      description:
        "Relying parties (banks and insurers) confirm an API key and see its context. What the specification leaves open is left open here too.",
    },
    // The service's own host is not announced yet; the specification writes {base_url} for it.
    servers: [{ url: "http://127.0.0.1:4747", description: "The sandbox, at its default address." }],
    security: [{ apiKey: [] }],
    paths: Object.fromEntries(endpoints.map((endpoint) => [endpoint.path, { get: operation(endpoint) }])),
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "The key's prefix decides the environment: SVC_test_ or SVC_live_.",
        },
      },
      schemas: { Error: errorSchema },
    },
  };
}

function operation(endpoint: Endpoint): Record<string, unknown> {
  return {
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    description: endpoint.description,
    responses: {
      "200": {
        description: whenAnswered(200),
        headers: { "X-Request-Id": requestIdHeader },
        content: {
          "application/json": { schema: endpoint.responseSchema, example: endpoint.responseExample },
        },
      },
      ...Object.fromEntries([401, 403, 429].map((status) => [String(status), refusal(status)])),
      default: {
        description: "Anything that the specification does not list, such as an unknown method.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

function refusal(status: number): Record<string, unknown> {
  return {
    description: whenAnswered(status),
    content: {
      "application/json": {
        schema: { allOf: [{ $ref: "#/components/schemas/Error" }, ...codesOf(status)] },
      },
    },
  };
}

// The specification does not name the code of a 429, so the description does not either.
function codesOf(status: number): JsonSchema[] {
  if (status === 429) return [];
  const codes = new Set(outcomes.filter((row) => row.status === status).map((row) => row.code));
  return [{ properties: { error: { properties: { code: { enum: [...codes] } } } } }];
}

// A 401 never says why (R14), but its description may list what leads to it.
function whenAnswered(status: number): string {
  const rows = outcomes.filter((row) => row.status === status);
  return rows.map(({ when, path }) => `${when} (\`${path satisfies PathId}\`)`).join("; ");
}

/** What every error body looks like (section 7 of the specification; R27). */
export const errorSchema: JsonSchema = {
  type: "object",
  required: ["error"],
  additionalProperties: false,
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        details: { type: "object" },
      },
    },
  },
};
