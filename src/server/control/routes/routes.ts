import { describeApi, license, openApiParameters } from "../../../api/openapi.js";
import { endpointsOf } from "../../../api/routes.js";
import { controlPath } from "../../../node/addresses.js";
import { version } from "../../../node/package-files.js";
import { inJson } from "../../../rules/schema/json.js";
import { type JsonSchema, jsonSchemaOf, referenceOr } from "../../../rules/schema/json-schema.js";
import type { Shape } from "../../../rules/schema/shape.js";
import * as s from "../../../rules/schema/shape.js";
import { isoOf } from "../../../sandbox/clock.js";
import { listRecords, operations, type RecordInput } from "../../../sandbox/operations/operations.js";
import { controlBodySchema, descriptionOf } from "../../../scenario/format/json-schema.js";
import { pageRoute } from "../page.js";
import { responses } from "../responses.js";
import { controlRoute, pageFields, type Route } from "../route.js";
import { dashboardRoutes } from "./dashboard.js";
import { sandboxRoutes } from "./sandbox.js";
import { scenarioRoutes } from "./scenario.js";
import { requestChecksRoutes, trafficRoutes } from "./traffic.js";

const document = s.record(s.anything());

const usualPage = 100;

const recordRoutes: readonly Route[] = [
  controlRoute("GET /records", {
    summary: "The collections of records, with their operations",
    response: s.list(responses.Collection),
    run: ({ sandbox }) =>
      [...sandbox.records].map(([collection, { records, moves }]) => {
        const { create, read, list: all, update, remove } = sandbox.scenario.records?.[collection] ?? {};
        return {
          collection,
          records: records.size,
          moves: Object.keys(moves),
          operations: JSON.parse(JSON.stringify({ create, read, list: all, update, remove })),
        };
      }),
  }),
  controlRoute("GET /records/{collection}", {
    summary: "The records of a collection, in the order of creation",
    query: s.mapping(pageFields(usualPage)),
    response: responses.RecordPage,
    isBare: true,
    run({ sandbox, params: { collection = "" }, query: { offset, limit = usualPage } }) {
      const data = listRecords(sandbox, collection, offset, limit);
      return { data, total: sandbox.records.get(collection)?.records.size ?? 0 };
    },
  }),
  controlRoute("POST /records/{collection}", {
    summary: "Adds a record: its owner and its members",
    body: "record_creation",
    response: responses.Record,
    status: 201,
    run: ({ sandbox, params: { collection = "" }, body }) =>
      operations.record(sandbox, { in: collection, add: body as NonNullable<RecordInput["add"]> }).record,
  }),
  controlRoute("PATCH /records/{collection}/{id}", {
    summary: "Changes members of a record, no matter what its moves allow",
    body: "record_members",
    response: responses.Record,
    run: ({ sandbox, params: { collection = "", id = "" }, body }) =>
      operations.record(sandbox, { in: collection, id, set: body as NonNullable<RecordInput["set"]> }).record,
  }),
  controlRoute("DELETE /records/{collection}/{id}", {
    summary: "Removes a record",
    run({ sandbox, params: { collection = "", id = "" } }) {
      operations.record(sandbox, { in: collection, id, remove: true });
    },
  }),
];

export const routes: readonly Route[] = [
  ...sandboxRoutes,
  ...scenarioRoutes,
  ...dashboardRoutes,
  ...recordRoutes,
  ...requestChecksRoutes,
  ...trafficRoutes,
  controlRoute("POST /stop", {
    summary: "Stops the server",
    response: responses.Stopping,
    changes: false,
    run({ sandbox }, { response, server }) {
      // After the response is sent.
      response.once("close", server.stop);
      return { scenario: sandbox.name, seed: sandbox.seed, startedAt: isoOf(server.startedAt) };
    },
  }),
  controlRoute("GET /openapi.json", {
    summary: "The OpenAPI document of the relying-party API",
    response: document,
    isBare: true,
    run: ({ sandbox }) => describeApi(endpointsOf(sandbox)),
  }),
  controlRoute("GET /control.openapi.json", {
    summary: "The OpenAPI document of the control plane",
    response: document,
    isBare: true,
    run: () => controlOpenApiDocument(routes),
  }),
  pageRoute,
];

export function controlOpenApiDocument(routes: readonly Route[]): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const row of routes) {
    const path = controlPath + row.path;
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(row) };
  }
  const document = {
    openapi: "3.1.0",
    info: {
      title: "svc-sandbox control plane",
      version,
      license,
      description:
        "The administrators' dashboard as an API, and the controls of the sandbox itself. Not part of the relying-party API.",
    },
    // The server of this document. Not a template: validators require a URI reference.
    servers: [{ url: "/" }],
    security: [{}, { controlToken: [] }],
    paths,
    components: {
      securitySchemes: { controlToken: { type: "http", scheme: "bearer" } },
      schemas: Object.fromEntries(
        Object.entries(responses).map(([part, shape]) => [part, jsonSchemaOf(inJson(shape), descriptionOf)]),
      ),
    },
  };
  return withoutHints(document);
}

// Linters of OpenAPI reject this keyword, which is for editors.
function withoutHints<Schema extends object>(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema, (name, value) => (name === "doNotSuggest" ? undefined : value)));
}

const rejection = {
  description: "Rejected; nothing has changed.",
  content: { "application/json": { schema: { $ref: "#/components/schemas/ControlError" } } },
};

const json = "application/json";

function operation(row: Route): Record<string, unknown> {
  const { summary, status, types = [json] } = row;
  const parameters = parametersOf(row);
  const contents = (response: Shape) => {
    const whole = referenceOr(inJson(row.isBare ? response : s.mapping({ data: response })));
    return types.map((type) => [type, { schema: type === json ? whole : { type: "string" } }]);
  };
  const name = row.path.replace(/[\W_]+([a-z]|$)/g, (_, first: string) => first.toUpperCase());
  return {
    operationId: row.method.toLowerCase() + (name || "Page"),
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(row),
    responses: {
      [String(status)]: {
        description: summary,
        ...(row.response && { content: Object.fromEntries(contents(row.response)) }),
      },
      "4XX": rejection,
      default: rejection,
    },
  };
}

function requestBodyOf({ body = "nothing", runYaml }: Route): { readonly requestBody?: unknown } {
  if (body === "nothing") return {};
  const schema = controlBodySchema(body);
  const yaml = runYaml !== undefined && { "application/yaml": { schema: { type: "string" } } };
  // A missing body counts as an empty object, which is enough if no field is required.
  const required = Array.isArray(schema.required) && schema.required.length > 0;
  return { requestBody: { required, content: { [json]: { schema }, ...yaml } } };
}

function parametersOf({ path, query, method }: Route): object[] {
  const { properties = {} } = query === undefined ? {} : jsonSchemaOf(query, descriptionOf);
  const parameters = openApiParameters(path, properties as Readonly<Record<string, JsonSchema>>);
  return method === "GET" ? parameters : [...parameters, actorParameter];
}

const actorParameter = {
  name: "X-Sandbox-Actor",
  in: "header",
  description: "The role of the user; a member's writes are rejected (R33).",
  schema: { type: "string", enum: ["administrator", "member"], default: "administrator" },
};
