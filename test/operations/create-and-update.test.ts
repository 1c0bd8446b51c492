import { expect, test } from "vitest";
import { at, expectRejection, open, responses, testKey } from "./sandbox.js";

test("R29 a created key has the requested fields and works at once", async () => {
  const sandbox = open();
  const { key, secret } = sandbox.keys.create({
    ...testKey,
    name: "Nightly batch",
    scopes: ["attestations:read", "consents:write"],
    limits: { perMinute: 5, perDay: 50 },
  });
  expect(key).toMatchObject({
    ...{ ref: "nightly-batch", organization: "insurer", name: "Nightly batch", environment: "test" },
    ...{ legacy: false, fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/), state: "active" },
    ...{ scopes: ["attestations:read", "consents:write"], limits: { perMinute: 5, perDay: 50 } },
    ...{ usage: { thisMinute: 0, today: 0 }, revokedAt: null, expiresAt: null, overlapEndsAt: null },
    ...{ createdAt: at(0), replacedBy: null, replaces: null },
  });
  expect(secret).toMatch(/^SVC_test_sbx[0-9A-Za-z]{29}$/);
  expect(await responses(sandbox, secret)).toEqual(["200"]);
});

test("R29 no scope and an unknown scope are rejected, with a suggestion", () => {
  const sandbox = open();
  const create = (scopes: string[]) => () => sandbox.keys.create({ ...testKey, scopes });
  expectRejection(sandbox, create([]), "scopes_required");
  expectRejection(sandbox, create(["attestations:read", "consent:read"]), "unknown_scope", {
    scope: "consent:read",
    known: sandbox.assumptions.scopes,
  });
  expect(create(["consent:read"])).toThrow('"consents:read"');
});

test.each([
  [{ name: "x".repeat(201) }, "name"],
  [{ scopes: ["consents:read", "consents:read"] }, "scopes"],
  [{ limits: { perDay: 1.5 } }, "limits.perDay"],
  [{ ref: "constructor" }, "ref"],
  [{ ref: "none" }, "ref"],
  [{ nmae: "CI" }, "nmae"],
])("R29 %j is rejected", (wrong, field) => {
  const sandbox = open();
  const create = () => sandbox.keys.create({ ...testKey, ...wrong } as never);
  expectRejection(sandbox, create, "validation_failed", { fields: { [field]: expect.any(String) } });
});

test("a ref is made from the name, with a number when it is taken, cut to fit; a taken one is rejected", () => {
  const sandbox = open();
  const { keys } = sandbox;
  const refs = ["Straße & Söhne", "…", "constructor", "2026"].map((name) => {
    const { key } = keys.create({ ...testKey, name });
    keys.revoke(key.ref);
    return key.ref;
  });
  expect(refs).toEqual(["stra-e-sohne", "key", "key-constructor", "key-2026"]);
  const long = { ...testKey, name: "x".repeat(200) };
  expect(keys.create(long).key.ref).toBe("x".repeat(64));
  expect(keys.create(long).key.ref).toBe(`${"x".repeat(62)}-2`);
  expectRejection(sandbox, () => keys.create({ ...testKey, ref: "main" }), "name_taken", { ref: "main" });
});

test("R43 an expiry is a length of time from now, or an instant", async () => {
  const sandbox = open();
  const { keys, clock } = sandbox;
  clock.advance("1h");
  const { key, secret } = keys.create({ ...testKey, expires: "10m" });
  expect(key.expiresAt).toBe("2026-03-02T10:10:00.000Z");
  const pinned = keys.create({ ...testKey, expires: "2026-03-02T11:00:00Z" });
  expect(pinned.key.expiresAt).toBe("2026-03-02T11:00:00.000Z");
  clock.set("2026-03-02T10:10:00Z");
  expect(await responses(sandbox, secret, pinned.secret)).toEqual(["401 unauthorized", "200"]);
  expectRejection(sandbox, () => keys.create({ ...testKey, expires: "soon" }), "validation_failed");
  expectRejection(sandbox, () => keys.create({ ...testKey, expires: "9000000d" }), "validation_failed", {
    fields: { expires: expect.any(String) },
  });
});

test.each([
  [{ status: "paused" }, "status"],
  [{ id: "another" }, "id"],
])("a change of an organization to %j is rejected", (wrong, field) => {
  const sandbox = open();
  const update = () => sandbox.organizations.update("bank", wrong as never);
  expectRejection(sandbox, update, "validation_failed", { fields: { [field]: expect.any(String) } });
});

test("R30 R31 a test key needs sandbox access, and a live key an approved compliance application", () => {
  const sandbox = open({
    version: 1,
    organizations: { closed: { type: "bank", sandbox_access: false }, fresh: { type: "bank" } },
  });
  const create = (organization: string, environment: "test" | "live") => () =>
    sandbox.keys.create({ organization, environment, name: "A key" });
  expectRejection(sandbox, create("closed", "test"), "sandbox_access_off");
  for (const liveAccess of ["not_approved", "suspended"] as const) {
    sandbox.organizations.update("fresh", { liveAccess });
    expectRejection(sandbox, create("fresh", "live"), "live_access_not_approved");
  }
  expect(create("fresh", "test")().key.environment).toBe("test");
  sandbox.organizations.update("closed", { liveAccess: "approved" });
  expect(create("closed", "live")().key.environment).toBe("live");
});
