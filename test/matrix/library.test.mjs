import assert from "node:assert/strict";
import { test } from "node:test";
import { createSandbox, parseScenario, SandboxError, ScenarioError, scenarioNames } from "svc-sandbox";

const me = "https://any.example/v1/relying-party/me";
const statusOf = async (sandbox, key) =>
  (await sandbox.fetch(new Request(me, { headers: { "x-api-key": key } }))).status;

test("a sandbox responds with web responses", async () => {
  const sandbox = createSandbox({ scenario: "key-states" });
  const active = await sandbox.fetch(me, { headers: { "x-api-key": sandbox.secret("active") } });
  assert.equal(active.status, 200);
  assert.equal((await active.json()).data.organization.name, "Harvest Cooperative Bank");
  assert.equal(await statusOf(sandbox, sandbox.secret("revoked")), 401);
});

test("its clock, keys and organizations change what it responses", async () => {
  const sandbox = createSandbox({ scenario: "key-states", frozen: true });
  const limited = sandbox.secret("rate-limited-minute");
  assert.equal(await statusOf(sandbox, limited), 429);
  sandbox.clock.advance("61s");
  assert.equal(await statusOf(sandbox, limited), 200);
  const active = sandbox.secret("active");
  const { secret } = sandbox.keys.rotate("active", { overlap: 0 });
  assert.deepEqual([await statusOf(sandbox, active), await statusOf(sandbox, secret)], [401, 200]);
  sandbox.organizations.update("harvest-bank", { status: "inactive" });
  assert.equal(await statusOf(sandbox, secret), 403);
  sandbox.reset();
  assert.equal(await statusOf(sandbox, active), 200);
});

test("scenarios are parsed, errors are of exported classes, and the clock follows the runner's own Date", async () => {
  const text =
    "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test, expires: 10m } } } }\n";
  const sandbox = createSandbox({ scenario: parseScenario(text) });
  assert.equal(await statusOf(sandbox, sandbox.secret("main")), 200);
  const { now } = Date;
  try {
    Date.now = () => now() + 11 * 60_000;
    assert.equal(await statusOf(sandbox, sandbox.secret("main")), 401);
  } finally {
    Date.now = now;
  }
  assert.throws(() => parseScenario("version: 1\norganisations: {}\n"), ScenarioError);
  assert.throws(() => createSandbox().keys.revoke("nobody"), SandboxError);
  assert.ok(scenarioNames.includes("key-states"));
});
