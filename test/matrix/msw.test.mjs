import assert from "node:assert/strict";
import { test } from "node:test";
import { setupServer } from "msw/node";
import { createSandbox } from "svc-sandbox";
import { createHandlers, handlers, sandbox as ready } from "svc-sandbox/msw";

/** Calls the API through the global `fetch`. */
const statusOf = async (key, host = "api.example") => {
  const headers = key === undefined ? {} : { "x-api-key": key };
  return (await fetch(`https://${host}/v1/relying-party/me`, { headers })).status;
};

test("handlers respond the global fetch, as the sandbox is when the request comes", async () => {
  const sandbox = createSandbox({ scenario: "key-states", frozen: true });
  const server = setupServer(...createHandlers(sandbox, { baseUrl: "https://api.example" }));
  server.listen({ onUnhandledRequest: "error" });
  try {
    assert.equal(await statusOf(sandbox.secret("active")), 200);
    assert.equal(await statusOf(undefined), 401);
    assert.equal(await statusOf(sandbox.secret("rate-limited-minute")), 429);
    sandbox.clock.advance("61s");
    assert.equal(await statusOf(sandbox.secret("rate-limited-minute")), 200);
    const { secret } = sandbox.keys.rotate("active", { overlap: "60m" });
    assert.deepEqual([await statusOf(sandbox.secret("active")), await statusOf(secret)], [200, 200]);
    sandbox.clock.advance("61m");
    assert.deepEqual([await statusOf(sandbox.secret("active")), await statusOf(secret)], [401, 200]);
    assert.equal(sandbox.requests.list().at(-2).outcome, "401.rotated");
    await assert.rejects(statusOf(secret, "other.example"));
  } finally {
    server.close();
  }
});

test("the ready handlers respond for the ready sandbox, on any host", async () => {
  const server = setupServer(...handlers);
  server.listen({ onUnhandledRequest: "error" });
  try {
    assert.equal(await statusOf(ready.secret("active"), "one.example"), 200);
    assert.equal(await statusOf(ready.secret("revoked"), "two.example"), 401);
  } finally {
    server.close();
  }
});
