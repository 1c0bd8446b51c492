import { type Outcome, outcomeOf, outcomes } from "../domain/outcomes.js";
import type { Endpoint, JsonSchema } from "./endpoint.js";
import { endpointsOf } from "./routes.js";

/** The version that the specification gives its machine-readable description (section 9). */
const apiVersion = "0.1.0";

const requestIdHeader = {
  description: "Identifies the request; to be quoted when contacting support.",
  required: true,
  schema: { type: "string", minLength: 1 },
};

const previewHeader = {
  description: "Says that the endpoint is a preview: announced, not released, and its shape a guess.",
  required: true,
  schema: { const: "true" },
};

/**
 * The OpenAPI 3.1.0 description of the API, made from the same tables as the answers (R48).
 *
 * With `preview`, also of the announced endpoints, each marked `x-preview`. A new object on every call.
 */
export function openApiDocument({ preview = false }: { preview?: boolean } = {}): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpointsOf(preview)) {
    const { path, method } = endpoint;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(endpoint) };
  }
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
      schemas: { Error: errorSchema },
    },
  };
}

function operation(endpoint: Endpoint): Record<string, unknown> {
  const { operationId, summary, description, input, status = 200, preview } = endpoint;
  const headers = { "X-Request-Id": requestIdHeader };
  const parameters = parametersOf(endpoint);
  const responses: Record<string, Record<string, unknown>> = {
    [String(status)]: {
      description: whenAnswered(200),
      headers,
      content: {
        "application/json": { schema: endpoint.responseSchema, example: endpoint.responseExample },
      },
    },
    ...Object.fromEntries(statusesOf(endpoint).map((one) => [String(one), refusal(one, endpoint)])),
    default: {
      description: "Anything that the specification does not list, such as an unknown method.",
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    },
  };
  return {
    operationId,
    summary,
    description,
    ...(preview === true && { "x-preview": true }),
    ...(parameters.length > 0 && { parameters }),
    ...(input?.body !== undefined && {
      requestBody: { required: true, content: { "application/json": input.body } },
    }),
    responses: preview === true ? inPreview(responses) : responses,
  };
}

function inPreview(responses: Readonly<Record<string, Record<string, unknown>>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const headers = { ...(response.headers as object), "X-Sandbox-Preview": previewHeader };
      return [status, { ...response, headers }];
    }),
  );
}

function parametersOf({ path, input }: Endpoint): Record<string, unknown>[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(input?.query ?? {}).map(([name, declared]) => ({
    name,
    in: "query",
    ...declared,
  }));
  const key = {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Lets the request be sent again without a second record; quoted or bare, 1 to 255 characters.",
    schema: { type: "string" },
  };
  return [...inPath, ...inQuery, ...(input?.idempotencyKey === true ? [key] : [])];
}

const ofAuthorization = [401, 403, 429];

function statusesOf({ refusals = [] }: Endpoint): number[] {
  return [...new Set([...ofAuthorization, ...refusals.map((path) => outcomeOf(path).status)])].sort(
    (one, other) => one - other,
  );
}

function refusal(status: number, { refusals = [] }: Endpoint): Record<string, unknown> {
  const isMeant = ({ path }: Outcome) =>
    ofAuthorization.includes(status) || (refusals as readonly string[]).includes(path);
  return {
    description: whenAnswered(status, isMeant),
    content: {
      "application/json": {
        schema: { allOf: [{ $ref: "#/components/schemas/Error" }, ...codesOf(status, isMeant)] },
      },
    },
  };
}

// The specification does not name the code of a 429, so the description does not either.
function codesOf(status: number, isMeant: (row: Outcome) => boolean): JsonSchema[] {
  if (status === 429) return [];
  const codes = new Set(
    rowsOf(status)
      .filter(isMeant)
      .map((row) => row.code),
  );
  return [{ properties: { error: { properties: { code: { enum: [...codes] } } } } }];
}

// A 401 never says why (R14), but its description may list what leads to it.
function whenAnswered(status: number, isMeant: (row: Outcome) => boolean = () => true): string {
  const rows = rowsOf(status).filter(isMeant);
  return rows.map(({ when, path }) => `${when} (\`${path}\`)`).join("; ");
}

function rowsOf(status: number): readonly Outcome[] {
  return (outcomes as readonly Outcome[]).filter((row) => row.status === status);
}

/** The schema of every error body (section 7 of the specification; R27). */
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
