import { describeApi } from "../../../api/openapi.js";
import { endpointsOf } from "../../../api/routes.js";
import * as s from "../../../rules/schema/shape.js";
import { isoOf } from "../../../sandbox/clock.js";
import { listRecords, operations, type RecordInput } from "../../../sandbox/operations/operations.js";
import { identityOf, stateText } from "../../../store/state-format.js";
import { pageRoute } from "../page.js";
import { responses } from "../responses.js";
import { controlRoute, pageFields, type Route, textResponse } from "../route.js";
import { dashboardRoutes } from "./dashboard.js";
import { instanceRoutes, requireInstances } from "./instances.js";
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
    grows: true,
    response: responses.Record,
    status: 201,
    run: ({ sandbox, params: { collection = "" }, body }) =>
      operations.record(sandbox, { in: collection, add: body as NonNullable<RecordInput["add"]> }).record,
  }),
  controlRoute("PATCH /records/{collection}/{id}", {
    summary: "Changes members of a record, no matter what its moves allow",
    body: "record_members",
    grows: true,
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
  ...instanceRoutes,
  controlRoute("GET /export", {
    summary: "The sandbox and its instances as a state file, for --import",
    response: document,
    isBare: true,
    kind: "local",
    async run(context, { server: { store, own } }) {
      requireInstances(context);
      const without = store.status()?.broken?.map(({ id }) => id);
      const state = { startedWith: identityOf(own()), without, ...(await store.describe()) };
      return textResponse("application/json", stateText(state));
    },
  }),
  controlRoute("POST /stop", {
    summary: "Stops the server",
    response: responses.Stopping,
    kind: "local",
    run(context, { response, server }) {
      const { sandbox } = context;
      requireInstances(context);
      response.locals.isChange = true;
      // After the response is sent.
      response.once("close", server.stop);
      return { scenario: sandbox.name, seed: sandbox.seed, startedAt: isoOf(server.startedAt) };
    },
  }),
  controlRoute("GET /metrics", {
    summary: "Metrics in the Prometheus text format",
    response: s.text(),
    kind: "local",
    async run(context, { server, response }) {
      requireInstances(context);
      // Loaded when needed: most servers are not monitored.
      const { metricsOf } = await import("../metrics.js");
      const { contentType, text } = await metricsOf(context.sandbox, server);
      response.set("Content-Type", contentType).send(text);
    },
  }),
  controlRoute("GET /openapi.json", {
    summary: "The OpenAPI document of the relying-party API",
    response: document,
    isBare: true,
    run: ({ sandbox }) => describeApi(endpointsOf(sandbox)),
  }),
  pageRoute,
];
