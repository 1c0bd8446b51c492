import { describeApi } from "../../../api/openapi.js";
import { endpointsOf } from "../../../api/routes.js";
import * as s from "../../../rules/schema/shape.js";
import { isoOf } from "../../../sandbox/clock.js";
import { listRecords, operations, type RecordInput } from "../../../sandbox/operations/operations.js";
import { pageRoute } from "../page.js";
import { controlRoute, jsonResponse, pageFields, type Route } from "../route.js";
import { dashboardRoutes } from "./dashboard.js";
import { sandboxRoutes } from "./sandbox.js";
import { scenarioRoutes } from "./scenario.js";
import { requestChecksRoutes, trafficRoutes } from "./traffic.js";

const usualPage = 100;

const recordRoutes: readonly Route[] = [
  controlRoute("GET /records", {
    summary: "The collections of records, with their operations",
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
    isBare: true,
    run({ sandbox, params: { collection = "" }, query: { offset, limit = usualPage } }) {
      const data = listRecords(sandbox, collection, offset, limit);
      return { data, total: sandbox.records.get(collection)?.records.size ?? 0 };
    },
  }),
  controlRoute("POST /records/{collection}", {
    summary: "Adds a record: its owner and its members",
    body: "record_creation",
    status: 201,
    run: ({ sandbox, params: { collection = "" }, body }) =>
      operations.record(sandbox, { in: collection, add: body as NonNullable<RecordInput["add"]> }).record,
  }),
  controlRoute("PATCH /records/{collection}/{id}", {
    summary: "Changes members of a record, no matter what its moves allow",
    body: "record_members",
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
    changes: false,
    run({ sandbox }, { response, server }) {
      // After the response is sent.
      response.once("close", server.stop);
      return { scenario: sandbox.name, seed: sandbox.seed, startedAt: isoOf(server.startedAt) };
    },
  }),
  controlRoute("GET /openapi.json", {
    summary: "The OpenAPI document of the relying-party API",
    run: ({ sandbox }) => jsonResponse(describeApi(endpointsOf(sandbox))),
  }),
  pageRoute,
];
