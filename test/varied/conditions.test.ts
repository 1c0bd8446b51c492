import { expect, onTestFinished, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { headerPairs } from "../../src/api/http-messages.js";
import words from "../../src/api/variation/words.json" with { type: "json" };
import { faultsOn } from "../../src/cli/commands/exec.js";
import { startInNode } from "../../src/node/platform.js";
import type { Profile } from "../../src/rules/assumptions.js";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import type { OnRequest, RunConditions } from "../../src/runs/conditions.js";
import { operations } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { restartSandbox } from "../../src/sandbox/start-sandbox.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { resolveSource } from "../../src/scenario/scenario-source.js";
import { serve } from "../../src/server/serve.js";
import { control as callControl } from "../support/call-control.js";
import { headerOf, startFrozen } from "../support/doors.js";
import { consents, withEndpoints } from "../support/scenario-endpoints.js";
import { asked, mePath } from "../support/send.js";
import { type Asked, ask, collectTraces, everyQuestion } from "../support/varied.js";

const now = Date.parse("2026-03-02T09:00:00Z");

function responses(profile: Profile, data?: RunConditions, seed = 3) {
  const run = data && conditionedRun(data);
  const sandbox = startFrozen("key-states", { profile, seed, now, run });
  const seen = collectTraces(sandbox);
  const asked = Array.from({ length: 3 }, () => everyQuestion(sandbox)).flat();
  const given = asked.map((one) => ask(sandbox, one));
  return {
    given,
    points: seen.flatMap(({ points }) => points),
    journal: sandbox.journal.requests().map(({ id, code, outcome, status }) => [id, code, outcome, status]),
  };
}

test("a run that only records changes no response", () => {
  const { points, ...shown } = responses("varied", {});
  expect({ ...shown, points: [] }).toEqual(responses("varied"));
  expect(points.length).toBeGreaterThan(200);
});

test("without a row, every response is minimal's", () => {
  expect(responses("varied", { rows: [] })).toMatchObject({
    ...responses("minimal"),
    points: expect.anything(),
  });
});

test("every variant can be chosen, and has a description", () => {
  const ids = new Set<string>();
  for (let seed = 1; seed <= 8; seed++) {
    for (const { row, variant } of responses("varied", {}, seed).points) ids.add(`${row} ${variant}`);
  }
  const worded = Object.entries(words).flatMap(([row, { variants }]) =>
    Object.keys(variants).map((one) => `${row} ${one}`),
  );
  const records = ["key.granted_scopes none", "organization.name_ending none"];
  expect([...ids].sort()).toEqual([...worded, ...records].sort());
});

test("a fault that never fires changes no variant of a mixed run", () => {
  const variantsWith = (faults: NonNullable<Scenario["faults"]>) => {
    const run = conditionedRun({ profile: "varied", mixed: true });
    const scenario = { ...bundledScenarios["key-states"], faults };
    const sandbox = startInNode({ scenario, name: "faulty" }, { frozen: true, seed: 1 }, run);
    const traces = collectTraces(sandbox);
    const given = Array.from({ length: 40 }, () => ask(sandbox, { key: "wrong-scope" }));
    return { given: given.map(({ headers, body }) => ({ headers, body })), traces };
  };
  const never = {
    when: { outcome: "403.insufficient_scope", probability: 0 },
    then: { status: 503 },
  } as const;
  const without = variantsWith([]);
  expect(variantsWith([never])).toEqual(without);
  expect(new Set(without.given.map(({ headers }) => headers.length)).size).toBeGreaterThan(1);
});

test("R6 a wrong success of a run counts the request that it is given to, as its key's other successes do", () => {
  const run = conditionedRun({
    onRequest: { which: { kind: "each", outcome: "403.insufficient_scope" }, gets: { kind: "wrong_answer" } },
  });
  const assumptions = { rate_limit_headers: "legacy" } as const;
  const sandbox = startFrozen({ ...bundledScenarios["key-states"], assumptions }, { run });
  const { headers, body } = ask(sandbox, { key: "wrong-scope" });
  const remaining = headers.filter(([name]) => /remaining/i.test(name)).map(([, value]) => value);
  expect(JSON.parse(body).data.usage).toEqual({ today: 1 });
  expect(remaining).toContain("59");
});

test("the date after which a service is available again is on the clock of its client, and not on the sandbox's", () => {
  const run = conditionedRun({
    onRequest: {
      which: { kind: "first", outcome: "200.test" },
      gets: { kind: "rejection", as: "fault.status", seconds: 4, asDate: true },
    },
  });
  const sandbox = startFrozen("key-states", { now, run });
  const wall = Date.parse("2031-07-01T12:00:00Z");
  const late = { ...sandbox, platform: { ...sandbox.platform, time: () => wall } };
  const { response, date } = handle(late, asked({ apiKey: secretToSend(sandbox, "active") }));
  expect([response.status, date]).toEqual([503, wall]);
  expect(headerPairs(response.headers)).toContainEqual(["Retry-After", new Date(wall + 4000).toUTCString()]);
});

test("a response that nobody got has no varied point", () => {
  const conditions: readonly RunConditions[] = [
    { profile: "varied", faults: [{ when: { outcome: "200.test" }, then: { reset: true } }] },
    {
      profile: "varied",
      onRequest: { which: { kind: "each", outcome: "200.test" }, gets: { kind: "wrong_answer" } },
    },
    {
      profile: "varied",
      onRequest: {
        which: { kind: "nth", key: "active", nth: 1 },
        gets: { kind: "rejection", as: "401.revoked" },
      },
    },
  ];
  const pointsOf = conditions.map((data) => {
    const sandbox = startFrozen("key-states", { run: conditionedRun(data) });
    const traces = collectTraces(sandbox);
    ask(sandbox, { key: "active" });
    return traces.map(({ replaced, points }) => ({ replaced, points }));
  });
  expect(pointsOf).toEqual(conditions.map(() => [{ replaced: "200.test", points: [] }]));
});

const createConsent = { method: "POST", path: consents, key: "main" };
const endConsent = { method: "DELETE", path: `${consents}/c-1`, key: "main" };
type Then = NonNullable<Scenario["faults"]>[number]["then"];

test.each<[string, Asked, Then | undefined, rows: readonly string[]]>([
  ["a 503", createConsent, { status: 503 }, ["request_id_form", "request_id_on_errors"]],
  [
    "a 503 that is cut",
    createConsent,
    { status: 503, truncate: true },
    ["request_id_form", "request_id_on_errors"],
  ],
  ["a 503 with a gateway's page", createConsent, { status: 503, body: "html" }, []],
  ["broken JSON", createConsent, { malformed: true }, ["request_id_form"]],
  ["no response", createConsent, { reset: true }, []],
  ["a 204", endConsent, undefined, ["rate_limit_headers", "request_id_form"]],
])("the trace of %s has the rows of what is in it", (_, request, then, rows) => {
  const traced = new Set<string>();
  for (let seed = 1; seed <= 8; seed++) {
    const faults = then === undefined ? [] : [{ then }];
    const run = conditionedRun({ profile: "varied", faults });
    const sandbox = startFrozen(withEndpoints, { seed, now, run });
    const traces = collectTraces(sandbox);
    ask(sandbox, request);
    for (const { row } of traces.flatMap(({ points }) => points)) traced.add(row);
  }
  expect([...traced].sort()).toEqual(rows);
});

test("the form of a request id varies only where a response has the id", () => {
  const sandbox = startFrozen("key-states", { seed: 2, now, run: conditionedRun({ profile: "varied" }) });
  const traces = collectTraces(sandbox);
  // A probe of a browser or a monitor has no trace.
  const questions = everyQuestion(sandbox).filter(({ path }) => path !== "/");
  const hasId = questions.map((question) => headerOf(ask(sandbox, question), "x-request-id") !== undefined);
  const hasForm = traces.map(({ points }) => points.some(({ row }) => row === "request_id_form"));
  expect(hasForm).toEqual(hasId);
  expect(new Set(hasId).size).toBe(2);
});

test("a run without rows has no header with limits on a 201, and the one of a run with that row is in its trace", () => {
  const limitsOn201 = (rows: RunConditions["rows"]) => {
    const sandbox = startFrozen(withEndpoints, {
      seed: 1,
      now,
      run: conditionedRun({ profile: "varied", ...(rows && { rows }) }),
    });
    const traces = collectTraces(sandbox);
    const { headers } = ask(sandbox, createConsent);
    return [headers.some(([name]) => /ratelimit/i.test(name)), traces.flatMap(({ points }) => points).length];
  };
  expect(limitsOn201([])).toEqual([false, 0]);
  expect(limitsOn201([{ row: "rate_limit_headers", status: 201 }])).toEqual([true, 1]);
});

test("only the rows of a run vary, on the responses of their statuses, with the seed's variants", () => {
  const seed = 4;
  const minimal = responses("minimal", undefined, seed).given;
  const usual = responses("varied", undefined, seed).given;
  const { given } = responses("varied", { rows: [{ row: "content_type", status: 401 }] }, seed);
  for (const [at, response] of given.entries()) {
    const [plain, varied] = [minimal[at], usual[at]] as [typeof response, typeof response];
    const type = headerOf(response.status === 401 ? varied : plain, "content-type");
    expect([response.status, response.body, headerOf(response, "content-type")]).toEqual([
      plain.status,
      plain.body,
      type,
    ]);
    expect(response.headers).toHaveLength(plain.headers.length);
  }
  const types = new Set(given.map((response) => headerOf(response, "content-type")));
  expect(types.size).toBe(2);
});

test("mixed, the nth response with a status has the next variants, except a 401 (R14), and records keep theirs", () => {
  const sandbox = startFrozen("key-states", {
    seed: 3,
    now,
    run: conditionedRun({ profile: "varied", mixed: true }),
  });
  const send = (key: string) => Array.from({ length: 5 }, () => ask(sandbox, { key }));
  const typesOf = (key: string) => new Set(send(key).map((response) => headerOf(response, "content-type")));
  expect([typesOf("active").size, typesOf("revoked").size, typesOf("wrong-scope").size]).toEqual([5, 1, 5]);
  const organizations = send("live").map(({ body }) => JSON.parse(body).data.organization.name);
  expect(new Set(organizations).size).toBe(1);
});

/** What a client gets, and what varied for it, in a sandbox that sets what is there. */
function responsesWithAll(profile: Profile, seed: number, data?: RunConditions) {
  const run = data && conditionedRun(data);
  const assumptions = { profile, www_authenticate: true, error_details: true };
  const sandbox = startFrozen({ ...bundledScenarios["key-states"], assumptions }, { seed, now, run });
  const traces = collectTraces(sandbox);
  const given = ["revoked", "wrong-scope", "rate-limited", "wrong-scope", "rate-limited"].map((key) => {
    const response = ask(sandbox, { key });
    const { details } = JSON.parse(response.body).error;
    return { challenge: headerOf(response, "www-authenticate"), details };
  });
  const points = traces.flatMap(({ points }) => points.map(({ row, variant }) => `${row} ${variant}`));
  return { given, points: points.filter((point) => /^(?:www_authenticate|error_details) /.test(point)) };
}

test("what a sandbox sets to be there is there in every run, and only its form varies", () => {
  const plain = responsesWithAll("minimal", 1).given;
  const points = new Set<string>();
  const challenges = new Set<string | undefined>();
  for (let seed = 1; seed <= 8; seed++) {
    expect(responsesWithAll("varied", seed, { rows: [] })).toEqual({
      given: responsesWithAll("minimal", seed).given,
      points: [],
    });
    for (const data of [{}, { mixed: true }] as const) {
      const varied = responsesWithAll("varied", seed, data);
      for (const point of varied.points) points.add(point);
      for (const { challenge } of varied.given.slice(0, 1)) challenges.add(challenge);
      expect(varied.given.slice(1).filter(({ details }) => details === undefined)).toEqual([]);
    }
  }
  expect(plain[1]?.details).toHaveProperty("required_scope");
  expect([...challenges].sort()).toEqual(["ApiKey", 'ApiKey realm="relying-party"']);
  const forms = ["empty", "help", "something_else"].map((form) => `error_details ${form}`);
  expect([...points].sort()).toEqual([...forms, "www_authenticate bare"]);
});

/** Serves `key-states` under these conditions, and opens its control plane. */
async function serveUnder(conditions: RunConditions) {
  const sandbox = startInNode(resolveSource("key-states"), { seed: 3 }, conditionedRun(conditions));
  const server = await serve(sandbox, { port: 0 });
  onTestFinished(() => server.close(0));
  const control = async (call: string, body?: object) =>
    (await callControl(server.controlUrl, call, body)).body.data;
  return { server, control };
}

test("no reset, scenario or change of the faults replaces the conditions of a run", async () => {
  const { server, control } = await serveUnder({
    profile: "varied",
    faults: faultsOn(["401.missing"], "fault.status"),
    rows: [],
  });
  const me = (base: string, key?: string) =>
    fetch(base + mePath, key === undefined ? {} : { headers: { "x-api-key": key } });
  const expectConditions = async (base: string) => {
    expect((await me(base)).status).toBe(503);
    const rejected = await me(base);
    expect([rejected.status, rejected.headers.get("via")]).toEqual([401, null]);
  };
  await control("PUT /faults", { faults: [] });
  await expectConditions(server.url);
  await control("POST /reset", { profile: "minimal" });
  await expectConditions(server.url);
  await control("PUT /scenario", { name: "rate-limited" });
  await expectConditions(server.url);
});

test("a client sees only its own profile, assumptions and faults, and never the conditions of its run", async () => {
  const { control } = await serveUnder({
    profile: "varied",
    faults: faultsOn(["401.missing"], "fault.status"),
  });
  expect(await control("GET /state")).toMatchObject({
    assumptions: { profile: "minimal", error_details: false },
    faults: [],
  });
  await control("POST /reset", { profile: "typical" });
  expect(await control("GET /assumptions")).toMatchObject({ profile: "typical", retry_after: "seconds" });
});

test("a fault of a run comes before the scenario's, which counts its requests as without it", () => {
  const faults = [{ when: { key: "active", requests: [2] }, then: { status: 500 as const } }];
  const run = conditionedRun({ faults: faultsOn(["200.test"], "fault.status") });
  const sandbox = startFrozen({ ...bundledScenarios["key-states"], faults }, { now, run });
  const seen = collectTraces(sandbox);
  const statuses = () => Array.from({ length: 3 }, () => ask(sandbox, { key: "active" }).status);
  expect(statuses()).toEqual([503, 500, 200]);
  expect(seen.map(({ replaced }) => replaced)).toEqual(["200.test", undefined, undefined]);
  operations.faults(sandbox, []);
  expect(statuses()).toEqual([200, 200, 200]);
  restartSandbox(sandbox);
  expect(statuses()).toEqual([503, 500, 200]);
});

test("a fault of the scenario that is due comes before a rejection of the run, which the next request then gets", () => {
  const faults = [{ when: { key: "active", requests: [1] }, then: { status: 500 as const } }];
  const run = conditionedRun({
    onRequest: {
      which: { kind: "nth", key: "active", nth: 1 },
      gets: { kind: "rejection", as: "401.revoked" },
    },
  });
  const sandbox = startFrozen({ ...bundledScenarios["key-states"], faults }, { now, run });
  const statuses = Array.from({ length: 3 }, () => ask(sandbox, { key: "active" }).status);
  expect(statuses).toEqual([500, 401, 200]);
});

test("what a story's request gets is not counted for the client's next request", () => {
  const [sandbox, other] = [1, 2].map(() => {
    const run = conditionedRun({ profile: "varied", mixed: true });
    return startFrozen("key-states", { seed: 3, now, run });
  }) as [SandboxState, SandboxState];
  const seen = collectTraces(sandbox);
  handle(sandbox, asked({ apiKey: secretToSend(sandbox, "revoked"), fromStory: true }));
  handle(sandbox, asked({ apiKey: secretToSend(sandbox, "active"), fromStory: true }));
  const typeIn = (one: SandboxState) => headerOf(ask(one, { key: "active" }), "content-type");
  expect(typeIn(sandbox)).toBe(typeIn(other));
  expect(seen).toHaveLength(1);
  expect(new Set(seen.flatMap(({ points }) => points.map(({ status }) => status)))).toEqual(new Set([200]));
});

const firstIsUnavailable: OnRequest = {
  which: { kind: "first", outcome: "200.test" },
  gets: { kind: "fault", effect: { status: 503 } },
};

test("a fault of a run hits the first request that may be sent twice, and whose response has a body", () => {
  const run = conditionedRun({ onRequest: firstIsUnavailable });
  const sandbox = startFrozen("key-states", { now, run });
  const statusOf = (method: string) =>
    handle(sandbox, { ...asked({ apiKey: secretToSend(sandbox, "active") }), method }).status;
  expect(["HEAD", "GET", "GET"].map(statusOf)).toEqual([200, 503, 200]);
});

test("a fault of a run leaves a story's request alone", () => {
  const run = conditionedRun({ onRequest: firstIsUnavailable });
  const sandbox = startFrozen("key-states", { now, run });
  const story = handle(sandbox, asked({ apiKey: secretToSend(sandbox, "active"), fromStory: true }));
  expect([story.status, ask(sandbox, { key: "active" }).status]).toEqual([200, 503]);
});
