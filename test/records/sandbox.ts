import { parse } from "yaml";
import type { Scenario } from "../../src/index.js";
import { serving } from "../support/documents.js";
import { pageOf } from "../support/pages.js";

const key = (environment: "test" | "live" = "test") => ({
  environment,
  limits: { per_minute: 1e6, per_day: 1e6 },
});

/** The organizations of these tests: two banks, one with a live key. */
const organizations: NonNullable<Scenario["organizations"]> = {
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

export const loans: object = parse(pageOf("test/records/loans.yaml"));

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
