import { expect, test } from "vitest";
import { createSandbox, type SandboxError } from "../../src/index.js";
import { stateOf } from "../../src/library/create-sandbox.js";
import { readOpenApi } from "../../src/library/entries/openapi.js";
import { startRecords } from "../../src/sandbox/records/start-records.js";
import { listUpcoming } from "../../src/sandbox/upcoming.js";
import { control } from "../support/call-control.js";
import { served } from "../support/servers.js";
import { loanRecords, loans, sandboxOf, scenarioOf } from "./sandbox.js";

const start = [
  { organization: "bank", created_at: "-90m", amount: 5, farmer_id: "{farmer.1}" },
  { organization: "other", created_at: "-3h", amount: 6 },
  { organization: "bank", environment: "live" as const, status: "approved", amount: 7 },
];
const fields = { openapi: loans, records: { loans: { ...loanRecords.loans, start } } } as const;

test("R45 records at the start belong to their owner, follow the rules from their creation, and have farmers", async () => {
  const { sandbox, ask } = sandboxOf(fields);
  const listed = async (key: string) => (await ask("GET /loans", { key })).body.data;
  const farmer_id = sandbox.farmers.at(1).farmer_id;
  expect(await listed("main")).toMatchObject([
    { amount: 5, status: "pending", farmer_id, created_at: "2026-03-02T07:30:00.000Z" },
  ]);
  expect(await listed("others")).toMatchObject([{ amount: 6, status: "expired" }]);
  expect(await listed("live")).toMatchObject([{ amount: 7, status: "approved" }]);
  expect(listUpcoming(stateOf(sandbox)).filter(({ kind }) => kind === "record_changes")).toEqual([
    expect.objectContaining({
      at: "2026-03-02T09:30:00.000Z",
      organization: "bank",
      text: expect.stringContaining("expired"),
    }),
  ]);
  sandbox.clock.advance("30m");
  expect(await listed("main")).toMatchObject([{ status: "expired" }]);
});

test("a snapshot and a reset have the records", async () => {
  const { sandbox, ask } = sandboxOf(fields);
  const { body } = await ask("POST /loans", { body: { amount: 8 }, headers: { "Idempotency-Key": "one" } });
  sandbox.records.set("loans", body.data.id, { status: "approved" });
  await ask("DELETE /loans/loan_0000000000");
  await ask(`GET /loans/${body.data.id}`);
  const again = createSandbox({
    scenario: JSON.parse(JSON.stringify(sandbox.snapshot())),
    openapi: readOpenApi(),
  });
  expect(again.records.list("loans")).toEqual(sandbox.records.list("loans"));
  expect(again.records.add("loans", { amount: 1 }).id).toBe(sandbox.records.add("loans", { amount: 1 }).id);
  sandbox.reset();
  expect(sandbox.records.list("loans").map(({ number }) => number)).toEqual([1, 2, 3]);
});

test("steps of the timeline and the story add, change and remove records by placeholder", async () => {
  const { sandbox, ask } = sandboxOf({
    ...fields,
    timeline: [
      { at: "10m", record: { in: "loans", id: "{loans.1}", set: { status: "approved" } } },
      { at: "20m", record: { in: "loans", add: { organization: "bank", amount: 9 } } },
      { at: "30m", record: { in: "loans", id: "{loans.3}", remove: true } },
    ],
  });
  sandbox.clock.advance("25m");
  expect((await ask("GET /loans")).body.data).toMatchObject([{ status: "approved" }, { amount: 9 }]);
  sandbox.clock.advance("10m");
  expect((await ask("GET /loans", { key: "live" })).body.data).toEqual([]);
});

test("sandbox.records rejects what a response could not show, and unknown collections and records", () => {
  const { sandbox } = sandboxOf(fields);
  const codeOf = (act: () => unknown) => {
    try {
      return act();
    } catch (error) {
      return (error as SandboxError).code;
    }
  };
  const [first] = sandbox.records.list("loans");
  const { id = "", moves } = first ?? {};
  expect(moves).toEqual([{ operation: "approveLoan", set: { status: "approved" } }]);
  const before = sandbox.snapshot();
  expect([
    codeOf(() => sandbox.records.set("loans", id, { status: "open" })),
    codeOf(() => sandbox.records.set("loans", id, { state: "approved" })),
    codeOf(() => sandbox.records.add("loans", { amount: -1 })),
    codeOf(() => sandbox.records.add("loans", { organization: "bonk" })),
    codeOf(() => sandbox.records.remove("loans", "none")),
    codeOf(() => sandbox.records.list("loan")),
  ]).toEqual([...Array(3).fill("validation_failed"), ...Array(3).fill("unknown_ref")]);
  expect(sandbox.snapshot()).toEqual(before);
});

test("the control plane lists collections and records, and adds, changes and removes one", async () => {
  const { controlUrl } = await served({ scenario: scenarioOf(fields) });
  const call = async (name: string, body?: object) => {
    const { status, body: response } = await control(controlUrl, name, body);
    return [status, response?.data ?? response] as const;
  };
  expect(await call("GET /records")).toEqual([
    200,
    [expect.objectContaining({ collection: "loans", records: 3, moves: ["approveLoan"] })],
  ]);
  const [status, added] = await call("POST /records/loans", { organization: "other", amount: 4 });
  expect([status, added]).toMatchObject([
    201,
    { organization: "other", members: { amount: 4, status: "pending" } },
  ]);
  const one = `/records/loans/${added.id}`;
  expect(await call(`PATCH ${one}`, { amount: 3 })).toMatchObject([200, { members: { amount: 3 } }]);
  expect((await call(`PATCH ${one}`, { amount: "x" }))[0]).toBe(422);
  expect((await call(`DELETE ${one}`))[0]).toBe(204);
  expect((await call(`DELETE ${one}`))[0]).toBe(404);
  expect((await control(controlUrl, "GET /records/loans?limit=1&offset=1")).body).toMatchObject({
    data: [{ number: 2 }],
    total: 3,
  });
});

const kept = (count: number) => ({
  ...{ made: count, removed: [], keys: {} },
  records: Array.from({ length: count }, (_, index) => ({
    ...{ number: index + 1, organization: "bank", environment: "test" as const, rules_run: 0 },
    ...{ created_at: "2026-03-02T09:00:00Z", updated_at: "2026-03-02T09:00:00Z" },
    members: {
      ...{ id: `loan_${String(index).padStart(10, "0")}`, status: "approved", amount: 1 },
      created_at: "2026-03-02T09:00:00Z",
    },
  })),
});

test("a collection remembers 10,000 keys of creations, and forgets the oldest first", async () => {
  const keyed = (number: number) => [
    `bank test key-${number}`,
    { sha256: "0".repeat(64), number, at: "2026-03-02T09:00:00Z" },
  ];
  const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, number) => keyed(number + 1)));
  const records = { loans: { ...loanRecords.loans, kept: { ...kept(0), keys } } };
  const { sandbox, ask } = sandboxOf({ openapi: loans, records });
  const headers = { "Idempotency-Key": "new" };
  expect((await ask("POST /loans", { body: { amount: 8 }, headers })).status).toBe(201);
  const remembered = stateOf(sandbox).records.get("loans")?.keys;
  expect(remembered?.size).toBe(10_000);
  expect([..."12"].map((number) => remembered?.has(`bank test key-${number}`))).toEqual([false, true]);
});

test("a page of 100,000 records costs as many reads as one of ten", async () => {
  const { sandbox } = sandboxOf({ openapi: loans, records: { loans: { list: "listLoans" } } });
  const state = stateOf(sandbox);
  const { seed, farmers, endpoints, startedAt } = state;
  const readsOf = async (count: number) => {
    const scenario = { ...state.scenario, records: { loans: { list: "listLoans", kept: kept(count) } } };
    const records = startRecords(scenario, endpoints, { seed, farmers, start: startedAt });
    const { owned } = records.get("loans") as { owned: Map<string, object[]> };
    let reads = 0;
    const get = (all: object[], name: string) => {
      if (/^\d+$/.test(String(name))) reads += 1;
      return Reflect.get(all, name);
    };
    owned.set("bank test", new Proxy(owned.get("bank test") as object[], { get } as ProxyHandler<object[]>));
    Object.assign(state, { records });
    const headers = { "x-api-key": sandbox.secret("main" as never) };
    const response = await sandbox.fetch("http://any.example/loans?limit=5&offset=4", { headers });
    expect((await response.json()).total).toBe(count);
    return reads;
  };
  expect(await readsOf(100_000)).toBe(await readsOf(10));
});
