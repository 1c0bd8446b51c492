import { operations } from "../../../sandbox/operations/operations.js";
import { listRecords, type RecordInput } from "../../../sandbox/operations/records.js";
import { list, mapping } from "../../../spec/schema/shape.js";
import { responses } from "../responses.js";
import { controlRoute, pageFields, type Route } from "../route.js";

const usualPage = 100;

export const recordRoutes: readonly Route[] = [
  controlRoute("GET /records", {
    summary: "The collections of records, with their operations",
    response: list(responses.Collection),
    run: ({ world }) =>
      [...world.records].map(([collection, { records, moves }]) => {
        const { create, read, list: all, update, remove } = world.scenario.records?.[collection] ?? {};
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
    query: mapping(pageFields(usualPage)),
    response: responses.RecordPage,
    isBare: true,
    run({ world, params: { collection = "" }, query: { offset, limit = usualPage } }) {
      const data = listRecords(world, collection, offset, limit);
      return { data, total: world.records.get(collection)?.records.size ?? 0 };
    },
  }),
  controlRoute("POST /records/{collection}", {
    summary: "Adds a record: its owner and its members",
    body: "record_creation",
    response: responses.Record,
    status: 201,
    run: ({ world, params: { collection = "" }, body }) =>
      operations.record(world, { in: collection, add: body as NonNullable<RecordInput["add"]> }).record,
  }),
  controlRoute("PATCH /records/{collection}/{id}", {
    summary: "Changes members of a record, no matter what its moves allow",
    body: "record_members",
    response: responses.Record,
    run: ({ world, params: { collection = "", id = "" }, body }) =>
      operations.record(world, { in: collection, id, set: body as NonNullable<RecordInput["set"]> }).record,
  }),
  controlRoute("DELETE /records/{collection}/{id}", {
    summary: "Removes a record",
    run({ world, params: { collection = "", id = "" } }) {
      operations.record(world, { in: collection, id, remove: true });
    },
  }),
];
