import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { readOpenApi } from "../../src/library/entries/openapi.js";
import { documentReader } from "../../src/openapi/read-api.js";
import { content, documentOf, serving, success } from "../support/documents.js";
import { loanRecords, loans, sandboxOf, scenarioOf } from "./sandbox.js";

const state = () => sandboxOf({ openapi: loans, records: loanRecords });

test("R44 R45 a record is created, read, listed, changed and removed by its organization and environment alone", async () => {
  const { sandbox, ask } = state();
  const created = await ask("POST /loans", { body: { amount: 7, pin: "1234" } });
  expect(created.body.data).not.toHaveProperty("pin");
  const { id } = created.body.data;
  const at = "2026-03-02T09:00:00.000Z";
  expect([created.status, created.body.data]).toEqual([
    201,
    expect.objectContaining({ amount: 7, status: "pending", created_at: at, updated_at: at }),
  ]);
  expect(await ask(`GET /loans/${id}`, { key: "second" })).toEqual({ status: 200, body: created.body });
  for (const key of ["others", "live"]) {
    for (const call of [`GET /loans/${id}`, `PATCH /loans/${id}`, `DELETE /loans/${id}`]) {
      const body = call.startsWith("PATCH") ? { amount: 1 } : undefined;
      const rejected = await ask(call, { key, body });
      expect(rejected).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
      expect(rejected).toEqual(await ask(call.replace(id, "loan_0000000000"), { key, body }));
    }
    expect((await ask("GET /loans", { key })).body).toEqual({ data: [], total: 0 });
  }
  const changed = { ...created.body.data, amount: 9 };
  expect((await ask(`PATCH /loans/${id}`, { body: { amount: 9 } })).body.data).toEqual(changed);
  expect((await ask("GET /loans")).body).toEqual({ data: [changed], total: 1 });
  expect((await ask(`DELETE /loans/${id}`)).status).toBe(204);
  expect((await ask(`GET /loans/${id}`)).status).toBe(404);
  const notes = sandbox.requests.list().flatMap(({ note }) => note ?? []);
  const why = [/another organization, bank/, /never created/, /environment test/, /removed at 2026-03-02T09/];
  for (const one of why) expect(notes).toContainEqual(expect.stringMatching(one));
});

test("a move needs its state, or the documented 409; a rule changes a record at its time", async () => {
  const { sandbox, ask } = state();
  const [one, two] = [await ask("POST /loans", { body: {} }), await ask("POST /loans", { body: {} })];
  const approve = () => ask(`POST /loans/${one.body.data.id}/approve`);
  expect((await approve()).body.data.status).toBe("approved");
  expect(await approve()).toMatchObject({ status: 409, body: { error: { code: "conflict" } } });
  sandbox.clock.advance("119m");
  await ask(`PATCH /loans/${two.body.data.id}`, { body: { amount: 3 } });
  sandbox.clock.advance("2m");
  const [first, second] = (await ask("GET /loans")).body.data;
  expect([first.status, second]).toEqual([
    "approved",
    expect.objectContaining({ status: "expired", amount: 3, updated_at: "2026-03-02T11:00:00.000Z" }),
  ]);
});

test("a list has the records in the order of creation, in pages, and filtered by a member", async () => {
  const { ask } = state();
  for (let amount = 1; amount <= 25; amount++) await ask("POST /loans", { body: { amount } });
  const listed = async (query: string) => (await ask(`GET /loans${query}`)).body;
  const amounts = ({ data }: { data: { amount: number }[] }) => data.map(({ amount }) => amount);
  expect(amounts(await listed(""))).toHaveLength(20);
  expect(amounts(await listed("?limit=2&offset=3"))).toEqual([4, 5]);
  expect(amounts(await listed("?offset=24"))).toEqual([25]);
  expect(await listed("?status=approved")).toEqual({ data: [], total: 0 });
  expect((await listed("?status=pending&limit=1")).total).toBe(25);
});

test("an Idempotency-Key gets the same response again, and another body the documented rejection", async () => {
  const { sandbox, ask } = state();
  const once = (amount: number, key = "main") =>
    ask("POST /loans", { key, body: { amount }, headers: { "Idempotency-Key": "one" } });
  const keysOf = () => sandbox.snapshot().records?.loans?.kept?.keys ?? {};
  const { id } = (await ask("POST /loans", { body: { amount: 5 } })).body.data;
  expect(keysOf()).toEqual({});
  await ask(`DELETE /loans/${id}`);
  const first = await once(5);
  expect(Object.keys(keysOf())).toEqual(["bank test one"]);
  await ask(`PATCH /loans/${first.body.data.id}`, { body: { amount: 6 } });
  sandbox.clock.advance("1h");
  expect(await once(5)).toEqual(first);
  expect(sandbox.records.list("loans")).toMatchObject([{ members: { amount: 6 } }]);
  expect((await once(6)).status).toBe(422);
  expect((await once(6, "others")).status).toBe(201);
  expect(sandbox.records.list("loans")).toHaveLength(2);
  await ask(`DELETE /loans/${first.body.data.id}`);
  expect((await once(5)).status).toBe(422);
  expect(sandbox.records.list("loans")).toHaveLength(1);
  expect(sandbox.requests.list().at(-1)?.note).toContain("was removed");
});

test("R46 a body that no valid record can have, or that has a key, gets the documented 422", async () => {
  const { sandbox, ask } = state();
  expect((await ask("POST /loans", { body: { amount: 2_000_000 } })).status).toBe(422);
  expect((await ask("POST /loans", { body: { farmer_id: sandbox.secret("main" as never) } })).status).toBe(
    422,
  );
  const { id } = (await ask("POST /loans", { body: {} })).body.data;
  expect((await ask(`PATCH /loans/${id}`, { body: { farmer_id: "SVC_test_abc" } })).status).toBe(400);
  expect(sandbox.records.list("loans")).toHaveLength(1);
  expect((await ask(`GET /loans/${sandbox.secret("main" as never)}`)).status).toBe(404);
  expect(JSON.stringify(sandbox.requests.list())).not.toContain(sandbox.secret("main" as never));
});

test("a documented 404 and 409 are in the form of the document, with each profile", async () => {
  const schema = { type: "object", required: ["title"], properties: { title: { const: "No." } } };
  const own = { description: "", content: { "application/problem+json": { schema } } };
  const openapi = JSON.parse(JSON.stringify(loans), (name, value) => (/^40[49]$/.test(name) ? own : value));
  for (const profile of ["minimal", "typical"] as const) {
    const { ask } = sandboxOf({ openapi, records: loanRecords, assumptions: { profile } });
    expect(await ask("GET /loans/loan_0000000000")).toEqual({ status: 404, body: { title: "No." } });
    const { id } = (await ask("POST /loans", { body: {} })).body.data;
    await ask(`POST /loans/${id}/approve`);
    expect(await ask(`POST /loans/${id}/approve`)).toEqual({ status: 409, body: { title: "No." } });
  }
});

test("a record has its time where it may be null, and is sent only as JSON", async () => {
  const time = { type: ["string", "null"], format: "date-time" };
  const schema = {
    type: "object",
    required: ["id"],
    properties: { id: { type: "string" }, created_at: time },
  };
  const csv = { "text/csv": { schema: { type: "string" }, example: "id" } };
  const responses = { 201: { description: "", content: { ...csv, "application/json": { schema } } } };
  const document = documentOf({
    "/things": { post: { operationId: "create", responses } },
  });
  const records = { things: { create: "create" } };
  const { send } = serving(document, { records, clock: { now: "2026-03-02T09:00:00Z", frozen: true } });
  const { type, text } = await send("POST /things", { accept: "application/json" });
  expect([type, JSON.parse(text).created_at]).toEqual(["application/json", "2026-03-02T09:00:00.000Z"]);
  expect((await send("POST /things", { accept: "text/csv" })).type).toBe("application/json");
});

test("a list whose items only an example shows has pages of the documented size until the last record", async () => {
  const query = (name: string, part: string) => ({
    ...{ name, in: "query", schema: { $ref: `#/components/schemas/${part}` } },
  });
  const components = { schemas: { One: { type: "integer", default: 1 }, Any: { type: "integer" } } };
  const schema = { type: "object", properties: { items: {}, meta: {}, kind: {} } };
  const example = { example: { items: [{ id: "a" }], meta: { has_more: false }, kind: "list" } };
  const list = {
    ...{ operationId: "list", parameters: [query("limit", "One"), query("offset", "Any")] },
    responses: success(schema, "application/json", example),
  };
  const post = {
    operationId: "create",
    responses: success({}, "application/json", { example: { id: "a" } }),
  };
  const records = { things: { create: "create", list: "list" } };
  const { send } = serving(documentOf({ "/things": { get: list, post } }, { components }), { records });
  for (let at = 0; at < 3; at++) await send("POST /things");
  const pageAt = async (offset: number) => JSON.parse((await send(`GET /things?offset=${offset}`)).text);
  const [items, kind] = [[{ id: expect.any(String) }], "list"];
  expect(await pageAt(1)).toEqual({ items, meta: { has_more: true }, kind });
  expect((await pageAt(2)).meta).toEqual({ has_more: false });
});

test("ids that logs would leave out are shorter than the sample", async () => {
  const id = { type: "string", example: "0123456789abcdef0123456789abcdef" };
  const post = { operationId: "create", responses: success({ type: "object", properties: { id } }) };
  const { send } = serving(documentOf({ "/things": { post } }), {
    records: { things: { create: "create" } },
  });
  expect(JSON.parse((await send("POST /things")).text).id).toMatch(/^[0-9A-Za-z]{20}$/);
});

test("without records, the same document keeps nothing", async () => {
  const { ask } = sandboxOf({ openapi: loans });
  const [one, two] = [await ask("POST /loans", { body: {} }), await ask("POST /loans", { body: {} })];
  expect(one).toEqual(two);
  expect((await ask("GET /loans/none")).status).toBe(200);
});

test("R49 without the document, announced paths respond like any unknown path", async () => {
  const [known, plain] = [
    createSandbox({ scenario: "announced-endpoints", openapi: readOpenApi() }),
    createSandbox(),
  ];
  for (const path of ["consent-requests", "consent-requests/a/cancel", "attestations", "attestations/a"]) {
    const [there, here] = [known, plain].map((sandbox) => async (rest: string) => {
      const response = await sandbox.fetch(`http://any.example/v1/relying-party/${rest}`);
      return [response.status, await response.text()];
    }) as [(rest: string) => Promise<unknown[]>, (rest: string) => Promise<unknown[]>];
    expect(await here(path)).toEqual(await here("nothing"));
    expect((await there(path))[0]).not.toBe(404);
  }
});

test("a varied sandbox always shows the id and required members", async () => {
  const { ask } = sandboxOf({ openapi: loans, records: loanRecords, assumptions: { profile: "varied" } });
  for (let n = 0; n < 30; n++) {
    const { id, status } = (await ask("POST /loans", { body: { amount: 1 } })).body.data;
    expect([status, (await ask(`GET /loans/${id}`)).status]).toEqual(["pending", 200]);
  }
});

test("a report counts the requests of each endpoint, and an empty segment of a path is no id", async () => {
  const { sandbox, ask } = state();
  for (const call of ["GET /loans", "GET /loans", "POST /loans"]) await ask(call, { body: undefined });
  expect((await ask("GET /loans/")).status).toBe(404);
  expect((await ask("POST /loans//approve")).status).toBe(404);
  const counted = sandbox.report().endpoints.filter(({ requests }) => requests > 0);
  expect(counted.map(({ method, requests }) => [method, requests])).toEqual([
    ["GET", 2],
    ["POST", 1],
  ]);
  const unknown = sandbox.requests.list().slice(-2);
  expect(unknown.map(({ pathId }) => pathId)).toEqual(["404.unknown_path", "404.unknown_path"]);
});

test("the records of a sandbox have at most 4 MB in all, no matter whose they are", async () => {
  const text = { type: "string" };
  const schema = { type: "object", required: ["id"], properties: { id: text, text } };
  const body = content({ type: "object", properties: { text } });
  const one = { description: "", ...content(schema) };
  const inPath = [{ name: "id", in: "path", required: true, schema: text }];
  const document = documentOf({
    "/notes": {
      post: { operationId: "create", requestBody: body, responses: { 201: one } },
      get: { operationId: "list", responses: success({ type: "array", items: schema }) },
    },
    "/notes/{id}": {
      parameters: inPath,
      put: { operationId: "change", requestBody: body, responses: { 200: one } },
      delete: { operationId: "remove", responses: { 204: { description: "" } } },
    },
  });
  const operations = { create: "create", list: "list", update: "change", remove: "remove" };
  const { sandbox, ask } = sandboxOf({ openapi: document, records: { notes: operations } });
  const long = { text: "é".repeat(30_000) };
  const create = (key = "main", sent = long) => ask("POST /notes", { key, body: sent });
  let made = await create();
  const first = made.body.id;
  while (made.status === 201) made = await create();
  expect(made).toMatchObject({ status: 422, body: { error: { code: "too_large" } } });
  expect(made.body.error.message).toContain("Remove some");
  const { length } = sandbox.records.list("notes");
  expect(length).toBe(66);
  for (const key of ["others", "live"]) expect((await create(key)).status).toBe(422);
  expect((await ask(`PUT /notes/${first}`, { body: { text: "short" } })).status).toBe(200);
  expect((await create()).status).toBe(201);
  expect((await ask(`PUT /notes/${first}`, { body: long })).status).toBe(422);
  expect(() => sandbox.records.add("notes", { organization: "bank", ...long })).toThrow(
    expect.objectContaining({ code: "record_limit_reached" }),
  );
  expect((await ask(`DELETE /notes/${first}`)).status).toBe(204);
  expect((await create()).status).toBe(422);
  expect((await create("main", { text: "short" })).status).toBe(201);
});

test("a list without a documented limit has at most 100 records, with a note", async () => {
  const schema = { type: "object", properties: { id: { type: "string" } } };
  const list = { operationId: "list", responses: success({ type: "array", items: schema }) };
  const post = { operationId: "create", responses: { 201: { description: "", ...content(schema) } } };
  const document = documentOf({ "/notes": { get: list, post } });
  const records = { notes: { list: "list", create: "create" } };
  const scenario = scenarioOf({ openapi: document, records });
  const { sandbox, ask } = serving(undefined, scenario);
  for (let number = 1; number <= 101; number++) await ask("POST /notes");
  expect((await ask("GET /notes")).body).toHaveLength(100);
  expect(sandbox.records.list("notes")).toHaveLength(101);
  const { notes } = documentReader.notes(scenario, [], new Set());
  expect(notes).toContain("list lists at most 100 records: no limit is documented.");
  const limited = scenarioOf({ openapi: loans, records: loanRecords });
  expect(documentReader.notes(limited, [], new Set()).notes.join()).not.toContain("at most 100");
});
