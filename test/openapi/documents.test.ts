import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.js";
import { type BrokenPromise, breaking, brokenPromisesOf } from "../../src/api/promises.js";
import { builtIn, endpointsIn } from "../../src/api/routes.js";
import { createSandbox, openApiDocument, type Scenario } from "../../src/index.js";
import { runtimeOf } from "../../src/library/create-sandbox.js";
import { readOpenApi } from "../../src/library/entries/openapi.js";
import { documentReader, readApi } from "../../src/openapi/read-api.js";
import { changeAssumptions } from "../../src/sandbox/operations/settings.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { released } from "../support/coverage.js";
import { openTestWorld } from "../support/doors.js";
import { root } from "../support/pages.js";
import { ask } from "../support/varied.js";

const text = readFileSync(join(root, "examples/openapi/relying-party-0.2.0.yaml"), "utf8");
const scopes = ["attestations:read", "reports:write"];
const scenario: Scenario = {
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
};

function sandboxOf(more: Partial<Scenario> = {}, options: { seed?: number; profile?: "varied" } = {}) {
  const sandbox = createSandbox({
    scenario: { ...scenario, ...more } as Scenario,
    openapi: readOpenApi(),
    ...options,
  });
  const ask = async (method: string, path: string, body?: unknown, key = "main") => {
    const response = await sandbox.fetch(`http://any.example/v1/relying-party${path}`, {
      method,
      headers: { "x-api-key": sandbox.secret(key), "Content-Type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const sent = await response.text();
    return {
      status: response.status,
      sent,
      body: sent === "" ? undefined : JSON.parse(sent),
      headers: response.headers,
    };
  };
  return { sandbox, ask };
}

const months = { months: 12 };

test("an operation of a document responds with its first example after the request checks", async () => {
  const { sandbox, ask } = sandboxOf();
  expect(await ask("POST", "/reports", months)).toMatchObject({
    status: 201,
    body: { data: { status: "pending" } },
  });
  expect(await ask("POST", "/reports", months, "reader")).toMatchObject({
    status: 403,
    body: { error: { code: "insufficient_scope" } },
  });
  expect((await ask("POST", "/reports", months, "limited")).status).toBe(429);
  expect((await ask("PUT", "/reports/1")).headers.get("allow")).toBe("GET, HEAD, PATCH, DELETE");
  expect(sandbox.requests.list().map(({ pathId }) => pathId)).toContain("201.createReport");
  expect(sandbox.report().endpoints.map(({ operationId, covered }) => [operationId, covered])).toEqual([
    ...released.map(({ operationId }) => [operationId, false]),
    ["listReports", false],
    ["createReport", true],
    ...["readReport", "changeReport", "deleteReport"].map((id) => [id, false]),
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
  expect((await ask("POST", "/reports", months, "both")).status).toBe(201);
  const wrong = { bank: { type: "bank", keys: { main: { environment: "test", scopes: ["report:write"] } } } };
  expect(() => sandboxOf({ organizations: wrong } as Partial<Scenario>)).toThrow(
    expect.objectContaining({
      problems: [
        expect.objectContaining({ code: "unknown_scope", path: "organizations.bank.keys.main.scopes[0]" }),
      ],
    }),
  );
  changeAssumptions(runtimeOf(sandbox), { profile: "typical" }, Date.now());
  const more = { organization: "bank", environment: "test", name: "More", scopes } as const;
  expect(sandbox.keys.create(more).key.scopes).toEqual(scopes);
});

test("a scenario chooses an example by name, and a wrong name is a problem with the right ones", async () => {
  const { ask } = sandboxOf({ examples: { createReport: "rejected" } });
  expect((await ask("POST", "/reports", months)).body.data.status).toBe("rejected");
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
  const { status, body: sent } = await ask("POST", "/reports", body);
  expect([status, sent.error.code, sent.error.details]).toEqual([400, "bad_request", details]);
});

test("the documented 422 and its own form respond to an invalid request", async () => {
  const problem = { type: "object", required: ["title"], properties: { title: { type: "string" } } };
  const changed = text.replace(
    '        "409":',
    `        "422": { description: "", content: { application/problem+json: { schema: ${JSON.stringify(problem)}, example: { title: wrong } } } }\n        "409":`,
  );
  const { ask } = sandboxOf({ openapi: { text: changed } });
  expect(await ask("POST", "/reports", {})).toMatchObject({ status: 422, body: { title: "wrong" } });
});

test("a fault returns a documented response, and without a document only a failure of the service", async () => {
  const faults = [{ when: { path_id: "201.createReport" }, then: { status: 409 } }] as NonNullable<
    Scenario["faults"]
  >;
  const { ask } = sandboxOf({ faults });
  expect(await ask("POST", "/reports", months)).toMatchObject({
    status: 409,
    body: { error: { code: "report_pending" } },
  });
  const { openapi: _, ...plain } = scenario;
  expect(() => createSandbox({ scenario: { ...plain, faults } as Scenario, openapi: readOpenApi() })).toThrow(
    /status must be 500/,
  );
});

test("a fault matches the documented 400, and one about records is a problem with the endpoints that have them", async () => {
  const onPath = (path_id: string) =>
    ({ faults: [{ when: { path_id }, then: { status: 503 } }] }) as Partial<Scenario>;
  const { ask } = sandboxOf(onPath("400.bad_request"));
  expect((await ask("POST", "/reports", {})).status).toBe(503);
  expect(() => sandboxOf(onPath("409.conflict"))).toThrow(/records/);
});

test("a sample is the same for a seed, differs between seeds, and is valid", async () => {
  const bodyOf = async (seed: number) => (await sandboxOf({}, { seed }).ask("GET", "/reports/r-1")).sent;
  const [one, again, other] = [await bodyOf(7), await bodyOf(7), await bodyOf(8)];
  expect(one).toBe(again);
  expect(one).not.toBe(other);
  expect(JSON.parse(one).data).toMatchObject({ id: expect.any(String), pages: expect.any(Number) });
});

test("a sample has times that the sandbox's clock has had", async () => {
  const properties = { at: { type: "string", format: "date-time" } };
  const schema = { type: "object", required: ["at"], properties };
  const responses = { 200: { description: "", content: { "application/json": { schema } } } };
  const document = {
    ...{ openapi: "3.1.0", info: { title: "", version: "" } },
    paths: { "/loans/{loan_id}": { get: { responses } } },
  };
  const now = "2031-05-06T07:08:09Z";
  const sandbox = createSandbox({ scenario: "key-states", openapi: readOpenApi(document), now });
  const headers = { "x-api-key": sandbox.secret("active") };
  const { at } = await (await sandbox.fetch("http://a.example/loans/l%201", { headers })).json();
  const age = Date.parse(now) - Date.parse(at);
  expect(age).toBeGreaterThanOrEqual(0);
  expect(age).toBeLessThan(40 * 86_400_000);
});

test("varied leaves out optional members and adds others, and each body stays valid", async () => {
  const { sandbox, ask } = sandboxOf({}, { profile: "varied" });
  const [endpoint] = runtimeOf(sandbox).endpoints.slice(2) as unknown as { responseShape: object }[];
  expect(endpoint).toBeDefined();
  const schema = {
    type: "object",
    required: ["data"],
    properties: { data: { type: "object", required: ["id", "status", "pages"] } },
  };
  const isValid = new Ajv2020().compile(schema);
  const bodies = [];
  for (let i = 0; i < 40; i++) bodies.push((await ask("GET", "/reports/r-1")).body);
  expect(bodies.filter((body) => !isValid(body))).toEqual([]);
  const names = bodies.map(({ data }) => Object.keys(data).sort().join());
  expect(names).toEqual(expect.arrayContaining(["id,pages,status", "id,pages,reason,status"]));
  expect(names.some((one) => one.includes("x_note"))).toBe(true);
});

test("a reset, a snapshot and a capture keep the document", async () => {
  const { sandbox, ask } = sandboxOf({ examples: { createReport: "rejected" } });
  sandbox.reset();
  expect((await ask("POST", "/reports", months)).status).toBe(201);
  const again = createSandbox({
    scenario: JSON.parse(JSON.stringify(sandbox.snapshot())),
    openapi: readOpenApi(),
  });
  expect(runtimeOf(again).endpoints.map(({ operationId }) => operationId)).toEqual([
    ...released.map(({ operationId }) => operationId),
    ...["listReports", "createReport", "readReport", "changeReport", "deleteReport"],
  ]);
});

test("the sandbox's own document has no difference to it", () => {
  const own = endpointsIn({ version: 1 });
  const { endpoints, notes } = readApi({ text: JSON.stringify(openApiDocument()) }, own);
  expect([notes.list(), endpoints.length]).toEqual([[], own.length]);
});

test("each difference between a document and the built-in operation is a sentence", () => {
  const document = JSON.parse(JSON.stringify(openApiDocument()));
  const { data } = document.components.schemas.RelyingPartyContext.properties;
  data.properties.limits.properties.per_minute.type = "number";
  delete data.properties.limits.properties.per_day.type;
  delete data.properties.usage;
  data.properties.extra = { type: "string" };
  data.required = data.required.filter((name: string) => name !== "usage");
  document.components.securitySchemes.apiKey.name = "Authorization";
  const { notes } = readApi({ text: JSON.stringify(document) }, endpointsIn({ version: 1 }));
  expect(notes.list()).toEqual([
    "The document authenticates with apiKey; here each request has its key in x-api-key.",
    "GET /v1/relying-party/me: data.limits.per_minute is a number in the document and an integer here.",
    "GET /v1/relying-party/me: data.extra is only in the document, not here.",
    "GET /v1/relying-party/me: data.usage is only here, not in the document.",
  ]);
});

test("a problem has its file, line, column and hint, in JSON and in YAML", () => {
  const problemOf = (wrong: string, file: string) => {
    try {
      return readApi({ text: wrong, file }, endpointsIn({ version: 1 }));
    } catch (error) {
      return (error as { problems: unknown[] }).problems[0];
    }
  };
  const yaml = "openapi: 3.1.0\ninfo: { title: a, version: b }\npaths:\n  /a: { $ref: other.yaml }\n";
  const place = {
    code: "openapi_reference",
    file: "api.yaml",
    line: 4,
    column: 15,
    hint: expect.any(String),
  };
  expect(problemOf(yaml, "api.yaml")).toMatchObject(place);
  const json = '{\n "openapi": "2.0" }';
  expect(problemOf(json, "api.json")).toMatchObject({ code: "openapi_version", file: "api.json", line: 2 });
});

const words = { type: "string" };
const searched = {
  openapi: "3.1.0",
  info: { title: "Search", version: "1" },
  paths: {
    "/find": {
      get: {
        operationId: "find",
        security: [{ key: ["attestations:read", "reports:write"] }],
        parameters: [
          { in: "header", name: "X-Trace", required: true, schema: words },
          { in: "cookie", name: "session", schema: words },
          {
            ...{ in: "query", name: "filter", style: "deepObject", required: true },
            schema: { type: "object", properties: { from: { type: "integer" } }, required: ["from"] },
          },
          {
            in: "query",
            name: "page",
            schema: { type: "object", properties: { size: { type: "integer" } } },
          },
          {
            in: "query",
            name: "ids",
            style: "pipeDelimited",
            schema: { type: "array", items: { type: "integer" } },
          },
        ],
        responses: { 204: { description: "" } },
      },
    },
    "/form": {
      post: {
        operationId: "form",
        requestBody: {
          required: true,
          content: {
            "application/x-www-form-urlencoded": {
              schema: {
                ...{ type: "object", required: ["months"] },
                properties: { months: { type: "integer" }, tags: { type: "array", items: words } },
              },
            },
          },
        },
        responses: { 204: { description: "" } },
      },
    },
    "/file": {
      post: {
        operationId: "file",
        requestBody: { content: { "image/png": {} } },
        responses: { 204: { description: "" } },
      },
    },
  },
};

// This document does not need the scope of the keys.
const ofSearched: Scenario = {
  ...scenario,
  ...{ openapi: { text: JSON.stringify(searched) }, assumptions: { scopes } },
};

test("the request that shows how to cover an operation passes its checks, in any media type", async () => {
  const sandbox = createSandbox({ scenario: ofSearched, openapi: readOpenApi() });
  const statuses: number[] = [];
  for (const { pathId, howToMeet } of sandbox.report().paths) {
    const { method = "", path, headers, body } = howToMeet?.request ?? {};
    if (!pathId.startsWith("204")) continue;
    // Only what is required.
    expect(path).not.toMatch(/size=|ids=/);
    const sent = { method, headers: { ...headers, "x-api-key": sandbox.secret("main") }, body: body ?? null };
    statuses.push((await sandbox.fetch(`http://any.example${path}`, sent)).status);
  }
  expect(statuses).toEqual([204, 204, 204]);
});

test("objects and lists in a query and forms are checked; the notes list what is not", async () => {
  const sandbox = createSandbox({ scenario: ofSearched, openapi: readOpenApi() });
  const ask = async (path: string, body?: string, type = "application/x-www-form-urlencoded") => {
    const response = await sandbox.fetch(`http://any.example${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...{ "x-api-key": sandbox.secret("main"), cookie: "session=a", "x-trace": "a" },
        ...(body !== undefined && { "Content-Type": type }),
      },
      ...(body !== undefined && { body }),
    });
    return response.status === 204 ? 204 : (await response.json()).error.details;
  };
  const wrong = (name: string) => ({ fields: { [name]: expect.any(String) } });
  expect(await ask("/find?filter[from]=1&size=2&ids=1|2")).toBe(204);
  expect(await ask("/find?filter[from]=a")).toEqual(wrong("query.filter.from"));
  expect(await ask("/find")).toEqual({ fields: { "query.filter": "is missing" } });
  expect(await ask("/find?filter[from]=1&size=a")).toEqual(wrong("query.page.size"));
  expect(await ask("/find?filter[from]=1&ids=1|a")).toEqual(wrong("query.ids.1"));
  expect(await ask("/form", "months=12&tags=a&tags=b")).toBe(204);
  expect(await ask("/form", "tags=a")).toEqual({ fields: { "body.months": "is missing" } });
  expect(await ask("/form", "{}", "application/json")).toEqual({ reason: expect.stringContaining("form") });
  expect(await ask("/file", "a", "image/png")).toBe(204);
  expect(readApi({ text: JSON.stringify(searched) }, builtIn.slice(0, 1)).notes.list()).toEqual([
    expect.stringContaining("does not have GET /v1/relying-party/me"),
    "find does not check the scope reports:write.",
    "file does not check the body as image/png.",
  ]);
});

test("required headers and cookies are checked, and none of their values is stored", async () => {
  const parameter = (where: string, name: string, schema: object, more = {}) => ({
    ...{ in: where, name, schema },
    ...more,
  });
  const parameters = [
    parameter("header", "Idempotency-Key", { type: "string", format: "uuid" }, { required: true }),
    parameter("header", "X-Tags", { type: "array", items: { type: "integer" } }),
    parameter("cookie", "session", { type: "string", minLength: 8 }, { required: true }),
    parameter("header", "Authorization", { type: "string" }, { required: true }),
  ];
  const responses = {
    201: { description: "" },
    400: {
      description: "",
      content: { "application/json": { schema: { type: "object", additionalProperties: false } } },
    },
  };
  const document = {
    openapi: "3.1.0",
    info: { title: "", version: "" },
    paths: { "/pay": { post: { operationId: "pay", parameters, responses } } },
  };
  const sandbox = createSandbox({ scenario: "key-states", openapi: readOpenApi(document) });
  const ask = async (headers: Record<string, string>) => {
    const own = { "x-api-key": sandbox.secret("active"), ...headers };
    const { status } = await sandbox.fetch("http://a.example/pay", { method: "POST", headers: own });
    return [status, sandbox.requests.list().at(-1)?.note];
  };
  const fine = {
    "idempotency-key": "7b4fb5c2-2a4e-4c10-9f0c-6a4a8f1a2b3c",
    cookie: "a=b; session=secret-session",
  };
  expect(await ask({ ...fine, "x-tags": "1, 2" })).toEqual([201, undefined]);
  expect(await ask({ cookie: fine.cookie })).toEqual([400, "header.Idempotency-Key is missing"]);
  expect(await ask({ ...fine, cookie: "a=b" })).toEqual([400, "cookie.session is missing"]);
  expect(await ask({ ...fine, "x-tags": "1,a" })).toEqual([400, "header.X-Tags.1 must be integer"]);
  expect(await ask({ ...fine, cookie: "session=short" })).toEqual([
    400,
    expect.stringContaining("cookie.session"),
  ]);
  expect(JSON.stringify([sandbox.snapshot(), sandbox.requests.list()])).not.toMatch(
    /secret-session|session=/,
  );
  const [pay] = runtimeOf(sandbox).endpoints.slice(released.length) as unknown as Endpoint[];
  const [request] = pay?.requests?.({} as never, runtimeOf(sandbox)) ?? [];
  expect(await ask(request?.headers as Record<string, string>)).toEqual([201, undefined]);
});

test("a client prefers a documented status or example for one response, which the journal shows", async () => {
  const { sandbox, ask } = sandboxOf();
  const preferring = async (prefer: string) => {
    const own = { "x-api-key": sandbox.secret("main"), accept: "application/json" };
    const headers = { ...own, "Content-Type": "application/json", prefer };
    const body = JSON.stringify(months);
    const response = await sandbox.fetch("http://a.example/v1/relying-party/reports", {
      method: "POST",
      headers,
      body,
    });
    return [response.status, await response.json()];
  };
  expect(await preferring("code=409")).toEqual([
    409,
    expect.objectContaining({ error: expect.objectContaining({ code: "report_pending" }) }),
  ]);
  expect(sandbox.requests.list().at(-1)).toMatchObject({
    status: 409,
    pathId: "fault.status",
    note: "Prefer: code=409",
  });
  expect(await preferring("example=rejected")).toEqual([
    201,
    { data: expect.objectContaining({ status: "rejected" }) },
  ]);
  expect(sandbox.requests.list().at(-1)?.note).toBe("Prefer: example=rejected");
  for (const prefer of ["code=418", "example=lost"]) {
    expect(await preferring(prefer)).toEqual([201, expect.anything()]);
    expect(sandbox.requests.list().at(-1)?.note).toBe(`Prefer: ${prefer} is not documented`);
  }
  expect((await ask("POST", "/reports", months, "reader")).status).toBe(403);
});

test("each promise is about a part that the response has: no JSON is broken where none is sent", () => {
  const ledger = readFileSync(join(root, "test/openapi/styles/ledger.yaml"), "utf8");
  const served = endpointsIn({ ...scenario, openapi: { text: ledger } }, documentReader);
  const rowsOf = (id: string) =>
    brokenPromisesOf(served).flatMap((one) => (one.path.endsWith(`.${id}`) ? one.id.split(":")[1] : []));
  expect(rowsOf("get-v1-relying-party-me-status")).toEqual(["rejected", "status-500"]);
  expect(rowsOf("exportLedger")).toEqual(["rejected", "status-500"]);
  expect(rowsOf("readMonth")).toEqual(expect.arrayContaining(["entries-missing", "invalid-json"]));
});

test.each([
  ["401.revoked:accepted", "revoked", 204, null, ""],
  ["204.get-v1-relying-party-me-status:status-500", "active", 500, "application/json", "internal_error"],
])("%s on an operation without a body has the documented form", async (id, key, status, type, sent) => {
  const ledger = readFileSync(join(root, "test/openapi/styles/ledger.yaml"), "utf8");
  const openapi = { text: ledger };
  const promise = brokenPromisesOf(endpointsIn({ ...scenario, openapi }, documentReader)).find(
    (one) => one.id === id,
  );
  const world = openTestWorld(
    { ...bundledScenarios["key-states"], openapi },
    {
      trial: { broken: breaking(promise as BrokenPromise) },
    },
  );
  const { headers, ...response } = ask(world, { key, path: "/v1/relying-party/me/status" });
  const typeOf = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
  expect([response.status, typeOf.get("content-type") ?? null]).toEqual([status, type]);
  expect(response.body).toContain(sent);
  expect(typeOf.get("content-length") ?? null).toBe(status === 204 ? null : String(response.body.length));
});
