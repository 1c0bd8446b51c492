import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { clientEnvironment } from "../../src/cli/env-file.js";
import { createSandbox, type Sandbox } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { clientReport } from "../../src/report/report.js";
import type { HowToCover, Report } from "../../src/report/report-shape.js";
import { type OutcomeId, outcomes } from "../../src/rules/outcomes.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { snapshot } from "../support/continued.js";
import { requested } from "../support/requested.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";

const keyStates = bundledScenarios["key-states"] as Scenario;

/** Sandboxes that differ in how to cover each outcome. */
const scenarios: Readonly<Record<string, string | Scenario>> = {
  "key-states": "key-states",
  "a story without keys": "onboarding",
  "announced-endpoints": "announced-endpoints",
  "faults that come and go": "bad-day",
  "no scenario key at all": { version: 1, organizations: { bank: { type: "bank" } } },
  "all requests fail": { ...keyStates, faults: [{ then: { status: 503 } }] },
  "some requests fail": { ...keyStates, faults: [{ when: { probability: 0.5 }, then: { reset: true } }] },
  "failures by path": {
    ...keyStates,
    faults: [
      { when: { outcome: "401.missing" }, then: { malformed: true } },
      { when: { outcome: "200.test" }, then: { latency: "1ms" } },
    ],
  },
  "an endpoint has each path of the API's folder": {
    ...keyStates,
    endpoints: { readAny: { path: "/v1/relying-party/{id}", body: {} } },
  },
  "no scope is needed": { ...keyStates, assumptions: { me_scope: null } },
  "a real-looking key is pinned": {
    version: 1,
    organizations: {
      bank: { type: "bank", keys: { pinned: { environment: "test", secret: "SVC_test_9f8e7d6c5b4a" } } },
    },
  },
};

function hintFor(sandbox: Sandbox, outcome: OutcomeId): HowToCover {
  const hint = sandbox.report().outcomes.find((row) => row.outcome === outcome)?.howToCover;
  if (!hint) throw new Error(`The report has no instruction for ${outcome}.`);
  return hint;
}

/** Runs the line of a hint as a shell runs it, until the sandbox has covered the request. */
async function follow(line: string, sandbox: Sandbox, environment: Record<string, string>): Promise<void> {
  const child = spawn("bash", ["-c", `exec ${line}`], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  await requested(sandbox);
  child.kill();
  await ended;
}

async function serve(scenario: string | Scenario, tls = false) {
  const server = await served({ scenario, tls });
  const sandbox = stateOf(server.sandbox);
  const environment = () => clientEnvironment(sandbox, { url: server.url, controlUrl: server.controlUrl });
  return { sandbox: server.sandbox as Sandbox, environment };
}

/** What was followed on a fresh sandbox of another scenario, which is the same for every scenario that runs. */
const followed = new Set<string>();

test.each(Object.entries(scenarios))("%s: the report's steps cover the outcome", async (_name, scenario) => {
  const running = await serve(scenario);
  const others = new Map<string, Awaited<ReturnType<typeof serve>>>();
  for (const { id: outcome } of outcomes) {
    running.sandbox.requests.clear();
    const hint = hintFor(running.sandbox, outcome);
    const { scenario: other, curl } = hint;
    if (other !== null && followed.has(other + curl)) continue;
    if (other !== null) followed.add(other + curl);
    if (other !== null && !others.has(other)) others.set(other, await serve(other));
    if (hint.reset) running.sandbox.reset();
    const { sandbox, environment } = other === null ? running : (others.get(other) as typeof running);
    sandbox.requests.clear();
    await follow(curl, sandbox, environment());
    const report = sandbox.report();
    expect([hint, report.outcomes.find((row) => row.outcome === outcome)?.count]).toEqual([hint, 1]);
    expect(report.advice.filter(({ level }) => level === "error")).toEqual([]);
  }
});

test("a key of the running sandbox is preferred to another scenario", async () => {
  const { sandbox } = await serve("key-states");
  expect(sandbox.report().outcomes.filter(({ howToCover }) => howToCover?.scenario)).toEqual(
    sandbox.report().outcomes.filter(({ outcome }) => outcome.startsWith("fault.")),
  );
  expect(hintFor(sandbox, "401.revoked")).toEqual({
    ...{ ref: "revoked", request: { method: "GET", path: "/v1/relying-party/me" } },
    ...{ scenario: null, reset: false, text: "send SVC_KEY_REVOKED" },
    curl: 'curl -H "x-api-key: $SVC_KEY_REVOKED" "$SVC_BASE_URL/v1/relying-party/me"',
  });
});

test("over TLS the instructions accept the certificate", async () => {
  const { sandbox, environment } = await serve("key-states", true);
  const { curl } = hintFor(sandbox, "401.revoked");
  expect(curl).toMatch(/^curl -k /);
  await follow(curl, sandbox, environment());
  expect(sandbox.report().outcomes.find(({ outcome }) => outcome === "401.revoked")?.covered).toBe(true);
});

test("an outcome that the running scenario offers at its start only is brought back by a reset", async () => {
  const { sandbox, environment } = await serve("key-states");
  sandbox.clock.advance("61s");
  const hint = hintFor(sandbox, "429.per_minute");
  expect(hint.text).toMatch(
    /^reset the sandbox \(curl -X POST -H content-type:application\/json \$SVC_CONTROL_URL\/reset\), then send SVC_KEY_RATE_LIMITED_MINUTE$/,
  );
  expect(hint).toMatchObject({ scenario: null, reset: true });
  sandbox.reset();
  await follow(hint.curl, sandbox, environment());
  expect(sandbox.requests.list({ outcome: "429.per_minute" })).toHaveLength(1);
});

test("a fault that fires no more is not in the way of an outcome", async () => {
  const faults: Scenario["faults"] = [
    { when: { outcome: "200.test", requests: [1] }, then: { reset: true } },
    { when: { until: "2020-01-01T00:00:00Z" }, then: { reset: true } },
  ];
  const { sandbox, environment } = await serve({ ...keyStates, faults });
  const { curl } = hintFor(sandbox, "200.live");
  expect([hintFor(sandbox, "200.test").scenario, hintFor(sandbox, "200.live").scenario]).toEqual([
    "key-states",
    null,
  ]);
  await follow(curl.replace("LIVE", "ACTIVE"), sandbox, environment());
  expect(sandbox.requests.list().map(({ fault }) => fault)).toEqual(["fault.reset"]);
  expect(hintFor(sandbox, "200.test").scenario).toBeNull();
});

test("a fault with a probability of 1, or on every request, is as certain as one without a condition", async () => {
  const instructions: HowToCover[] = [];
  for (const when of [{}, { probability: 1 }, { every: 1 }]) {
    const { sandbox } = await serve({ ...keyStates, faults: [{ when, then: { status: 503 } }] });
    instructions.push(hintFor(sandbox, "fault.status"));
  }
  const [unconditional, ...others] = instructions;
  expect(unconditional?.scenario).toBeNull();
  expect(others).toEqual([unconditional, unconditional]);
});

test("under exec, whose sandbox has stopped, an outcome of the start comes back with another run", async () => {
  const { sandbox } = await serve("key-states");
  sandbox.clock.advance("61s");
  const { outcomes: rows } = clientReport(stateOf(sandbox), undefined, true);
  const hint = rows.find(({ outcome }) => outcome === "429.per_minute")?.howToCover;
  expect(hint).toMatchObject({ scenario: "key-states", reset: false });
  expect(hint?.text).toBe("run exec with the scenario key-states, then send SVC_KEY_RATE_LIMITED_MINUTE");
});

test("the steps name the method and the path unless they are those of /me, and an unknown path is none of an endpoint", async () => {
  const endpoints = { readAny: { path: "/v1/relying-party/{id}", body: {} } };
  const { sandbox } = await serve({ ...keyStates, endpoints } as Scenario);
  const texts = (["401.missing", "200.test", "404.unknown_path", "405.method", "200.readAny"] as const).map(
    (outcome) => hintFor(sandbox, outcome).text,
  );
  expect(texts).toEqual([
    "send no key",
    "send SVC_KEY_ACTIVE",
    "send GET /v1/relying-party/nothing/nothing without a key",
    "send DELETE /v1/relying-party/me without a key",
    "send GET /v1/relying-party/1 with SVC_KEY_ACTIVE",
  ]);
});

test("an outcome that was covered has no instruction, and asking for the report changes nothing", async () => {
  const { sandbox } = await serve("rate-limited");
  sandbox.clock.freeze();
  const before = JSON.stringify(snapshot(sandbox));
  sandbox.report();
  expect(JSON.stringify(snapshot(sandbox))).toBe(before);
  expect(sandbox.requests.total()).toBe(0);
  await sandbox.fetch("https://any.example/v1/relying-party/me");
  expect(sandbox.report().outcomes.find(({ outcome }) => outcome === "401.missing")).toEqual({
    ...{ outcome: "401.missing", promised: true, covered: true, count: 1, when: "no x-api-key header" },
    howToCover: null,
  });
});

test("the report of a test's own sandbox names its members, in place of variables and calls that only servers have", async () => {
  const endpoints = { readOne: { path: "/v1/one/{id}", body: {} } };
  const sandbox = createSandbox({ scenario: { ...keyStates, endpoints } as Scenario });
  const texts = (["401.revoked", "401.malformed", "401.missing", "405.method", "200.readOne"] as const).map(
    (outcome) => hintFor(sandbox, outcome).text,
  );
  expect(texts).toEqual([
    'send sandbox.secret("revoked")',
    'send sandbox.secret("malformed")',
    "send no key",
    "send DELETE /v1/relying-party/me without a key",
    'send GET /v1/one/1 with sandbox.secret("active")',
  ]);
  for (const key of ["SVC_live_abc", "SVC_test_abc"]) {
    await sandbox.fetch(`https://any.example${mePath}`, { headers: { "x-api-key": key } });
  }
  const report = JSON.stringify([sandbox.report().advice, sandbox.report().outcomes.map(withoutCurl)]);
  expect(report).toContain('send sandbox.secret(\\"unknown\\") or sandbox.secret(\\"malformed\\")');
  expect(report).not.toContain("SVC_KEY");
});

/** An outcome without its command, which is for shells with variables. */
function withoutCurl({ howToCover, ...row }: Report["outcomes"][number]) {
  return { ...row, howToCover: howToCover && { ...howToCover, curl: "" } };
}

test("the report of a test's own sandbox resets it by its member", () => {
  const sandbox = createSandbox();
  sandbox.clock.advance("61s");
  const { reset, text } = hintFor(sandbox, "429.per_minute");
  expect([reset, text]).toEqual([
    true,
    'call sandbox.reset(), then send sandbox.secret("rate-limited-minute")',
  ]);
  sandbox.reset();
  expect(hintFor(sandbox, "429.per_minute").reset).toBe(false);
});
