import { connect } from "node:net";
import { expect, test } from "vitest";
import { endpointsIn } from "../../src/api/endpoints.js";
import { handle } from "../../src/api/handle.js";
import { requestDetails } from "../../src/api/request-details.js";
import { createSandbox, type Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { allOutcomesOf } from "../../src/report/report.js";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { continued } from "../support/continued.js";
import { doors, headerOf, type Seen, startFrozen } from "../support/doors.js";
import { mountInExpress } from "../support/express-door.js";
import { readResponses } from "../support/raw-socket.js";
import { consents, withEndpoints } from "../support/scenario-endpoints.js";
import { asked } from "../support/send.js";
import { served } from "../support/servers.js";

type Keys = NonNullable<NonNullable<Scenario["organizations"]>[string]["keys"]>;

const unknownKey = "SVC_test_sbxnobodyHoldsThis00000000000000";

const bodyOf = ({ body }: Seen) => JSON.parse(body);

test.each(doors)(
  "endpoints of a scenario have the checks of /me, then their own response: $name",
  async ({ open }) => {
    const { sandbox, send, me } = await open(withEndpoints);
    const call = (ref: string, method: string, path: string) =>
      send({ method, path, headers: { "x-api-key": sandbox.secret(ref as "main") } });
    const created = await call("main", "POST", consents);
    expect([created.status, bodyOf(created)]).toEqual([201, withEndpoints.endpoints.createConsent.body]);
    expect(headerOf(created, "content-type")).toBe("application/json");
    expect(headerOf(created, "x-request-id")).toMatch(/^req_/);
    const one = await call("narrow", "GET", `${consents}/any%20one?x=1`);
    expect([one.status, bodyOf(one)]).toEqual([200, { data: { id: "c-1" } }]);
    const ended = await call("main", "DELETE", `${consents}/c-1`);
    expect([ended.status, ended.body, headerOf(ended, "content-type")]).toEqual([204, "", undefined]);
    const accepted = await call("main", "PUT", `${consents}/c-1`);
    expect([accepted.status, accepted.body, headerOf(accepted, "content-type")]).toEqual([
      202,
      "",
      undefined,
    ]);
    expect(await send({ path: consents })).toEqual(await me());
    const lacking = await call("narrow", "POST", consents);
    expect([lacking.status, bodyOf(lacking).error.code]).toEqual([403, "insufficient_scope"]);
    const wrong = await call("main", "PUT", consents);
    expect([wrong.status, headerOf(wrong, "allow")]).toEqual([405, "GET, HEAD, POST"]);
    expect((await call("main", "GET", `${consents}/`)).status).toBe(404);
    const head = await call("main", "HEAD", consents);
    expect([head.status, head.body, headerOf(head, "content-length")]).toEqual([200, "", "11"]);
    const covered = sandbox
      .report()
      .outcomes.filter(({ outcome, covered }) => covered && outcome.startsWith("20"));
    expect(covered.map(({ outcome }) => outcome)).toEqual([
      "200.listConsents",
      "201.createConsent",
      "200.readConsent",
      "202.acceptConsent",
      "204.endConsent",
    ]);
    expect(sandbox.report().coverage.promised).toBe(17);
    expect(sandbox.report().advice.filter(({ id }) => id === "query-or-body-sent")).toEqual([]);
  },
);

test.each(doors)("an endpoint without a scope needs none, not that of /me: $name", async ({ open }) => {
  const keys: Keys = { main: { environment: "test", scopes: ["consents:write"] } };
  const { sandbox, send, me } = await open({
    ...withEndpoints,
    organizations: { bank: { type: "bank", keys } },
  });
  const headers = { "x-api-key": sandbox.secret("main") };
  expect((await me({ ref: "main" })).status).toBe(403);
  expect((await send({ path: `${consents}/c-1`, headers })).status).toBe(200);
  expect((await send({ method: "PUT", path: `${consents}/c-1`, headers })).status).toBe(202);
});

test.each(doors)("all endpoints share a key's limits, and reject alike: $name", async ({ open }) => {
  const limited: Scenario = {
    ...withEndpoints,
    organizations: {
      bank: { type: "bank", keys: { main: { environment: "test", limits: { per_minute: 2, per_day: 9 } } } },
      gone: { type: "bank", status: "inactive", keys: { other: { environment: "test" } } },
    },
  };
  const { sandbox, send, me } = await open(limited);
  const read = (ref: string) =>
    send({ path: `${consents}/1`, headers: { "x-api-key": sandbox.secret(ref as "main") } });
  expect((await read("main")).status).toBe(200);
  expect(bodyOf(await me({ ref: "main" })).data.usage.today).toBe(2);
  expect((await read("main")).status).toBe(429);
  expect(await read("other")).toEqual(await me({ ref: "other" }));
});

const overlapping: Scenario = {
  ...withEndpoints,
  endpoints: {
    general: { path: "/{x}/{y}/{z}", body: 0 },
    any: { path: "/a/{x}/c", body: 1 },
    other: { path: "/a/b/{y}", body: 2 },
    late: { path: "/{x}/b/c", body: 5 },
    exact: { method: "POST", path: "/a/b/d", body: 3 },
    tilde: { path: "/~me/%c3%a9", body: 4 },
    hyphen: { path: "/a-b.c_1", body: 6 },
    valueOf: { path: "/{z}", body: null },
    toString: { path: "/no-body" },
  } as NonNullable<Scenario["endpoints"]>, // with names that objects have
};

test.each<[method: string, path: string, status: number, body: string]>([
  ["GET", "/a/b/c", 200, "2"],
  ["GET", "/a/b/e", 200, "2"],
  ["GET", "/a/x/c", 200, "1"],
  ["GET", "/x/b/c", 200, "5"],
  ["GET", "/a/x/y", 200, "0"],
  ["POST", "/a/b/c", 405, ""],
  ["POST", "/a/b/d", 200, "3"],
  ["GET", "/a/b/d", 405, ""],
  ["GET", "/a//c", 404, ""],
  ["GET", "/~me/%C3%A9", 200, "4"],
  ["GET", "/~me/é", 200, "4"],
  ["GET", "/%7Em%65/%C3%A9", 200, "4"],
  ["GET", "/a%2Db%2ec%5f%31", 200, "6"],
  ["GET", "/a%252Db.c_1", 200, "null"],
  ["GET", "/b", 200, "null"],
  ["GET", "/no-body", 200, ""],
  ["GET", "/v1/relying-party/me/", 404, ""],
])(
  "the more exact path wins in any order, then the method is chosen: %s %s",
  async (method, path, status, body) => {
    const endpoints = Object.entries(overlapping.endpoints ?? {});
    for (const order of [endpoints, endpoints.toReversed()]) {
      const scenario = { ...overlapping, endpoints: Object.fromEntries(order) };
      const sandbox = createSandbox({ scenario, frozen: true });
      const headers = { "x-api-key": sandbox.secret("narrow") };
      const response = await sandbox.fetch(`https://any.example${path}`, { method, headers });
      const text = await response.text();
      expect([response.status, status === 200 ? text : ""]).toEqual([status, body]);
      const requests = sandbox.report().endpoints.reduce((sum, one) => sum + one.requests, 0);
      expect(requests).toBe(status === 200 ? 1 : 0);
    }
  },
);

test("a path with encoded letters is the same one; a segment . or .. is none, and /me is exact", () => {
  const { endpoints = {}, ...scenario } = withEndpoints;
  const any = { general: { path: "/v1/{x}/{y}", body: {} }, ...endpoints };
  const sandbox = startFrozen({ ...scenario, endpoints: any });
  const apiKey = secretToSend(sandbox, "main");
  const outcomes = (...paths: string[]) =>
    paths.map((path) => handle(sandbox, asked({ path, apiKey })).outcome);
  expect(outcomes("/v1/a/%61", "/v1/%2e%2E%2e/a")).toEqual(["200.general", "200.general"]);
  expect(new Set(outcomes("/v1/a/.", "/v1/a/%2E", "/v1/a/..", "/v1/%2e%2E/a", "/v1/.%2e/a"))).toEqual(
    new Set(["404.unknown_path"]),
  );
  // The pattern has them: they are not the path of /me.
  expect(outcomes("/v1/relying-party/me", "/v1/relying-party/m%65", "/v1/relying%2Dparty/me")).toEqual([
    "200.test",
    "200.general",
    "200.general",
  ]);
  const plain = startFrozen(scenario);
  expect(handle(plain, asked({ path: "/v1/relying-party/m%65", apiKey })).outcome).toBe("404.unknown_path");
});

test("in varied, the value of a body and the scopes of keys stay", async () => {
  const endpoints = {
    plain: {
      path: "/plain",
      scope: "parcels:read",
      body: { a: ["</é"] },
    },
  };
  const keys: Keys = {
    lacks: { environment: "test" },
    has: { environment: "test", scopes: ["parcels:read"] },
  };
  const scenario: Scenario = { version: 1, endpoints, organizations: { bank: { type: "bank", keys } } };
  const texts = new Set<string>();
  for (let seed = 1; seed <= 16; seed++) {
    const sandbox = createSandbox({ scenario, seed, profile: "varied" });
    const read = (ref: "lacks" | "has") =>
      sandbox.fetch("https://any.example/plain", { headers: { "x-api-key": sandbox.secret(ref) } });
    expect((await read("lacks")).status).toBe(403);
    const response = await read("has");
    const text = await response.text();
    expect(JSON.parse(text)).toEqual({ a: ["</é"] });
    texts.add(text);
    const again = continued(sandbox);
    expect(
      (await again.fetch("https://any.example/plain", { headers: { "x-api-key": sandbox.secret("has") } }))
        .status,
    ).toBe(200);
  }
  expect(texts.size).toBeGreaterThan(4);
});

test("a fault names an endpoint of a scenario by its outcome", async () => {
  const faults = [{ when: { outcome: "201.createConsent" as const }, then: { status: 503 as const } }];
  const sandbox = createSandbox({ scenario: { ...withEndpoints, faults } });
  const headers = { "x-api-key": sandbox.secret("main") };
  const call = (method: string) => sandbox.fetch(`https://any.example${consents}`, { method, headers });
  expect([(await call("POST")).status, (await call("GET")).status]).toEqual([503, 200]);
  const unknown = [{ when: { outcome: "201.createConsnet" as const }, then: { reset: true } }];
  expect(() => sandbox.faults.set(unknown)).toThrow("did you mean 201.createConsent?");
});

test.each([
  ["2 MB with its length", "Content-Length: 2000000\r\n\r\n", "x".repeat(2_000_000)],
  ["chunks", "Transfer-Encoding: chunked\r\n\r\n", `10000\r\n${"x".repeat(65_536)}\r\n0\r\n\r\n`],
])("a response does not wait for a body, and the connection stays open: %s", async (_what, head, body) => {
  const server = await served({ scenario: withEndpoints });
  const key = server.sandbox.secret("main" as never);
  const start = `HTTP/1.1\r\nHost: any.example\r\nx-api-key: ${key}\r\n`;
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write(`POST ${consents} ${start}${head}`);
  const [first] = (await socket.take(1).toArray()) as Buffer[];
  expect(String(first)).toMatch(/^HTTP\/1\.1 201 /);
  socket.destroy();
  const again = connect(Number(new URL(server.url).port), "127.0.0.1");
  again.write(`POST ${consents} ${start}${head}${body}GET ${consents} ${start}Connection: close\r\n\r\n`);
  const responses = readResponses(Buffer.concat(await again.toArray()));
  expect(responses.map(({ status }) => status)).toEqual([201, 200]);
});

test.each([10, 200_000, 2_000_000])(
  "in Express, the connection stays open after a body of %i bytes",
  async (length) => {
    const sandbox = createSandbox({ scenario: withEndpoints });
    const port = await mountInExpress(sandbox);
    const start = `HTTP/1.1\r\nHost: any.example\r\nx-api-key: ${sandbox.secret("main" as never)}\r\n`;
    const socket = connect(port, "127.0.0.1");
    socket.write(`POST ${consents} ${start}Content-Length: ${length}\r\n\r\n${"x".repeat(length)}`);
    socket.write(`GET ${consents} ${start}Connection: close\r\n\r\n`);
    const responses = readResponses(Buffer.concat(await socket.toArray()));
    expect(responses.map(({ status }) => status)).toEqual([201, 200]);
  },
);

test("each success of an endpoint is an outcome", () => {
  const added = allOutcomesOf(endpointsIn(withEndpoints)).filter(
    ({ id, promised }) => !promised && id.startsWith("20"),
  );
  expect(added.map(({ id }) => id)).toEqual([
    "200.listConsents",
    "201.createConsent",
    "200.readConsent",
    "202.acceptConsent",
    "204.endConsent",
  ]);
});

test.each(["403.insufficient_scope", "401.unknown"] as const)(
  "the wrong answer of a run for %s is the endpoint's own response",
  (outcome) => {
    const run = conditionedRun({
      onRequest: { which: { kind: "each", outcome }, gets: { kind: "wrong_answer" } },
    });
    const sandbox = startFrozen(withEndpoints, { run });
    const apiKey = outcome === "401.unknown" ? unknownKey : secretToSend(sandbox, "narrow");
    const { response, outcome: kept } = handle(sandbox, asked({ method: "POST", path: consents, apiKey }));
    expect([kept, response.status]).toEqual([outcome, 201]);
    expect(JSON.parse(response.body)).toEqual(withEndpoints.endpoints.createConsent.body);
  },
);

test("a request whose path is cut in the journal still has the scope and the cause of its endpoint", () => {
  const long = `${consents}/${"x".repeat(600)}`;
  const endpoints = { readConsent: { path: `${consents}/{id}`, scope: "consents:read", body: {} } };
  const sandbox = createSandbox({ scenario: { ...withEndpoints, endpoints } });
  const state = stateOf(sandbox);
  handle(state, asked({ path: long, apiKey: secretToSend(state, "narrow") }));
  const [request] = sandbox.requests.list();
  const details = requestDetails(state, request?.id ?? "");
  expect(details).toMatchObject({ outcome: "403.insufficient_scope", requiredScope: "consents:read" });
  expect(details.why).not.toBeNull();
});
