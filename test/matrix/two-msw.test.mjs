import assert from "node:assert/strict";
import { test } from "node:test";
import { setupServer } from "msw3/node";
import { createSandbox } from "svc-sandbox";
import { createHandlers } from "svc-sandbox/msw";

// As in a workspace whose root has msw 2, which svc-sandbox loads, and whose package has msw 3.
test("handlers made with msw 2 respond in a server of msw 3", async () => {
  const faults = [{ when: { key: "live" }, then: { reset: true } }];
  const sandbox = createSandbox({ scenario: "key-states" });
  sandbox.faults.set(faults);
  const server = setupServer(...createHandlers(sandbox, { baseUrl: "https://api.example" }));
  server.listen({ onUnhandledRequest: "error" });
  const statusOf = (ref, path = "me") => {
    const headers = { "x-api-key": sandbox.secret(ref) };
    return fetch(`https://api.example/v1/relying-party/${path}`, { headers }).then(({ status }) => status);
  };
  assert.deepEqual(
    [await statusOf("active"), await statusOf("revoked"), await statusOf("active", "nothing")],
    [200, 401, 404],
  );
  await assert.rejects(statusOf("live"));
  server.close();
});
