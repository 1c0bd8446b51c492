import { expect, test } from "vitest";
import { createSandbox, type Scenario } from "../../src/index.js";
import { serveControl } from "../control/client.js";
import { mePath } from "../support/send.js";

const headers = (key: string) => ({ headers: { "x-api-key": key } });

test("an outcome that the sandbox does not have is refused with its hint", async () => {
  const endpoints = { listConsents: { path: "/consents" } };
  const sandbox = createSandbox({ scenario: { version: 1, extends: "active", endpoints } as Scenario });
  expect(sandbox.requests.list({ outcome: "200.listConsents" })).toEqual([]);
  for (const [outcome, meant] of [
    ["200.tset", "200.test"],
    ["200.listConsent", "200.listConsents"],
  ] as const) {
    expect(() => sandbox.requests.list({ outcome })).toThrow(
      expect.objectContaining({
        code: "validation_failed",
        message: expect.stringContaining(`Did you mean "${meant}"`),
      }),
    );
  }
  const { ask } = await serveControl();
  for (const path of [
    "/expect?outcome=200.nosuch&count=0",
    "/requests?outcome=200.nosuch",
    "/expect?key=nosuch",
  ]) {
    expect([path, (await ask(path)).status]).toEqual([path, path.includes("key") ? 404 : 422]);
  }
  for (const path of ["/expect?key=none&count=0", "/expect?key=unknown&count=0", "/requests?key=malformed"]) {
    expect([path, (await ask(path)).status]).toEqual([path, 200]);
  }
});

test("GET /expect gets 200 or 409, counts requests of clients only, and shows no key", async () => {
  const { server, ask } = await serveControl();
  const wanted = "/expect?outcome=401.revoked&key=revoked&count=1";
  const before = await ask(wanted);
  expect([before.status, before.body.error]).toMatchObject([
    409,
    { code: "expectation_failed", details: { found: 0 } },
  ]);
  await ask("/send", { method: "POST", json: { key: "revoked" } });
  expect((await ask(wanted)).status).toBe(409);
  const revoked = server.sandbox.secret("revoked");
  await fetch(server.url + mePath, headers(revoked));
  const after = await ask(wanted);
  expect([after.status, after.body]).toEqual([200, { data: { count: 1 } }]);
  await fetch(server.url + mePath, headers(revoked));
  const twice = await ask(wanted);
  expect([twice.status, twice.body.error.details]).toEqual([409, { found: 2 }]);
  expect(twice.text).not.toContain(revoked.slice(-12));
});
