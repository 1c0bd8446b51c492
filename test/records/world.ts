import type { Scenario } from "../../src/index.js";
import { content, serving } from "../support/documents.js";

const key = (environment: "test" | "live" = "test") => ({
  environment,
  limits: { per_minute: 1e6, per_day: 1e6 },
});

/** The organizations of these tests: two banks, one with a live key. */
export const organizations: NonNullable<Scenario["organizations"]> = {
  bank: { type: "bank", live_access: "approved", keys: { main: key(), second: key(), live: key("live") } },
  other: { type: "bank", keys: { others: key() } },
};

type Fields = Omit<Partial<Scenario>, "openapi"> & { readonly openapi: object };

export const scenarioOf = ({ openapi, ...more }: Fields): Scenario =>
  ({
    version: 1,
    clock: { now: "2026-03-02T09:00:00Z", frozen: true },
    openapi: { text: JSON.stringify(openapi), file: "api.yaml" },
    organizations,
    ...more,
  }) as Scenario;

export const sandboxOf = (fields: Fields) => serving(undefined, scenarioOf(fields));

export const error = { description: "An error." };

/** A document of loans, with each kind of operation. */
export const loans = {
  openapi: "3.1.0",
  info: { title: "Loans", version: "1" },
  paths: {
    "/loans": {
      post: {
        operationId: "createLoan",
        parameters: [{ name: "Idempotency-Key", in: "header", schema: { type: "string" } }],
        requestBody: { required: true, ...content({ $ref: "#/components/schemas/NewLoan" }) },
        responses: {
          201: { description: "", ...content({ $ref: "#/components/schemas/Loan" }) },
          422: error,
        },
      },
      get: {
        operationId: "listLoans",
        parameters: [
          { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 50, default: 20 } },
          { name: "offset", in: "query", schema: { type: "integer", minimum: 0 } },
          { name: "status", in: "query", schema: { type: "string" } },
        ],
        responses: {
          200: {
            description: "",
            ...content({
              type: "object",
              required: ["data", "total"],
              properties: {
                data: { type: "array", items: { $ref: "#/components/schemas/Loan/properties/data" } },
                total: { type: "integer" },
              },
            }),
          },
        },
      },
    },
    "/loans/{loan_id}": {
      parameters: [{ name: "loan_id", in: "path", required: true, schema: { type: "string" } }],
      get: {
        operationId: "readLoan",
        responses: {
          200: { description: "", ...content({ $ref: "#/components/schemas/Loan" }) },
          404: error,
        },
      },
      patch: {
        operationId: "changeLoan",
        requestBody: { ...content({ $ref: "#/components/schemas/NewLoan" }) },
        responses: { 200: { description: "", ...content({ $ref: "#/components/schemas/Loan" }) } },
      },
      delete: { operationId: "removeLoan", responses: { 204: { description: "" } } },
    },
    "/loans/{loan_id}/approve": {
      parameters: [{ name: "loan_id", in: "path", required: true, schema: { type: "string" } }],
      post: {
        operationId: "approveLoan",
        responses: {
          200: { description: "", ...content({ $ref: "#/components/schemas/Loan" }) },
          409: error,
        },
      },
    },
  },
  components: {
    schemas: {
      NewLoan: {
        type: "object",
        properties: {
          amount: { type: "integer", minimum: 1 },
          farmer_id: { type: "string" },
          pin: { type: "string" },
        },
      },
      Loan: {
        type: "object",
        required: ["data"],
        properties: {
          data: {
            type: "object",
            required: ["id", "status", "amount", "created_at"],
            properties: {
              id: { type: "string", pattern: "^loan_[0-9a-z]{10}$" },
              status: { enum: ["pending", "approved", "expired"] },
              amount: { type: "integer", minimum: 1, maximum: 1000000 },
              farmer_id: { type: "string" },
              pin: { type: "string", writeOnly: true },
              created_at: { type: "string", format: "date-time" },
              updated_at: { type: "string", format: "date-time" },
            },
            example: { id: "loan_ab12cd34ef", status: "pending", amount: 5, farmer_id: "farmer_0" },
          },
        },
      },
    },
  },
} as const;

export const loanRecords = {
  loans: {
    create: "createLoan",
    read: "readLoan",
    list: "listLoans",
    update: "changeLoan",
    remove: "removeLoan",
    set: { status: "pending" },
    moves: { approveLoan: { when: { status: ["pending"] }, set: { status: "approved" } } },
    then: [{ after: "2h", when: { status: "pending" }, set: { status: "expired" } }],
  },
} satisfies Scenario["records"];
