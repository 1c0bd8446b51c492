import * as s from "../../../rules/schema/shape.js";
import { listRecords, operations, type RecordInput } from "../../../sandbox/operations/operations.js";
import { responses } from "../responses.js";
import { controlRoute, pageFields, type Route } from "../route.js";

const usualPage = 100;

export const recordRoutes: readonly Route[] = [
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
