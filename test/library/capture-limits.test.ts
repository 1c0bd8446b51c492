import { expect, onTestFinished, test } from "vitest";
import { storySender } from "../../src/api/story-sender.js";
import { createSandbox, parseScenario, type Sandbox, type Scenario } from "../../src/index.js";
import { captureText } from "../../src/library/capture.js";
import { sandboxOn, stateOf } from "../../src/library/create-sandbox.js";
import { nodePlatform, startInNode } from "../../src/node/platform.js";
import { findKeys } from "../../src/rules/redact.js";
import { runDue } from "../../src/sandbox/operations/operations.js";
import { describeSandbox, restoreSandbox } from "../../src/sandbox/start.js";
import { runStory, stepProblems } from "../../src/sandbox/story/run-step.js";
import { control } from "../support/call-control.js";
import { mePath } from "../support/doors.js";
import { noRedis, startRedis } from "../support/redis-server.js";
import { startReplica } from "../support/replicas.js";

const url = `https://any.example${mePath}`;

const scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    bank: {
      type: "bank",
      keys: { main: { environment: "test", limits: { per_minute: 700, per_day: 1_000_000 } } },
    },
  },
} as const satisfies Scenario;

async function send(sandbox: Sandbox, times = 1): Promise<void> {
  const headers = { "x-api-key": sandbox.secret("main") };
  for (let sent = 0; sent < times; sent++) await sandbox.fetch(url, { headers });
}

/** The statuses of a captured file, which has to come out as it says. */
function provenStatuses(text: string): number[] {
  const sandbox = startInNode(parseScenario(text), { frozen: true });
  expect(runStory(sandbox, storySender(sandbox)).flatMap(stepProblems)).toEqual([]);
  return sandbox.history.requests().map(({ status }) => status);
}

const capturedStatuses = (sandbox: Sandbox) => provenStatuses(captureText(runDue(stateOf(sandbox))));

test("the end of a long session is captured, with the limits at that time", async () => {
  const sandbox = createSandbox({ scenario });
  await send(sandbox, 2_000);
  sandbox.clock.advance("61s");
  await send(sandbox, 650);
  sandbox.keys.rotate("main", { overlap: "10s" });
  await send(sandbox, 60);
  const statuses = capturedStatuses(sandbox);
  expect(sandbox.capture().description).toMatch(/ It starts after request \d{4}\.$/);
  expect(statuses.length).toBeGreaterThanOrEqual(480);
  expect(statuses.length).toBeLessThan(960);
  const seen = sandbox.requests.list().map(({ status }) => status);
  expect(statuses).toEqual(seen.slice(-statuses.length));
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  // Clearing the requests begins anew.
  sandbox.requests.clear();
  expect(() => sandbox.capture()).toThrow(/the sandbox got no request yet, or none since its reset\.$/);
  await send(sandbox);
  expect(capturedStatuses(sandbox)).toEqual([429]);
});

test("a capture has what a member tried, but no call that was wrong in itself", async () => {
  const sandbox = createSandbox({ scenario });
  expect(() => sandbox.keys.revoke("main", { actor: "member" })).toThrow();
  expect(() => sandbox.keys.revoke("nothing" as "main")).toThrow();
  await send(sandbox);
  expect(sandbox.capture().story).toMatchObject([
    { revoke: { key: "main", actor: "member" }, expect: { error: "not_an_administrator" } },
    { say: expect.any(String) },
    { request: { key: "main" }, expect: { status: 200 } },
  ]);
});

test("a thousand operations do not outgrow a story", async () => {
  const sandbox = createSandbox({ scenario });
  await send(sandbox);
  for (let i = 0; i < 1_200; i++) {
    sandbox.organizations.update("bank", { status: i % 2 === 0 ? "inactive" : "active" });
    if (i % 100 === 0) await send(sandbox);
  }
  const statuses = capturedStatuses(sandbox);
  expect(statuses.length).toBeGreaterThan(3);
  expect(new Set(statuses)).toEqual(new Set([403]));
});

test("a sandbox with many keys is captured until it has more requests than a journal", async () => {
  const sandbox = createSandbox({
    scenario: { ...scenario, population: { organizations: 300, keys_per_organization: 2 } },
  });
  await send(sandbox, 900);
  expect(capturedStatuses(sandbox)).toHaveLength(900);
  await send(sandbox, 200);
  expect(() => sandbox.capture()).toThrow(/as it has too many keys or records to copy\. Reset it/);
  sandbox.reset();
  await send(sandbox);
  expect(capturedStatuses(sandbox)).toEqual([200]);
});

test("a sandbox that continues after a restart is captured from the restart", async () => {
  const before = createSandbox({ scenario, seed: 4 });
  await send(before, 3);
  const { secret } = before.keys.create({ organization: "bank", environment: "test", name: "Made" });
  before.keys.revoke("main");
  const saved = JSON.parse(JSON.stringify(describeSandbox(stateOf(before))));
  const after = sandboxOn(restoreSandbox(saved, nodePlatform, {}));
  await after.fetch(url, { headers: { "x-api-key": secret } });
  await send(after);
  const text = captureText(runDue(stateOf(after)));
  expect(provenStatuses(text)).toEqual([200, 401]);
  expect([text.includes("sha256"), text.includes("request: { key: made }")]).toEqual([false, true]);
});

test("a captured story can be captured again", async () => {
  const sandbox = createSandbox({ scenario });
  await send(sandbox, 2);
  const first = captureText(runDue(stateOf(sandbox)));
  const state = startInNode(parseScenario(first), { frozen: true });
  runStory(state, storySender(state));
  expect(provenStatuses(captureText(state))).toEqual([200, 200]);
});

test("probes of any server stay in a capture without expectations, as later responses may depend on their number", async () => {
  const sandbox = createSandbox({ scenario: "active", profile: "varied" });
  const call = (path: string, key = "") =>
    sandbox.fetch(`https://any.example${path}`, key === "" ? {} : { headers: { "x-api-key": key } });
  await call("/v1/relying-party/me", sandbox.secret("active"));
  await call("/healthz");
  await call("/v1/relying-party/me", sandbox.secret("active"));
  const steps = sandbox.capture().story ?? [];
  expect(steps.map(({ request, expect: expected }) => [request?.path, expected?.status])).toEqual([
    [undefined, 200],
    ["/healthz", undefined],
    [undefined, 200],
  ]);
});

test.skipIf(noRedis)("any replica of a store captures all replicas' requests since compaction", async () => {
  const redis = await startRedis();
  onTestFinished(redis.close);
  // A busy machine may be silent for longer than two seconds.
  const patient = { timeout: 60_000 };
  const replicas = [
    await startReplica(redis.url, scenario, patient),
    await startReplica(redis.url, scenario, patient),
  ];
  onTestFinished(async () => void (await Promise.all(replicas.map((one) => one.close(0)))));
  const [one, other] = replicas as [(typeof replicas)[0], (typeof replicas)[0]];
  const headers = { "x-api-key": one.copy.secret("main") };
  for (const { url: base } of [one, other, one]) await (await fetch(base + mePath, { headers })).text();
  await control(other.controlUrl, "POST /keys/main/revoke");
  await (await fetch(one.url + mePath, { headers })).text();
  const texts = await Promise.all(
    replicas.map(async ({ controlUrl }) => (await fetch(`${controlUrl}/capture`)).text()),
  );
  expect(texts[0]).toBe(texts[1]);
  expect(provenStatuses(texts[0] as string)).toEqual([200, 200, 200, 401]);
});

test("R46 a capture has no key, also if a scenario has one in its texts, and gives the same responses", async () => {
  const key = "SVC_test_9f8e7d6c5b4a39281706f5e4d3c2b1a0";
  const { bank } = scenario.organizations;
  const named = { ...scenario, name: key, organizations: { bank: { ...bank, name: `The bank of ${key}` } } };
  const sandbox = createSandbox({ scenario: named });
  await send(sandbox);
  const text = captureText(runDue(stateOf(sandbox)));
  expect(findKeys(text)).toEqual([]);
  expect(text).toContain("name: The bank of SVC_test_…");
  expect(provenStatuses(text)).toEqual([200]);
});
