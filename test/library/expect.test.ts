import { expect, test } from "vitest";
import { createSandbox, type Scenario } from "../../src/index.js";
import { serveControl } from "../control/client.js";
import { mePath } from "../support/send.js";

const headers = (key: string) => ({ headers: { "x-api-key": key } });

/** A sandbox that got four requests: three with `revoked`, and one with `active`. */
async function used() {
  const sandbox = createSandbox();
  for (const ref of ["revoked", "active", "revoked", "revoked"] as const) {
    await sandbox.fetch(`https://api.example${mePath}`, headers(sandbox.secret(ref)));
  }
  return sandbox;
}

test.each([
  [{ outcome: "401.revoked", key: "revoked", count: 3 }, 3],
  [{ outcome: "401.revoked" }, 3],
  [{ key: "active" }, 1],
  [{ outcome: "401.expired", count: 0 }, 0],
  [{}, 4],
] as const)("expect %j finds %i requests", async (expectation, found) => {
  expect((await used()).expect(expectation)).toBe(found);
});

test.each([
  [
    { outcome: "401.revoked", key: "revoked", count: 1 },
    3,
    ["401.revoked", "401.revoked", "401.revoked", "200.test"],
  ],
  // The nearest has one of both; of equal ones, the latest is first.
  [{ outcome: "200.live", key: "active" }, 0, ["200.test", "401.revoked", "401.revoked", "401.revoked"]],
  [{ key: "active", count: 0 }, 1, ["200.test", "401.revoked", "401.revoked", "401.revoked"]],
] as const)("expect %j throws with the nearest requests", async (expectation, found, nearest) => {
  const sandbox = await used();
  const [code, details] = failureOf(() => sandbox.expect(expectation));
  const outcomes = details.nearest.map(({ outcome }: { outcome: string }) => outcome);
  expect([code, details.found, outcomes]).toEqual(["expectation_failed", found, nearest]);
});

test("a request without a key of the sandbox is found by the word for it, also under a fault", async () => {
  const sandbox = createSandbox({ frozen: true });
  const send = (init?: RequestInit) =>
    sandbox.fetch(`https://api.example${mePath}`, init).catch(() => undefined);
  await send();
  await send(headers(sandbox.secret("malformed")));
  await send(headers(sandbox.secret("unknown")));
  sandbox.faults.set([{ then: { reset: true } }]);
  await send();
  for (const [key, count] of [
    ["none", 2],
    ["malformed", 1],
    ["unknown", 1],
  ] as const) {
    expect(sandbox.expect({ key, count })).toBe(count);
    expect(sandbox.requests.list({ key })).toHaveLength(count);
  }
  expect(sandbox.expect({ key: "none", outcome: "fault.reset", count: 1 })).toBe(1);
});

test("an outcome that the sandbox does not have is refused with its hint", async () => {
  const endpoints = { listConsents: { path: "/consents" } };
  const sandbox = createSandbox({ scenario: { version: 1, extends: "active", endpoints } as Scenario });
  expect(sandbox.expect({ outcome: "200.listConsents", count: 0 })).toBe(0);
  for (const [outcome, meant] of [
    ["200.tset", "200.test"],
    ["200.listConsent", "200.listConsents"],
  ] as const) {
    for (const ask of [
      () => sandbox.expect({ outcome, count: 0 }),
      () => sandbox.requests.list({ outcome }),
    ]) {
      expect(ask).toThrow(
        expect.objectContaining({
          code: "validation_failed",
          message: expect.stringContaining(`Did you mean "${meant}"`),
        }),
      );
    }
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

test("expect checks its input, and shows at most five requests", async () => {
  const sandbox = await used();
  expect(failureOf(() => sandbox.expect({ key: "revokd" as "revoked" }))[0]).toBe("unknown_ref");
  expect(failureOf(() => sandbox.expect({ count: -1 }))[0]).toBe("validation_failed");
  for (const _ of [1, 2, 3]) await sandbox.fetch(`https://api.example${mePath}`);
  expect(failureOf(() => sandbox.expect({ count: 1 }))[1].nearest).toHaveLength(5);
});

test("expect counts the journal, and shows that it no longer has all requests", async () => {
  const sandbox = createSandbox();
  for (let sent = 0; sent <= 1000; sent++) await sandbox.fetch(`https://api.example${mePath}`);
  expect(sandbox.expect({ outcome: "401.missing", count: 1000 })).toBe(1000);
  expect(() => sandbox.expect({ outcome: "401.missing", count: 1001 })).toThrow(
    /found 1000\..* The journal has only the last 1000 of 1001 requests; the report counts all\.$/,
  );
});

test("GET /expect gets 200 or 409, counts requests of clients only, and shows no key", async () => {
  const { server, ask } = await serveControl();
  const wanted = "/expect?outcome=401.revoked&key=revoked&count=1";
  const before = await ask(wanted);
  expect([before.status, before.body.error]).toMatchObject([
    409,
    { code: "expectation_failed", details: { nearest: [] } },
  ]);
  await ask("/send", { method: "POST", json: { key: "revoked" } });
  expect((await ask(wanted)).status).toBe(409);
  const revoked = server.sandbox.secret("revoked");
  await fetch(server.url + mePath, headers(revoked));
  const after = await ask(wanted);
  expect([after.status, after.body]).toEqual([200, { data: { count: 1 } }]);
  await fetch(server.url + mePath, headers(revoked));
  const twice = await ask(wanted);
  expect([twice.status, twice.body.error.details.nearest]).toMatchObject([
    409,
    [{ key: "revoked", status: 401, outcome: "401.revoked" }, { id: expect.any(String) }],
  ]);
  expect(twice.text).not.toContain(revoked.slice(-12));
});

// biome-ignore lint/suspicious/noExplicitAny: each test reads its own details
function failureOf(act: () => unknown): [code: string, details: any] {
  try {
    act();
  } catch (error) {
    const { code, details } = error as { code: string; details: unknown };
    return [code, details];
  }
  throw new Error("It did not fail.");
}
