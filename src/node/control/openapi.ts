import { controlBodySchema, jsonSchemaOf } from "../../scenario/format/json-schema.js";
import { version } from "../package-files.js";
import { controlPath } from "../server/read-request.js";
import { answerSchemas } from "./answer-schemas.js";
import type { Route } from "./route.js";
import { pages, routes } from "./routes.js";

/** The OpenAPI 3.1.0 description of the control plane, made from its table of routes. */
export function controlOpenApiDocument(): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const row of routes) {
    const path = controlPath + row.path;
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(row) };
  }
  for (const { path, summary, type, schema } of pages) {
    const content = { [type]: { schema } };
    paths[controlPath + path] = {
      get: { summary, responses: { "200": { description: summary, content }, default: refusal } },
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "svc-sandbox control plane",
      version,
      description:
        "The administrators' dashboard as an API, and the controls of the sandbox itself. Not part of the relying-party API. An instance has the same routes under /i/{id}, except those on instances.",
    },
    // The server of this document. Not a template: validators require a URI reference.
    servers: [{ url: "/" }],
    security: [{}, { controlToken: [] }],
    paths,
    components: {
      securitySchemes: { controlToken: { type: "http", scheme: "bearer" } },
      schemas: answerSchemas,
    },
  };
}

const refusal = {
  description: "A refusal; nothing has changed.",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

function operation(row: Route): Record<string, unknown> {
  const parameters = parametersOf(row);
  const texts = (row.text?.types ?? []).map((type) => [type, { schema: { type: "string" } }]);
  return {
    summary: row.summary,
    ...(row.preview === true && { "x-preview": true }),
    ...(parameters.length > 0 && { parameters }),
    ...(row.body !== undefined && row.body !== "nothing" && { requestBody: requestBody(row) }),
    responses: {
      [String(row.status)]: {
        description: row.summary,
        ...(row.answer !== undefined && {
          content: { "application/json": { schema: row.answer }, ...Object.fromEntries(texts) },
        }),
      },
      default: refusal,
    },
  };
}

function requestBody({ body, runYaml }: Route): Record<string, unknown> {
  const schema = controlBodySchema(body ?? "nothing");
  const yaml = runYaml !== undefined && { "application/yaml": { schema: { type: "string" } } };
  return {
    // No body counts as an empty object, which is enough where no field is required.
    required: Array.isArray(schema.required) && schema.required.length > 0,
    content: { "application/json": { schema }, ...yaml },
  };
}

function parametersOf({ path, query, method }: Route): Record<string, unknown>[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const { properties = {} } = (query === undefined ? {} : jsonSchemaOf(query)) as {
    properties?: Readonly<Record<string, { readonly description: string }>>;
  };
  const inQuery = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    description,
    schema,
  }));
  return method === "GET" ? [...inPath, ...inQuery] : [...inPath, ...inQuery, actorParameter];
}

const actorParameter = {
  name: "X-Sandbox-Actor",
  in: "header",
  description: "The role of the user; a member is refused every write (R33).",
  schema: { enum: ["administrator", "member"], default: "administrator" },
};
