import assert from "node:assert/strict";
import { test } from "node:test";
import { setupServer } from "msw/node";
import { createSandbox } from "svc-sandbox";
import { createHandlers } from "svc-sandbox/msw";

test("a page on the API's origin calls it by XMLHttpRequest", async () => {
  const sandbox = createSandbox({ scenario: "key-states", frozen: true });
  const server = setupServer(...createHandlers(sandbox, { baseUrl: "https://api.example" }));
  server.listen({ onUnhandledRequest: "error" });
  try {
    const call = new XMLHttpRequest();
    call.open("GET", "https://api.example/v1/relying-party/me");
    call.setRequestHeader("x-api-key", sandbox.secret("active"));
    await new Promise((resolve, reject) => {
      call.onload = resolve;
      call.onerror = () => reject(new Error("It was blocked."));
      call.send();
    });
    assert.equal(call.status, 200);
  } finally {
    server.close();
  }
});
