import { controlBodySchema } from "../../scenario/format/control-bodies.js";
import { version } from "../package-files.js";
import { controlPath } from "../server/lazy-control.js";
import { answerSchemas } from "./answer-schemas.js";
import type { ControlCall } from "./call.js";
import { controlCalls } from "./calls.js";
import { pages } from "./pages.js";

/** The OpenAPI 3.1.0 description of the control plane, made from its table of calls. */
export function controlOpenApiDocument(): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const call of controlCalls) {
    const path = controlPath + call.path;
    paths[path] = { ...paths[path], [call.method.toLowerCase()]: operation(call) };
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
        "The administrators' dashboard as an API, and what a sandbox needs on top. Not part of the relying-party API. An instance has the same calls under /i/{id}, those on instances aside.",
    },
    // The server that this was got from. Not a template: validators ask for a URI reference.
    servers: [{ url: "/" }],
    security: [{}, { controlToken: [] }],
    paths,
    components: {
      securitySchemes: { controlToken: { type: "http", scheme: "bearer" } },
      schemas: answerSchemas,
    },
  };
}

function operation(call: ControlCall): Record<string, unknown> {
  const parameters = [...pathParameters(call), ...queryParameters(call), ...actorParameter(call)];
  return {
    summary: call.summary,
    ...(call.preview === true && { "x-preview": true }),
    ...(parameters.length > 0 && { parameters }),
    ...(call.body !== undefined && call.body !== "nothing" && { requestBody: requestBody(call) }),
    responses: {
      [String(call.status)]: {
        description: call.summary,
        ...(call.answer !== undefined && {
          content: { "application/json": { schema: call.answer }, ...writtenContent(call) },
        }),
      },
      default: refusal,
    },
  };
}

function writtenContent({ written }: ControlCall): Record<string, unknown> {
  return Object.fromEntries(
    (written?.types ?? []).map((type) => [type, { schema: { type: "string" } }] as const),
  );
}

const refusal = {
  description: "A refusal; nothing has changed.",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

function requestBody({ body, runYaml }: ControlCall): Record<string, unknown> {
  const schema = controlBodySchema(body ?? "nothing");
  const yaml = runYaml !== undefined && { "application/yaml": { schema: { type: "string" } } };
  return {
    // Nothing at all is an empty object, which is enough where no field is required.
    required: Array.isArray(schema.required) && schema.required.length > 0,
    content: { "application/json": { schema }, ...yaml },
  };
}

function pathParameters({ path }: ControlCall): Record<string, unknown>[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters({ query = {} }: ControlCall): Record<string, unknown>[] {
  return Object.entries(query).map(([name, description]) => ({
    name,
    in: "query",
    description,
    schema: { type: "string" },
  }));
}

function actorParameter({ method }: ControlCall): Record<string, unknown>[] {
  if (method === "GET") return [];
  const description = "Who acts; a member is refused every write (R33).";
  return [
    {
      name: "X-Sandbox-Actor",
      in: "header",
      description,
      schema: { enum: ["administrator", "member"], default: "administrator" },
    },
  ];
}
