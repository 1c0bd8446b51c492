import assert from "node:assert/strict";
import { test } from "node:test";
import { createSandbox, guard, parseScenario, SandboxError, ScenarioError, scenarioNames } from "svc-sandbox";

const me = "https://any.example/v1/relying-party/me";

test("a sandbox answers with web responses", async () => {
  const sandbox = createSandbox({ scenario: "key-states" });
  const active = await sandbox.fetch(me, { headers: { "x-api-key": sandbox.secret("active") } });
  assert.equal(active.status, 200);
  assert.equal((await active.json()).data.organization.name, "Harvest Cooperative Bank");
  const revoked = await sandbox.fetch(
    new Request(me, { headers: { "x-api-key": sandbox.secret("revoked") } }),
  );
  assert.equal(revoked.status, 401);
  assert.equal((await revoked.json()).error.code, "unauthorized");
});

test("its clock, keys and organizations change what it answers", async () => {
  const sandbox = createSandbox({ scenario: "key-states", frozen: true });
  const status = async (key) => (await sandbox.fetch(me, { headers: { "x-api-key": key } })).status;
  assert.equal(await status(sandbox.secret("rate-limited-minute")), 429);
  sandbox.clock.advance("61s");
  assert.equal(await status(sandbox.secret("rate-limited-minute")), 200);
  const { secret } = sandbox.keys.rotate("active", { overlap: 0 });
  assert.equal(await status(sandbox.secret("active")), 401);
  assert.equal(await status(secret), 200);
  sandbox.organizations.update("harvest-bank", { status: "inactive" });
  assert.equal(await status(secret), 403);
  sandbox.reset();
  assert.equal(await status(sandbox.secret("active")), 200);
});

test("the clock follows the runner's own Date", async () => {
  const sandbox = createSandbox({
    scenario: {
      version: 1,
      organizations: { bank: { type: "bank", keys: { main: { environment: "test", expires: "10m" } } } },
    },
  });
  const status = async () =>
    (await sandbox.fetch(me, { headers: { "x-api-key": sandbox.secret("main") } })).status;
  assert.equal(await status(), 200);
  const { now } = Date;
  try {
    Date.now = () => now() + 11 * 60_000;
    assert.equal(await status(), 401);
  } finally {
    Date.now = now;
  }
});

test("scenarios are parsed, and errors are of the classes that the door exports", () => {
  const text = "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";
  assert.equal(parseScenario(text).organizations.bank.type, "bank");
  assert.throws(() => parseScenario("version: 1\norganisations: {}\n"), ScenarioError);
  assert.throws(() => createSandbox().keys.revoke("nobody"), SandboxError);
  assert.ok(scenarioNames.includes("key-states"));
});

test("the gate stands before an endpoint of one's own", () => {
  const sandbox = createSandbox();
  const request = (headers) => new Request("https://any.example/v1/relying-party/attestations", { headers });
  assert.equal(guard(request({}), { sandbox }).refusal.status, 401);
  const { caller } = guard(request({ "x-api-key": sandbox.secret("active") }), { sandbox });
  assert.equal(caller.key.ref, "active");
});
