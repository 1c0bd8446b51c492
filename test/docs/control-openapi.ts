import project from "../../package.json" with { type: "json" };
import { reportShape } from "../../src/report/report-shape.js";
import { explainedRequestShape } from "../../src/report/request-text.js";
import { requestShape } from "../../src/sandbox/journal/exchange.js";
import { controlBodies } from "../../src/scenario/format/inputs.js";
import { controlBodySchema } from "../../src/scenario/format/scenario-json-schema.js";
import { type JsonSchema, jsonSchemaOf } from "../../src/schema/json-schema.js";
import { fieldsOf, type Shape, shapeAt, shapeOfField } from "../../src/schema/shape.js";
import { shapeInJson } from "../../src/schema/spelling.js";
import type { Route } from "../../src/server/control/route.js";
import { routes } from "../../src/server/control/routes/routes.js";
import { fullestBodies, otherBodies, responseOf } from "../control/observed-responses.js";

// The control plane as an OpenAPI document. Bodies and queries have the schemas of their
// shapes. So have the responses that a shape describes; the schemas of others come from responses of a sandbox.

const faultShape = shapeAt(controlBodies.faults_change, ["faults", 0]) as Shape; // it is there

/** The shapes of the items in responses. */
const shapes: Readonly<Record<string, Shape>> = {
  "GET /faults": faultShape,
  "PUT /faults": faultShape,
  "GET /requests": requestShape,
  "GET /requests/{id}": explainedRequestShape,
};

/** The members whose own members are names: of keys, and of headers. */
const recordsByName = /(?:^POST \/reset data\.keys|headers)$/;

interface Seen {
  readonly status: number;
  /** The bodies in JSON; none for a text or an empty response. */
  readonly bodies: readonly object[];
  readonly mediaType: string;
}

const callOf = ({ method, path }: Route) => `${method} ${path}`;

async function seenResponses(): Promise<ReadonlyMap<string, Seen>> {
  const [fullest, others] = [await fullestBodies(), await otherBodies()];
  const seen = new Map<string, Seen>();
  for (const call of routes.map(callOf)) {
    if (call === "GET /docs/{page}" || call === "GET /") continue;
    const { status, body, headers } = await responseOf(call);
    const bodies = [body, fullest[call], ...(others[call] ?? [])].filter((one) => one !== undefined);
    seen.set(call, {
      status,
      bodies,
      mediaType: String(headers["content-type"] ?? "").split(";")[0] as string,
    });
  }
  return seen;
}

let all: ReturnType<typeof seenResponses> | undefined;

/** The responses, which the first test that reads them makes. */
function allSeen(): ReturnType<typeof seenResponses> {
  all ??= seenResponses();
  return all;
}

/** The JSON Schema of values that were seen in one place. */
function schemaOf(values: readonly unknown[], place: string): JsonSchema {
  const some = values.filter((value) => value !== null && value !== undefined);
  const schema = schemaOfSome(some, place);
  if (!values.includes(null)) return schema;
  return { ...schema, type: some.length === 0 ? "null" : [schema.type, "null"].flat() };
}

function schemaOfSome(values: readonly unknown[], place: string): JsonSchema {
  const [first] = values;
  if (first === undefined) return {};
  const types = [...new Set(values.map((value) => (Array.isArray(value) ? "array" : typeof value)))];
  if (types.length > 1) return { type: types, ...(types.includes("array") && { items: {} }) };
  if (Array.isArray(first)) return { type: "array", items: schemaOf(values.flat(), place) };
  if (typeof first !== "object") return { type: typeof first, ...formatOf(values) };
  const names = [...new Set(values.flatMap((value) => Object.keys(value as object)))];
  const valuesOf = (name: string) => values.map((value) => (value as Record<string, unknown>)[name]);
  if (recordsByName.test(place)) {
    return { type: "object", additionalProperties: schemaOf(names.flatMap(valuesOf), place) };
  }
  const properties = names.map((name) => [name, schemaOf(valuesOf(name), `${place}.${name}`)]);
  const required = names.filter((name) => valuesOf(name).every((value) => value !== undefined));
  return { type: "object", properties: Object.fromEntries(properties), required };
}

function formatOf(values: readonly unknown[]): JsonSchema {
  const isTime = values.every(
    (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value),
  );
  return isTime ? { format: "date-time" } : {};
}

/** The schema of a response's body. */
function bodySchema(call: string, { bodies }: Seen): JsonSchema {
  if (call === "GET /report") return reportSchema(bodies);
  const shape = shapes[call];
  if (shape === undefined) return schemaOf(bodies, call);
  const item = jsonSchemaOf(shapeInJson(shape));
  const data = call.endsWith("}") ? item : { type: "array", items: item };
  return { type: "object", properties: { data, total: { type: "number" } }, required: ["data"] };
}

/** The schema of the report, with the members that only the control plane adds. */
function reportSchema(bodies: readonly object[]): JsonSchema {
  const seen = schemaOf(bodies, "GET /report") as { properties: { data: { properties: object } } };
  const report = jsonSchemaOf(shapeInJson(reportShape)) as { properties: Record<string, JsonSchema> };
  const { runs: _, ...properties } = report.properties; // only merged reports have it
  const data = { ...report, properties: { ...seen.properties.data.properties, ...properties } };
  return { type: "object", properties: { data }, required: ["data"] };
}

function operationOf(route: Route, seen: Seen | undefined): JsonSchema {
  const { path, query, body, summary, acceptsYaml } = route;
  const ofPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const ofQuery = Object.entries((query && fieldsOf(query)) ?? {}).map(([name, field]) => ({
    name,
    in: "query",
    schema: jsonSchemaOf(shapeOfField(field)),
  }));
  const content: Record<string, object> = {};
  if (body !== undefined) content["application/json"] = { schema: controlBodySchema(body) };
  if (acceptsYaml) content["application/yaml"] = { schema: { type: "string" } };
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    // The part that names what the response has.
    summary: summary.split(/[;:,] /)[0],
    description: `${summary}.`,
    ...(ofPath.length + ofQuery.length > 0 && { parameters: [...ofPath, ...ofQuery] }),
    ...(Object.keys(content).length > 0 && { requestBody: { content } }),
    responses: { ...responsesOf(callOf(route), seen), "4XX": errorResponse, "5XX": errorResponse },
  };
}

const errorResponse = { $ref: "#/components/responses/Error" };

/** What a route is about: the first word of its path. */
function tagOf({ path }: Route): string {
  return path.split(/[/.]/)[1] || "dashboard";
}

/** The method and the words of the path: `postKeyRotate` for `POST /keys/{ref}/rotate`. One of many has no plural. */
function operationIdOf({ method, path }: Route): string {
  const words = path.replace(/s\/\{\w+\}/g, "").split(/[/.]/);
  const name = words
    .map((word) =>
      word
        .replace(/^./, (letter) => letter.toUpperCase())
        .replace(/-(.)/g, (_, letter) => letter.toUpperCase()),
    )
    .join("");
  return method.toLowerCase() + (name || "Dashboard");
}

function responsesOf(call: string, seen: Seen | undefined): JsonSchema {
  if (seen === undefined) return { 200: { description: "A page", content: { "text/html": {} } } };
  const { status, bodies, mediaType } = seen;
  if (status === 204) return { 204: { description: "Done" } };
  // The documents have their own schemas.
  const isDocument = call === "GET /openapi.json" || call === "GET /scenario.schema.json";
  const schema = isDocument || bodies.length === 0 ? {} : { schema: bodySchema(call, seen) };
  return { [status]: { description: "Done", content: { [mediaType]: schema } } };
}

export async function controlOpenApi(): Promise<string> {
  const seen = await allSeen();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    paths[route.path] = operations;
    operations[route.method.toLowerCase()] = operationOf(route, seen.get(callOf(route)));
  }
  const message = { type: "string" };
  const error = {
    type: "object",
    properties: { code: message, message, details: { type: "object" } },
    required: ["code", "message"],
  };
  const schema = { type: "object", properties: { error }, required: ["error"] };
  const document = {
    openapi: "3.1.0",
    info: {
      title: "The control plane of svc-sandbox",
      description: "Looks into a running sandbox, and changes it.",
      version: project.version,
      license: { name: project.license, identifier: project.license },
      contact: { url: project.homepage },
    },
    servers: [{ url: "http://127.0.0.1:4747/__sandbox" }],
    security: [{}, { token: [] }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name, description: `Calls of /${name}.` })),
    paths,
    components: {
      responses: { Error: { description: "Nothing changed", content: { "application/json": { schema } } } },
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}
