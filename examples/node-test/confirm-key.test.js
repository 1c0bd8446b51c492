import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { startServer } from "svc-sandbox/node";
import { confirmKey } from "./confirm-key.js";

// Frozen: the clock moves only when a test moves it.
const server = await startServer({ scenario: "key-states", frozen: true });
const { sandbox, url: baseUrl } = server;

beforeEach(() => sandbox.reset());
after(() => server.close());

/** Moves the sandbox's clock instead of waiting. */
const wait = async (milliseconds) => void sandbox.clock.advance(milliseconds);

const confirm = (apiKey) => confirmKey({ baseUrl, apiKey, wait });

test("a good key is confirmed", async () => {
  const { result, organization, environment, usage } = await confirm(sandbox.secret("active"));
  assert.deepEqual(
    [result, organization.name, environment],
    ["confirmed", "Harvest Cooperative Bank", "test"],
  );
  assert.equal(usage.today, 1);
});

for (const ref of ["revoked", "expired", "rotated"]) {
  test(`a key that is ${ref} is rejected, and sent once`, async () => {
    assert.deepEqual(await confirm(sandbox.secret(ref)), { result: "rejected" });
    assert.equal(sandbox.requests.total(), 1);
  });
}

const refusals = {
  "wrong-scope": "insufficient_scope",
  "live-not-approved": "live_access_not_approved",
  "live-suspended": "live_access_not_approved",
  "organization-inactive": "access_denied",
};
for (const [ref, code] of Object.entries(refusals)) {
  test(`the key ${ref} gets ${code}`, async () => {
    assert.deepEqual(await confirm(sandbox.secret(ref)), { result: "refused", code });
  });
}

test("after a 429 the client waits for the next minute", async () => {
  assert.equal((await confirm(sandbox.secret("rate-limited-minute"))).result, "confirmed");
  assert.deepEqual(
    sandbox.requests.list().map(({ status }) => status),
    [429, 200],
  );
});

test("the client gives up when the limit stays used up", async () => {
  assert.deepEqual(await confirm(sandbox.secret("rate-limited")), { result: "limited" });
  assert.equal(sandbox.requests.total(), 3);
});

test("after a rotation both keys work until the overlap ends", async () => {
  const { secret } = sandbox.keys.rotate("active", { overlap: "60m" });
  assert.equal((await confirm(sandbox.secret("active"))).result, "confirmed");
  sandbox.clock.advance("61m");
  assert.equal((await confirm(sandbox.secret("active"))).result, "rejected");
  assert.equal((await confirm(secret)).result, "confirmed");
});
