import { expect, test } from "vitest";
import { unknownSecret } from "../src/sandbox/secrets.js";
import { scenarioSecret } from "../src/sandbox/world.js";
import type { Scenario } from "../src/scenario/scenario.generated.js";
import { describeDoors, headerOf, mePath, type Seen } from "./support/doors.js";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function expectError(seen: Seen, status: number, code: string): void {
  expect(seen.status).toBe(status);
  expect(headerOf(seen, "content-type")).toBe("application/json");
  const body = JSON.parse(seen.body);
  // R27: nothing else at the top level, and nothing else in the error.
  expect(body).toEqual({ error: { code, message: expect.any(String) } });
}

/** A world of one bank with one test key of these properties. */
function oneKey(key: Record<string, unknown>, rest: Partial<Scenario> = {}): Scenario {
  return {
    version: 1,
    clock: { now: "2026-03-02T09:00:00Z" },
    ...rest,
    organizations: {
      "test-bank": {
        name: "Test Bank",
        type: "bank",
        keys: { key: { environment: "test", ...key } as never },
      },
    },
  };
}

describeDoors("the relying-party API", (open) => {
  test("R1 R2 R4 a permitted key gets the context of the key, and nothing else", async () => {
    const door = await open("key-states");
    const seen = await door.me({ ref: "active" });
    expect(seen.status).toBe(200);
    expect(headerOf(seen, "content-type")).toBe("application/json");
    expect(JSON.parse(seen.body)).toEqual({
      data: {
        organization: { id: expect.stringMatching(uuid), name: "Harvest Cooperative Bank", type: "bank" },
        environment: "test",
        scopes: ["attestations:read"],
        limits: { per_minute: 60, per_day: 1000 },
        usage: { today: 1 },
      },
    });
    await door.close();
  });

  test.each([
    ["active", "test", "SVC_test_"],
    ["live", "live", "SVC_live_"],
    ["legacy", "test", "legacysvc_test_"],
    ["legacy-live", "live", "legacysvc_live_"],
  ])("R3 R16 the environment of %s is %s, as its prefix %s says", async (ref, environment, prefix) => {
    const door = await open("key-states");
    expect(scenarioSecret(door.world, ref).startsWith(prefix)).toBe(true);
    const seen = await door.me({ ref });
    expect(seen.status).toBe(200);
    expect(JSON.parse(seen.body).data.environment).toBe(environment);
    await door.close();
  });

  test("R5 the limits are the key's own", async () => {
    const door = await open("key-states");
    const seen = await door.me({ ref: "replacement" });
    expect(JSON.parse(seen.body).data.limits).toEqual({ per_minute: 120, per_day: 5000 });
    await door.close();
  });

  test("R6 R24 usage.today counts every request of today, the current one included", async () => {
    const door = await open("key-states");
    const todays = [];
    for (let i = 0; i < 3; i++)
      todays.push(JSON.parse((await door.me({ ref: "active" })).body).data.usage.today);
    expect(todays).toEqual([1, 2, 3]);
    // The day ends at midnight UTC, fifteen hours after the scenario's start.
    door.world.clock.advance(15 * 3_600_000);
    expect(JSON.parse((await door.me({ ref: "active" })).body).data.usage.today).toBe(1);
    await door.close();
  });

  test("R7 every 200 carries an X-Request-Id of its own", async () => {
    const door = await open(oneKey({ limits: { per_minute: 1000 } }));
    const ids = new Set<string>();
    for (let i = 0; i < 200; i++) ids.add(headerOf(await door.me({ ref: "key" }), "x-request-id") ?? "");
    expect(ids.size).toBe(200);
    expect(ids.has("")).toBe(false);
    await door.close();
  });

  test("R8 a query string and a body change nothing in the answer", async () => {
    const door = await open("key-states");
    const headers = { "x-api-key": scenarioSecret(door.world, "active"), "content-type": "application/json" };
    const path = `${mePath}?environment=live&x=1`;
    const body = '{"environment":"live"}';
    const plain = await door.send({ headers });
    if (!door.takesGetBody) await expect(door.send({ headers, path, body })).rejects.toThrow(TypeError);
    const loaded = await door.send({ headers, path, ...(door.takesGetBody && { body }) });
    expect(loaded.status).toBe(200);
    expect(JSON.parse(loaded.body).data).toEqual({ ...JSON.parse(plain.body).data, usage: { today: 2 } });
    await door.close();
  });

  test.each([
    ["R9 without a key", undefined],
    ["R10 with a malformed key", { header: "Bearer 123" }],
    ["R10 with an empty header", { header: "" }],
    ["R10 with a prefix alone", { header: "SVC_test_" }],
    ["R10 with a prefix in another case", { header: "svc_test_sbx0123" }],
    ["R11 with an unknown key", { header: unknownSecret(1) }],
    ["R12 with a revoked key", { ref: "revoked" }],
    ["R13 with an expired key", { ref: "expired" }],
    ["R13 with a replaced key whose overlap is over", { ref: "rotated" }],
  ])("%s the answer is 401 unauthorized", async (_title, key) => {
    const door = await open("key-states");
    expectError(await door.me(key), 401, "unauthorized");
    await door.close();
  });

  test("R14 R28 the refusals of every kind of wrong key are the same in status, headers and bytes", async () => {
    const door = await open("key-states");
    const wrong = [
      undefined,
      { header: "x" },
      { header: unknownSecret(1) },
      { ref: "revoked" },
      { ref: "expired" },
      { ref: "rotated" },
    ];
    const seen = [];
    for (const key of wrong) seen.push(await door.me(key));
    for (const one of seen) expect(one).toEqual(seen[0]);
    await door.close();
  });

  test("R15 the same body behind the prefix of the other environment is an unknown key", async () => {
    const door = await open("key-states");
    for (const [ref, mine, other] of [
      ["active", "SVC_test_", "SVC_live_"],
      ["live", "SVC_live_", "SVC_test_"],
      ["legacy", "legacysvc_test_", "legacysvc_live_"],
      ["active", "SVC_test_", "legacysvc_test_"],
    ] as const) {
      const header = scenarioSecret(door.world, ref).replace(mine, other);
      expectError(await door.me({ header }), 401, "unauthorized");
      expect(door.world.journal.list({ limit: 1 })[0]?.pathId).toBe("401.unknown");
    }
    await door.close();
  });

  test.each([
    ["R18", "organization-inactive", "access_denied", "403.access_denied"],
    ["R19", "live-not-approved", "live_access_not_approved", "403.live_not_approved"],
    ["R20", "live-suspended", "live_access_not_approved", "403.live_suspended"],
    ["R21", "wrong-scope", "insufficient_scope", "403.insufficient_scope"],
  ])("%s the key %s gets 403 %s", async (_rule, ref, code, path) => {
    const door = await open("key-states");
    expectError(await door.me({ ref }), 403, code);
    expect(door.world.journal.list()[0]?.pathId).toBe(path);
    await door.close();
  });

  test("R20 the test keys of an organization whose live access is suspended go on working", async () => {
    const scenario: Scenario = {
      version: 1,
      organizations: {
        bank: {
          name: "A Bank",
          type: "bank",
          live_access: "suspended",
          keys: { a: { environment: "test" }, b: { environment: "live" } },
        },
      },
    };
    const door = await open(scenario);
    expect((await door.me({ ref: "a" })).status).toBe(200);
    expect((await door.me({ ref: "b" })).status).toBe(403);
    await door.close();
  });

  test("R22 one request more than per_minute gets 429, until the minute is over", async () => {
    const door = await open(oneKey({ limits: { per_minute: 3, per_day: 100 } }));
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await door.me({ ref: "key" })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    door.world.clock.advance(59_999);
    expect((await door.me({ ref: "key" })).status).toBe(429);
    door.world.clock.advance(1);
    expect((await door.me({ ref: "key" })).status).toBe(200);
    await door.close();
  });

  test("R22 a sliding minute lets a request in once the oldest of the last 60 seconds is gone", async () => {
    const door = await open(
      oneKey({ limits: { per_minute: 2 } }, { assumptions: { minute_window: "sliding" } }),
    );
    const at = async (advance: number) => {
      door.world.clock.advance(advance);
      return (await door.me({ ref: "key" })).status;
    };
    expect([
      await at(0),
      await at(30_000),
      await at(29_999),
      await at(1),
      await at(0),
      await at(30_000),
    ]).toEqual([200, 200, 429, 200, 429, 200]);
    await door.close();
  });

  test("R23 one request more than per_day gets 429, until the day resets at the assumed time", async () => {
    const scenario = oneKey(
      { limits: { per_minute: 100, per_day: 2 } },
      { assumptions: { day_resets_at: "10:30" } },
    );
    const door = await open(scenario);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await door.me({ ref: "key" })).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect(door.world.journal.list({ limit: 1 })[0]?.pathId).toBe("429.per_day");
    door.world.clock.set(Date.parse("2026-03-02T10:29:59.999Z"));
    expect((await door.me({ ref: "key" })).status).toBe(429);
    door.world.clock.advance(1);
    expect((await door.me({ ref: "key" })).status).toBe(200);
    await door.close();
  });

  test("R24 what is refused is not counted, unless the scenario says that it is", async () => {
    for (const [countRefused, today] of [
      [false, 2],
      [true, 7],
    ] as const) {
      const scenario = oneKey(
        { limits: { per_minute: 1 } },
        { assumptions: { count_refused: countRefused } },
      );
      const door = await open(scenario);
      for (let i = 0; i < 6; i++) await door.me({ ref: "key" });
      door.world.clock.advance(60_000);
      expect(JSON.parse((await door.me({ ref: "key" })).body).data.usage.today).toBe(today);
      await door.close();
    }
  });

  test("R25 a key at its limit does not touch another key of the same organization", async () => {
    const door = await open("rate-limited");
    const states = door.world.registry.keys;
    const [limited] = [...states.keys()];
    expect((await door.me({ ref: limited as string })).status).toBe(429);
    const holder = door.world.registry.key(limited as string).key.organization;
    const others = [...states.values()].filter(
      ({ key }) => key.organization === holder && key.ref !== limited,
    );
    const statuses = [];
    for (const { key } of others) statuses.push((await door.me({ ref: key.ref })).status);
    expect(statuses).toContain(200);
    await door.close();
  });

  test("R26 the replacement has the limits of the key that it replaced", async () => {
    const door = await open("rotation");
    const limits = [];
    for (const ref of ["retiring", "replacement"])
      limits.push(JSON.parse((await door.me({ ref })).body).data.limits);
    expect(limits[0]).toEqual(limits[1]);
    await door.close();
  });

  test.each([
    ["rate-limited", "rate_limited"],
    ["rate-limited-minute", "rate_limited"],
  ])("R27 R28 the key %s gets 429 with the assumed code %s", async (ref, code) => {
    const door = await open("key-states");
    expectError(await door.me({ ref }), 429, code);
    await door.close();
  });

  test("R28 the code of a 429 is the one that the scenario assumes", async () => {
    const scenario = oneKey(
      { limits: { per_day: 0 } },
      { assumptions: { rate_limit_code: "quota_exceeded" } },
    );
    const door = await open(scenario);
    expectError(await door.me({ ref: "key" }), 429, "quota_exceeded");
    await door.close();
  });

  test("R43 a key gets 401 from the very instant of its expiry", async () => {
    const door = await open(oneKey({ expires: "10m", limits: { per_minute: 100 } }));
    door.world.clock.advance(600_000 - 1);
    expect((await door.me({ ref: "key" })).status).toBe(200);
    door.world.clock.advance(1);
    expectError(await door.me({ ref: "key" }), 401, "unauthorized");
    await door.close();
  });

  test("R38 a replaced key works to the last millisecond of its overlap", async () => {
    const door = await open("rotation");
    door.world.clock.advance(30 * 60_000 - 1);
    expect((await door.me({ ref: "retiring" })).status).toBe(200);
    door.world.clock.advance(1);
    expectError(await door.me({ ref: "retiring" }), 401, "unauthorized");
    await door.close();
  });

  test("R47 the version is in the path: without it, or with another, there is nothing", async () => {
    const door = await open("key-states");
    const headers = { "x-api-key": scenarioSecret(door.world, "active") };
    for (const path of [
      "/relying-party/me",
      "/v2/relying-party/me",
      "/",
      "/v1/relying-party/me/",
      "/V1/relying-party/me",
      "//v1/relying-party/me",
    ]) {
      expectError(await door.send({ path, headers }), 404, "not_found");
    }
    await door.close();
  });

  test("R49 the announced endpoints answer as any unknown path", async () => {
    const door = await open("key-states");
    const headers = { "x-api-key": scenarioSecret(door.world, "active") };
    const unknown = await door.send({ path: "/v1/relying-party/nothing", headers });
    for (const path of [
      "/v1/relying-party/consent-requests",
      "/v1/relying-party/attestations",
      "/v1/relying-party/attestations/1",
    ]) {
      for (const method of ["GET", "POST"])
        expect(await door.send({ path, headers, method })).toEqual(unknown);
    }
    await door.close();
  });

  test("another method gets 405 with Allow, before the key is looked at", async () => {
    const door = await open("key-states");
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const seen = await door.send({ method });
      expectError(seen, 405, "method_not_allowed");
      expect(headerOf(seen, "allow")).toBe("GET, HEAD");
    }
    await door.close();
  });

  test("HEAD answers as GET without the body, and counts", async () => {
    const door = await open("key-states");
    const headers = { "x-api-key": scenarioSecret(door.world, "active") };
    const get = await door.send({ headers });
    const head = await door.send({ headers, method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.body).toBe("");
    expect(headerOf(head, "content-length")).toBe(headerOf(get, "content-length"));
    expect(JSON.parse((await door.send({ headers })).body).data.usage.today).toBe(3);
    await door.close();
  });

  test("a body of other letters than ASCII has its length in bytes", async () => {
    const scenario = oneKey({});
    (scenario.organizations as Record<string, { name?: string }>)["test-bank"] = {
      ...scenario.organizations?.["test-bank"],
      name: "Bänk ☂ 𝕏",
    };
    const door = await open(scenario);
    const seen = await door.me({ ref: "key" });
    expect(JSON.parse(seen.body).data.organization.name).toBe("Bänk ☂ 𝕏");
    expect(headerOf(seen, "content-length")).toBe(String(Buffer.byteLength(seen.body)));
    await door.close();
  });

  test("me_scope: null lets a key without scopes for the endpoint in", async () => {
    const door = await open(oneKey({ scopes: ["consents:read"] }, { assumptions: { me_scope: null } }));
    expect((await door.me({ ref: "key" })).status).toBe(200);
    await door.close();
  });
});
