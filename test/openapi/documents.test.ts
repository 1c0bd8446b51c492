import { expect, test } from "vitest";
import { parse } from "yaml";
import { createSandbox, type Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/create-sandbox.js";
import { readOpenApi } from "../../src/library/entries/openapi.js";
import { documentReader } from "../../src/openapi/read-api.js";
import { changeAssumptions } from "../../src/sandbox/operations/operations.js";
import { released } from "../support/coverage.js";
import { content, documentOf, serving } from "../support/documents.js";
import { pageOf } from "../support/pages.js";

const text = pageOf("examples/openapi/relying-party-0.2.0.yaml");
const scopes = ["attestations:read", "reports:write"];
const scenario = {
  version: 1,
  openapi: { text, file: "api.yaml" },
  organizations: {
    bank: {
      type: "bank",
      keys: {
        main: { environment: "test" },
        both: { environment: "test", scopes },
        reader: { environment: "test", scopes: ["attestations:read"] },
        limited: { environment: "test", scopes, limits: { per_minute: 0 } },
      },
    },
  },
} satisfies Scenario;

const sandboxOf = (more: Partial<Scenario> = {}, options: { seed?: number } = {}) =>
  serving(undefined, { ...scenario, ...more }, options);

const months = { months: 12 };
const base = "/v1/relying-party";
const create = `POST ${base}/reports`;

test("an operation of a document responds with its first example after the request checks", async () => {
  const { sandbox, ask } = sandboxOf();
  expect(await ask(create, { body: months })).toMatchObject({
    status: 201,
    body: { data: { status: "pending" } },
  });
  expect(await ask(create, { body: months, key: "reader" })).toMatchObject({
    status: 403,
    body: { error: { code: "insufficient_scope" } },
  });
  expect((await ask(create, { body: months, key: "limited" })).status).toBe(429);
  const wrongMethod = await sandbox.fetch(`http://any.example${base}/reports/1`, { method: "PUT" });
  expect(wrongMethod.headers.get("allow")).toBe("GET, HEAD, PATCH, DELETE");
  expect(sandbox.requests.list().map(({ pathId }) => pathId)).toContain("201.createReport");
  const { endpoints } = sandbox.report();
  const ofDocument = ["listReports", "createReport", "readReport", "changeReport", "deleteReport"];
  expect(endpoints.map(({ operationId }) => operationId)).toEqual([
    ...released.map(({ operationId }) => operationId),
    ...ofDocument,
  ]);
  expect(endpoints.flatMap(({ operationId, covered }) => (covered ? operationId : []))).toEqual([
    "createReport",
  ]);
});

test("a document's scopes are known; a key without own scopes has them, and no other scope is", async () => {
  const { sandbox, ask } = sandboxOf();
  expect(sandbox.keys.list().map(({ scopes }) => scopes)).toEqual([
    scopes,
    scopes,
    ["attestations:read"],
    scopes,
  ]);
  expect((await ask(create, { body: months, key: "both" })).status).toBe(201);
  const wrong = { bank: { type: "bank", keys: { main: { environment: "test", scopes: ["report:write"] } } } };
  expect(() => sandboxOf({ organizations: wrong } as Partial<Scenario>)).toThrow(
    expect.objectContaining({
      problems: [
        expect.objectContaining({ code: "unknown_scope", path: "organizations.bank.keys.main.scopes[0]" }),
      ],
    }),
  );
  changeAssumptions(stateOf(sandbox), { profile: "typical" }, Date.now());
  const more = { organization: "bank", environment: "test", name: "More", scopes } as const;
  expect(sandbox.keys.create(more).key.scopes).toEqual(scopes);
});

test("a scenario chooses an example by name, and a wrong name is a problem with the right ones", async () => {
  const { ask } = sandboxOf({ examples: { createReport: "rejected" } });
  expect((await ask(create, { body: months })).body.data.status).toBe("rejected");
  const problemOf = (examples: Record<string, string>) => {
    try {
      return sandboxOf({ examples });
    } catch (error) {
      return (error as { problems: unknown[] }).problems[0];
    }
  };
  expect(problemOf({ createReport: "reject" })).toMatchObject({
    code: "unknown_example",
    hint: "write pending or rejected",
  });
  expect(problemOf({ createReprot: "x" })).toMatchObject({
    code: "unknown_example",
    path: "examples.createReprot",
  });
});

test.each([
  ["no body", undefined, { reason: "it is missing" }],
  ["a missing member", {}, { fields: { "body.months": "is missing" } }],
  ["a wrong type", { months: "12" }, { fields: { "body.months": "must be integer" } }],
  [
    "a wrong pattern",
    { months: 1, currency: "euro" },
    { fields: { "body.currency": expect.stringContaining("pattern") } },
  ],
])("a request with %s gets 400 with the place", async (_, body, details) => {
  const { ask } = sandboxOf();
  const { status, body: sent } = await ask(create, { body });
  expect([status, sent.error.code, sent.error.details]).toEqual([400, "bad_request", details]);
});

test("a fault returns a documented response, and without a document only a failure of the service", async () => {
  const faults = [{ when: { path_id: "201.createReport" }, then: { status: 409 } }] as NonNullable<
    Scenario["faults"]
  >;
  const { ask } = sandboxOf({ faults });
  expect(await ask(create, { body: months })).toMatchObject({
    status: 409,
    body: { error: { code: "report_pending" } },
  });
  const { openapi: _, ...plain } = scenario;
  expect(() => createSandbox({ scenario: { ...plain, faults } as Scenario, openapi: readOpenApi() })).toThrow(
    /status must be 500/,
  );
});

test("a reset and a snapshot keep the document", async () => {
  const { sandbox, ask } = sandboxOf({ examples: { createReport: "rejected" } });
  sandbox.reset();
  expect((await ask(create, { body: months })).status).toBe(201);
  const again = createSandbox({
    scenario: JSON.parse(JSON.stringify(sandbox.snapshot())),
    openapi: readOpenApi(),
  });
  expect(stateOf(again).endpoints.map(({ operationId }) => operationId)).toEqual([
    ...released.map(({ operationId }) => operationId),
    "listReports",
    "createReport",
    "readReport",
    "changeReport",
    "deleteReport",
  ]);
});

const style = (name: string) => pageOf(`test/openapi/styles/${name}`);
const searched: object = parse(style("search.yaml"));

// This document does not need the scope of the keys.
const ofSearched = { organizations: scenario.organizations, assumptions: { scopes } };

test("the request that shows how to cover an operation passes its checks, in any media type", async () => {
  const { sandbox, send } = serving(searched, ofSearched);
  const statuses: number[] = [];
  for (const { pathId, howToCover } of sandbox.report().paths) {
    const { method, path, headers, body } = howToCover?.request ?? {};
    if (!pathId.startsWith("204")) continue;
    // Only what is required.
    expect(path).not.toMatch(/size=|ids=/);
    const { "x-api-key": _, ...own } = headers ?? {};
    statuses.push((await send(`${method} ${path}`, own, body ?? undefined)).status);
  }
  expect(statuses).toEqual([204, 204, 204]);
});

test("objects and lists in a query are checked; the notes list what is not", async () => {
  const { send } = serving(searched, ofSearched);
  const ask = async (target: string, body?: string, type = "text/csv") => {
    const own = { "x-trace": "a", ...(body !== undefined && { "content-type": type }) };
    const { status, text } = await send(target, own, body);
    return status === 204 ? 204 : JSON.parse(text).error.details;
  };
  const wrong = (name: string) => ({ fields: { [name]: expect.any(String) } });
  expect(await ask("GET /find?filter[from]=1&size=2&ids=1|2")).toBe(204);
  expect(await ask("GET /find?filter[from]=1&size=a")).toEqual(wrong("query.page.size"));
  expect(await ask("GET /find?filter[from]=1&ids=1|a")).toEqual(wrong("query.ids[1]"));
  expect(await ask("POST /form", "tags=a", "application/x-www-form-urlencoded")).toBe(204);
  expect(await ask("POST /form", "a")).toEqual({ reason: expect.stringContaining("form") });
  expect(await ask("POST /file", "a", "image/png")).toBe(204);
  const openapi = { text: JSON.stringify(searched) };
  expect(documentReader.notes({ openapi }, new Set(scopes)).notes).toEqual([
    "find names a security scheme that the document does not have: key.",
    "find does not check more than one scope: reports:write.",
    "find does not check cookies: session.",
    "find does not check parameters in the style deepObject: filter.",
    "2 operations do not check a body that is not JSON: form (application/x-www-form-urlencoded), file (image/png).",
  ]);
});

const parameter = (where: string, name: string, schema: object, more: object = { required: true }) => ({
  ...{ in: where, name, schema },
  ...more,
});

test("required headers are checked, and none of their values is stored", async () => {
  const parameters = [
    parameter("header", "Idempotency-Key", { type: "string", format: "uuid" }),
    parameter("header", "X-Tags", { type: "array", items: { type: "integer" } }, {}),
    parameter("header", "Authorization", { type: "string" }),
  ];
  const responses = {
    201: { description: "" },
    400: { description: "", ...content({ type: "object", additionalProperties: false }) },
  };
  const { sandbox, send } = serving(
    documentOf({ "/pay": { post: { operationId: "pay", parameters, responses } } }),
  );
  const pay = async (headers: Readonly<Record<string, string>> = {}) => {
    const { status, note } = await send("POST /pay", headers);
    return [status, note];
  };
  const fine = {
    "idempotency-key": "7b4fb5c2-2a4e-4c10-9f0c-6a4a8f1a2b3c",
    "x-trace": "secret-session",
  };
  expect(await pay({ ...fine, "x-tags": "1, 2" })).toEqual([201, undefined]);
  expect(await pay({ "x-trace": "a" })).toEqual([400, "header.Idempotency-Key is missing"]);
  expect(await pay({ ...fine, "x-tags": "1,a" })).toEqual([400, "header.X-Tags[1] must be integer"]);
  expect(JSON.stringify([sandbox.snapshot(), sandbox.requests.list()])).not.toMatch(/secret-session/);
  const [endpoint] = stateOf(sandbox).endpoints.slice(released.length);
  expect(await pay(endpoint?.example?.().headers)).toEqual([201, undefined]);
});

test("a client prefers a documented status or example for one response, which the journal shows", async () => {
  const { sandbox, ask } = sandboxOf();
  const preferring = (prefer: string) => ask(create, { body: months, headers: { prefer } });
  const last = () => sandbox.requests.list().at(-1);
  expect(await preferring("code=409")).toMatchObject({
    ...{ status: 409, body: { error: { code: "report_pending" } } },
  });
  expect(last()).toMatchObject({ status: 409, pathId: "fault.status", note: "Prefer: code=409" });
  expect(await preferring("example=rejected")).toMatchObject({
    ...{ status: 201, body: { data: { status: "rejected" } } },
  });
  expect(last()?.note).toBe("Prefer: example=rejected");
  for (const prefer of ["code=418", "example=lost"]) {
    expect((await preferring(prefer)).status).toBe(201);
    expect(last()?.note).toBe(`Prefer: ${prefer} is not documented`);
  }
  expect((await ask(create, { body: months, key: "reader" })).status).toBe(403);
});
