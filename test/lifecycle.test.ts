import { expect, test } from "vitest";
import type { KeyView, Scenario } from "../src/index.js";
import { type Dashboard, describeDashboards } from "./support/dashboard.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = "2026-03-02T09:00:00.000Z";
const at = (afterStart: number) => new Date(Date.parse(start) + afterStart).toISOString();

const scenario: Scenario = {
  version: 1,
  clock: { now: start, frozen: true },
  organizations: {
    bank: {
      type: "bank",
      live_access: "approved",
      keys: {
        main: {
          environment: "test",
          name: "Core banking",
          scopes: ["attestations:read", "consents:read"],
          limits: { per_minute: 7, per_day: 70 },
        },
        live: { environment: "live" },
        legacy: { environment: "test", legacy: true },
        "legacy-live": { environment: "live", legacy: true },
        ending: { environment: "test", expires: "90s" },
        revoked: { environment: "test", state: "revoked" },
        expired: { environment: "test", expires: "-1d" },
        retiring: { environment: "test", state: "retiring", replaced_by: "replacement", overlap_ends: "30m" },
        replacement: { environment: "test" },
        rotated: { environment: "test", state: "rotated" },
      },
    },
    insurer: { type: "insurer", keys: { "insurer-key": { environment: "test" } } },
  },
};

const testKey = { organization: "insurer", environment: "test", name: "CI" } as const;
const liveKey = { ...testKey, environment: "live" } as const;

/** Expects a refusal with this code and these details, and that nothing of the world is changed by it. */
async function expectRefusal(
  dashboard: Dashboard,
  act: () => Promise<unknown>,
  code: string,
  details: Record<string, unknown> = {},
): Promise<void> {
  const before = [dashboard.snapshot(), await dashboard.keys(), await dashboard.requests()];
  await expect(act()).rejects.toMatchObject({ code, details });
  expect([dashboard.snapshot(), await dashboard.keys(), await dashboard.requests()]).toEqual(before);
}

/** What who-am-I answers to these keys, by status and code. */
async function answers(dashboard: Dashboard, ...secrets: readonly string[]): Promise<string[]> {
  const said: string[] = [];
  for (const secret of secrets) {
    const { status, code } = await dashboard.callMe(secret);
    said.push(code === null ? String(status) : `${status} ${code}`);
  }
  return said;
}

const unauthorized = "401 unauthorized";

/** Gives the insurer as many active test keys as it may have. */
async function fill(dashboard: Dashboard): Promise<void> {
  for (let held = 1; held < 5; held++) await dashboard.create(testKey);
}

describeDashboards("creating a key", (open) => {
  test("R29 a created key has the name, scopes, limits, environment and organization asked for, and works at once", async () => {
    const dashboard = await open(scenario);
    const { key, secret } = await dashboard.create({
      ...testKey,
      name: "Nightly batch",
      scopes: ["attestations:read", "consents:write"],
      limits: { perMinute: 5, perDay: 50 },
    });
    expect(key).toEqual({
      ref: "nightly-batch",
      organization: "insurer",
      name: "Nightly batch",
      environment: "test",
      legacy: false,
      fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
      state: "active",
      scopes: ["attestations:read", "consents:write"],
      limits: { perMinute: 5, perDay: 50 },
      usage: { thisMinute: 0, today: 0 },
      revokedAt: null,
      expiresAt: null,
      overlapEndsAt: null,
      replacedBy: null,
      replaces: null,
    });
    expect(secret).toMatch(/^SVC_test_sbx[0-9A-Za-z]{29}$/);
    const { id, name, type } = await dashboard.organization("insurer");
    expect(await dashboard.callMe(secret)).toEqual({
      status: 200,
      code: null,
      data: {
        organization: { id, name, type },
        environment: "test",
        scopes: ["attestations:read", "consents:write"],
        limits: { per_minute: 5, per_day: 50 },
        usage: { today: 1 },
      },
    });
  });

  test("R29 scopes and limits that are left out have their defaults, one limit alone as well", async () => {
    const dashboard = await open(scenario);
    const whole = await dashboard.create(testKey);
    expect(whole.key).toMatchObject({
      scopes: ["attestations:read"],
      limits: { perMinute: 60, perDay: 1000 },
    });
    const half = await dashboard.create({ ...testKey, limits: { perDay: 3 } });
    expect(half.key.limits).toEqual({ perMinute: 60, perDay: 3 });
  });

  test("R29 zero scopes are refused", async () => {
    const dashboard = await open(scenario);
    await expectRefusal(dashboard, () => dashboard.create({ ...testKey, scopes: [] }), "scopes_required");
  });

  test("R29 a scope that there is not is refused, with the one that was meant", async () => {
    const dashboard = await open(scenario);
    const create = () => dashboard.create({ ...testKey, scopes: ["attestations:read", "consent:read"] });
    await expectRefusal(dashboard, create, "unknown_scope", {
      scope: "consent:read",
      known: ["attestations:read", "attestations:write", "consents:read", "consents:write"],
    });
    await expect(create()).rejects.toThrow('Did you mean "consents:read"?');
  });

  test("R29 the scopes that there are come from the assumptions", async () => {
    const own = { scopes: ["farms:read"], me_scope: "farms:read" };
    const dashboard = await open({
      ...scenario,
      assumptions: own,
      organizations: { insurer: { type: "insurer" } },
    });
    const { secret } = await dashboard.create({ ...testKey, scopes: ["farms:read"] });
    expect(await answers(dashboard, secret)).toEqual(["200"]);
    await expectRefusal(
      dashboard,
      () => dashboard.create({ ...testKey, scopes: ["attestations:read"] }),
      "unknown_scope",
      { known: ["farms:read"] },
    );
  });

  test.each([
    ["no name", { name: "" }, "name"],
    ["a name that is too long", { name: "x".repeat(201) }, "name"],
    ["a name that is none", { name: 7 }, "name"],
    ["another environment", { environment: "staging" }, "environment"],
    ["scopes that are no list", { scopes: "attestations:read" }, "scopes"],
    ["scopes that are no names", { scopes: [7] }, "scopes"],
    ["a scope twice", { scopes: ["consents:read", "consents:read"] }, "scopes"],
    ["a negative limit", { limits: { perMinute: -1 } }, "limits.per_minute"],
    ["a limit with a fraction", { limits: { perDay: 1.5 } }, "limits.per_day"],
    ["a limit that is no number", { limits: { perDay: "9" } }, "limits.per_day"],
    ["limits that are none", { limits: 5 }, "limits"],
    ["a ref in capitals", { ref: "CI" }, "ref"],
    ["a ref of digits alone", { ref: "7" }, "ref"],
    ["a ref that is too long", { ref: "x".repeat(65) }, "ref"],
    ["a ref that means something to JavaScript", { ref: "constructor" }, "ref"],
    ["a ref that is none", { ref: 7 }, "ref"],
  ])("R29 %s is refused", async (_title, wrong, field) => {
    const dashboard = await open(scenario);
    await expectRefusal(
      dashboard,
      () => dashboard.create({ ...testKey, ...wrong } as never),
      "validation_failed",
      { fields: { [field]: expect.any(String) } },
    );
  });

  test("R29 an organization that there is not is refused, with the one that was meant", async () => {
    const dashboard = await open(scenario);
    const create = () => dashboard.create({ ...testKey, organization: "insurers" });
    await expectRefusal(dashboard, create, "unknown_ref", {
      ref: "insurers",
      known: ["bank", "insurer"],
    });
    await expect(create()).rejects.toThrow('Did you mean "insurer"?');
  });

  test("a ref is made from the name, with a number when it is taken, and fits where refs go", async () => {
    const dashboard = await open(scenario);
    const refs: string[] = [];
    for (const name of ["Straße & Söhne", "…", "constructor", "2026"]) {
      const { key } = await dashboard.create({ ...testKey, name });
      refs.push(key.ref);
      await dashboard.revoke(key.ref);
    }
    expect(refs).toEqual(["stra-e-s-hne", "key", "key-constructor", "key-2026"]);
    const long = await dashboard.create({ ...testKey, name: "x".repeat(200) });
    const again = await dashboard.create({ ...testKey, name: "x".repeat(200) });
    expect(long.key.ref).toBe("x".repeat(64));
    expect(again.key.ref).toBe(`${"x".repeat(62)}-2`);
  });

  test("a ref that is taken is refused", async () => {
    const dashboard = await open(scenario);
    await expectRefusal(dashboard, () => dashboard.create({ ...testKey, ref: "main" }), "name_taken", {
      ref: "main",
    });
  });

  test("R30 a test key needs sandbox access; the keys that are there go on without it, and a live key needs none", async () => {
    const dashboard = await open(scenario);
    await dashboard.updateOrganization("bank", { sandboxAccess: false });
    await expectRefusal(
      dashboard,
      () => dashboard.create({ ...testKey, organization: "bank" }),
      "sandbox_access_off",
      { organization: "bank" },
    );
    expect(await answers(dashboard, dashboard.secret("main"))).toEqual(["200"]);
    const { secret } = await dashboard.create({ ...liveKey, organization: "bank" });
    expect(await answers(dashboard, secret)).toEqual(["200"]);
    await dashboard.updateOrganization("bank", { sandboxAccess: true });
    await dashboard.revoke("main");
    const again = await dashboard.create({ ...testKey, organization: "bank" });
    expect(await answers(dashboard, again.secret)).toEqual(["200"]);
  });

  test.each([
    "not_approved",
    "suspended",
  ] as const)("R31 a live key is refused while live access is %s", async (liveAccess) => {
    const dashboard = await open(scenario);
    await dashboard.updateOrganization("insurer", { liveAccess });
    await expectRefusal(dashboard, () => dashboard.create(liveKey), "live_access_not_approved", {
      organization: "insurer",
      live_access: liveAccess,
    });
    await dashboard.updateOrganization("insurer", { liveAccess: "approved" });
    const { secret } = await dashboard.create(liveKey);
    expect(secret).toMatch(/^SVC_live_sbx/);
    expect(await answers(dashboard, secret)).toEqual(["200"]);
  });

  test("R32 a sixth active key is refused, and the other environment and other organizations are not affected", async () => {
    const dashboard = await open(scenario);
    await fill(dashboard);
    await expectRefusal(dashboard, () => dashboard.create(testKey), "key_limit_reached", {
      organization: "insurer",
      environment: "test",
      active: 5,
      maximum: 5,
    });
    await dashboard.updateOrganization("insurer", { liveAccess: "approved" });
    const live = await dashboard.create(liveKey);
    await dashboard.revoke("main");
    const other = await dashboard.create({ ...testKey, organization: "bank" });
    expect(await answers(dashboard, live.secret, other.secret)).toEqual(["200", "200"]);
  });

  test("R32 a key that was revoked, has expired or was replaced makes room", async () => {
    const dashboard = await open(scenario);
    await dashboard.create({ ...testKey, ref: "short", expires: "1m" });
    for (const ref of ["b", "c", "d"]) await dashboard.create({ ...testKey, ref });
    const full = () => expect(dashboard.create(testKey)).rejects.toMatchObject({ code: "key_limit_reached" });
    await full();
    await dashboard.revoke("b");
    await dashboard.create({ ...testKey, ref: "e" });
    await full();
    await dashboard.advance(minute - 1);
    await full();
    await dashboard.advance(1);
    await dashboard.create({ ...testKey, ref: "f" });
    // The replacement takes the place of the key that it replaces.
    await dashboard.rotate("c");
    await full();
  });

  test("R32 R39 a key in its overlap needs a place of its own where that is assumed", async () => {
    const assumptions = { retiring_counts_as_active: true };
    const organizations = { insurer: { type: "insurer", keys: { first: { environment: "test" } } } } as const;
    const dashboard = await open({ ...scenario, assumptions, organizations });
    await fill(dashboard);
    await expectRefusal(dashboard, () => dashboard.rotate("first"), "key_limit_reached", { active: 5 });
    // Without an overlap there is one key as before.
    await dashboard.rotate("first", { overlap: 0, as: "second" });
    await dashboard.revoke("ci");
    await dashboard.rotate("second", { overlap: minute });
    await expectRefusal(dashboard, () => dashboard.create(testKey), "key_limit_reached", { active: 5 });
    await dashboard.advance(minute);
    await dashboard.create(testKey);
  });

  test("R33 a member creates, rotates and revokes nothing and changes no organization, but may look", async () => {
    const dashboard = await open(scenario);
    const member = { actor: "member" } as const;
    const writes: (() => Promise<unknown>)[] = [
      () => dashboard.create(testKey, member),
      () => dashboard.rotate("main", member),
      () => dashboard.revoke("main", member),
      () => dashboard.updateOrganization("bank", { status: "inactive" }, member),
      // Who may not write does not learn what there is.
      () => dashboard.rotate("no-such-key", member),
      () => dashboard.revoke("revoked", member),
      () => dashboard.create({ ...testKey, organization: "nobody", scopes: [] }, member),
    ];
    for (const write of writes) {
      await expectRefusal(dashboard, write, "not_an_administrator", { actor: "member" });
    }
    await dashboard.create(testKey, { actor: "administrator" });
    expect((await dashboard.key("main")).state).toBe("active");
  });

  test("R34 R36 the secret is in the answer and in nothing else, and nothing brings it back", async () => {
    const dashboard = await open(scenario);
    const created = await dashboard.create(testKey);
    const rotated = await dashboard.rotate("main");
    await dashboard.callMe(created.secret);
    await dashboard.callMe(rotated.secret);
    const shown = JSON.stringify([
      created.key,
      rotated.key,
      await dashboard.keys(),
      await dashboard.key("ci"),
      await dashboard.organization("bank"),
      await dashboard.requests(),
      dashboard.snapshot(),
    ]);
    expect(shown).toContain(created.key.fingerprint);
    for (const secret of [created.secret, rotated.secret, dashboard.secret("main")]) {
      expect(shown).not.toContain(secret.slice("SVC_test_sbx".length));
    }
    for (const ref of ["ci", "main-2"]) {
      expect(() => dashboard.secret(ref)).toThrow(
        expect.objectContaining({ code: "secret_not_kept", details: { ref } }),
      );
    }
  });

  test("R36 a lost key is replaced by creating another one, with another secret", async () => {
    const dashboard = await open(scenario);
    const lost = await dashboard.create(testKey);
    const found = await dashboard.create(testKey);
    expect(found.secret).not.toBe(lost.secret);
    expect(found.key).toMatchObject({ ref: "ci-2", name: "CI" });
    expect(await answers(dashboard, lost.secret, found.secret)).toEqual(["200", "200"]);
  });
});

describeDashboards("rotating a key", (open) => {
  test("R26 R37 the replacement has the name, scopes and limits of the old key, its own usage, and works at once", async () => {
    const dashboard = await open(scenario);
    await dashboard.callMe(dashboard.secret("main"));
    const { key, secret } = await dashboard.rotate("main");
    expect(key).toMatchObject({
      ref: "main-2",
      name: "Core banking",
      organization: "bank",
      environment: "test",
      state: "active",
      scopes: ["attestations:read", "consents:read"],
      limits: { perMinute: 7, perDay: 70 },
      usage: { thisMinute: 0, today: 0 },
      replaces: "main",
      replacedBy: null,
      overlapEndsAt: null,
    });
    const { data } = await dashboard.callMe(secret);
    expect(data).toMatchObject({
      environment: "test",
      scopes: ["attestations:read", "consents:read"],
      limits: { per_minute: 7, per_day: 70 },
      usage: { today: 1 },
    });
  });

  test("R38 R39 without an overlap given the old key works for 60 minutes, to the millisecond", async () => {
    const dashboard = await open(scenario);
    const { secret } = await dashboard.rotate("main");
    const old = dashboard.secret("main");
    expect(await dashboard.key("main")).toMatchObject({
      state: "retiring",
      overlapEndsAt: at(60 * minute),
      replacedBy: "main-2",
    });
    expect(await answers(dashboard, old, secret)).toEqual(["200", "200"]);
    await dashboard.advance(60 * minute - 1);
    expect(await answers(dashboard, old, secret)).toEqual(["200", "200"]);
    await dashboard.advance(1);
    expect(await answers(dashboard, old, secret)).toEqual([unauthorized, "200"]);
    expect((await dashboard.key("main")).state).toBe("rotated");
    await dashboard.advance(1);
    expect(await answers(dashboard, old, secret)).toEqual([unauthorized, "200"]);
  });

  test("R40 an overlap of 0 ends the old key at once", async () => {
    const dashboard = await open(scenario);
    const { secret } = await dashboard.rotate("main", { overlap: 0 });
    expect(await answers(dashboard, dashboard.secret("main"), secret)).toEqual([unauthorized, "200"]);
    expect(await dashboard.key("main")).toMatchObject({ state: "rotated", overlapEndsAt: start });
  });

  test("R39 an overlap of 7 days is taken, and ends to the millisecond", async () => {
    const dashboard = await open(scenario);
    const { secret } = await dashboard.rotate("main", { overlap: 7 * day });
    await dashboard.advance(7 * day - 1);
    expect(await answers(dashboard, dashboard.secret("main"), secret)).toEqual(["200", "200"]);
    await dashboard.advance(1);
    expect(await answers(dashboard, dashboard.secret("main"), secret)).toEqual([unauthorized, "200"]);
  });

  test.each([
    ["7 days and a millisecond", 7 * day + 1],
    ["a negative one", -1],
    ["a year", 365 * day],
  ])("R39 an overlap out of range is refused: %s", async (_title, overlap) => {
    const dashboard = await open(scenario);
    await expectRefusal(dashboard, () => dashboard.rotate("main", { overlap }), "overlap_out_of_range", {
      overlap,
      maximum: 7 * day,
    });
    expect(await answers(dashboard, dashboard.secret("main"))).toEqual(["200"]);
  });

  test("R37 R38 a replacement is rotated as well, and each overlap ends in its own time", async () => {
    const dashboard = await open(scenario);
    const first = dashboard.secret("main");
    const second = await dashboard.rotate("main", { overlap: 2 * hour, as: "second" });
    await dashboard.advance(hour);
    const third = await dashboard.rotate("second", { overlap: 30 * minute, as: "third" });
    expect(third.key).toMatchObject({ name: "Core banking", limits: { perMinute: 7, perDay: 70 } });
    expect(await answers(dashboard, first, second.secret, third.secret)).toEqual(["200", "200", "200"]);
    await dashboard.advance(30 * minute);
    expect(await answers(dashboard, first, second.secret, third.secret)).toEqual([
      "200",
      unauthorized,
      "200",
    ]);
    await dashboard.advance(30 * minute);
    expect(await answers(dashboard, first, second.secret, third.secret)).toEqual([
      unauthorized,
      unauthorized,
      "200",
    ]);
    expect(await dashboard.key("second")).toMatchObject({ replaces: "main", replacedBy: "third" });
  });

  test("R38 a retiring key ends with its replacement in place or not: revoking the replacement leaves the overlap", async () => {
    const dashboard = await open(scenario);
    const { secret } = await dashboard.rotate("main");
    await dashboard.revoke("main-2");
    expect(await answers(dashboard, dashboard.secret("main"), secret)).toEqual(["200", unauthorized]);
    await dashboard.advance(60 * minute);
    expect(await answers(dashboard, dashboard.secret("main"), secret)).toEqual([unauthorized, unauthorized]);
  });

  test.each([
    ["legacy", /^legacysvc_test_sbx/, /^SVC_test_sbx/],
    ["legacy-live", /^legacysvc_live_sbx/, /^SVC_live_sbx/],
  ])("R16 R17 the replacement of %s has the current prefix, and the old key works until the overlap ends", async (ref, old, current) => {
    const dashboard = await open(scenario);
    expect(dashboard.secret(ref)).toMatch(old);
    const { key, secret } = await dashboard.rotate(ref);
    expect(secret).toMatch(current);
    expect(key.legacy).toBe(false);
    expect(await answers(dashboard, dashboard.secret(ref), secret)).toEqual(["200", "200"]);
    await dashboard.advance(60 * minute);
    expect(await answers(dashboard, dashboard.secret(ref), secret)).toEqual([unauthorized, "200"]);
  });

  test("R32 rotating is possible with five active keys", async () => {
    const dashboard = await open(scenario);
    await fill(dashboard);
    const { secret } = await dashboard.rotate("insurer-key");
    expect(await answers(dashboard, secret)).toEqual(["200"]);
    expect((await dashboard.keys()).filter(({ state }) => state === "retiring")).toHaveLength(2);
  });

  test("a key that is about to expire is rotated: the old one ends when it expires, the replacement does not", async () => {
    const dashboard = await open(scenario);
    const { key, secret } = await dashboard.rotate("ending", { overlap: hour });
    expect(key.expiresAt).toBeNull();
    await dashboard.advance(90_000);
    expect(await answers(dashboard, dashboard.secret("ending"), secret)).toEqual([unauthorized, "200"]);
    expect((await dashboard.key("ending")).state).toBe("expired");
    await dashboard.advance(day);
    expect((await dashboard.key("ending")).state).toBe("expired");
  });

  test("the replacement has the next free ref, or the one that is asked for", async () => {
    const dashboard = await open(scenario);
    await dashboard.create({ ...testKey, ref: "main-2" });
    expect((await dashboard.rotate("main")).key.ref).toBe("main-3");
    expect((await dashboard.rotate("main-3", { as: "fresh" })).key.ref).toBe("fresh");
    const long = "x".repeat(64);
    await dashboard.create({ ...testKey, ref: long });
    expect((await dashboard.rotate(long)).key.ref).toBe(`${"x".repeat(62)}-2`);
  });

  test("a replacement's ref that is taken, or is none, is refused", async () => {
    const dashboard = await open(scenario);
    await expectRefusal(dashboard, () => dashboard.rotate("main", { as: "live" }), "name_taken", {
      ref: "live",
    });
    await expectRefusal(dashboard, () => dashboard.rotate("main", { as: "main" }), "name_taken");
    await expectRefusal(dashboard, () => dashboard.rotate("main", { as: "Main 2" }), "validation_failed", {
      fields: { as: expect.any(String) },
    });
  });
});

describeDashboards("revoking a key", (open) => {
  test("R12 R41 the very next request with a revoked key gets 401", async () => {
    const dashboard = await open(scenario);
    const secret = dashboard.secret("main");
    expect(await answers(dashboard, secret)).toEqual(["200"]);
    expect(await dashboard.revoke("main")).toMatchObject({
      ref: "main",
      state: "revoked",
      revokedAt: start,
    });
    expect(await answers(dashboard, secret)).toEqual([unauthorized]);
  });

  test("R41 a key made at run time is revoked like any other, and its sisters work on", async () => {
    const dashboard = await open(scenario);
    const [one, other] = [await dashboard.create(testKey), await dashboard.create(testKey)];
    await dashboard.revoke(one.key.ref);
    expect(await answers(dashboard, one.secret, other.secret)).toEqual([unauthorized, "200"]);
  });
});

describeDashboards("a key that is not active", (open) => {
  const states: readonly [string, KeyView["state"]][] = [
    ["revoked", "revoked"],
    ["expired", "expired"],
    ["retiring", "retiring"],
    ["rotated", "rotated"],
  ];

  test.each(
    states,
  )("R42 %s: neither rotated nor revoked, and the refusal names its state", async (ref, state) => {
    const dashboard = await open(scenario);
    await expectRefusal(dashboard, () => dashboard.rotate(ref), "key_not_active", { ref, state });
    await expectRefusal(dashboard, () => dashboard.rotate(ref, { overlap: -1 }), "key_not_active", {
      ref,
      state,
    });
    await expectRefusal(dashboard, () => dashboard.revoke(ref), "key_not_active", { ref, state });
  });

  test("R42 a key that came into its state at run time is refused just so", async () => {
    const dashboard = await open(scenario);
    const refused = async (ref: string, state: KeyView["state"]) => {
      await expectRefusal(dashboard, () => dashboard.rotate(ref), "key_not_active", { ref, state });
      await expectRefusal(dashboard, () => dashboard.revoke(ref), "key_not_active", { ref, state });
    };
    await dashboard.rotate("main", { overlap: 90_000 });
    await refused("main", "retiring");
    await dashboard.revoke("main-2");
    await refused("main-2", "revoked");
    await dashboard.advance(89_999);
    await refused("main", "retiring");
    await dashboard.advance(1);
    await refused("main", "rotated");
    await refused("ending", "expired");
  });

  test("R42 a key that there is not is refused, with the one that was meant", async () => {
    const dashboard = await open(scenario);
    for (const act of [dashboard.rotate, dashboard.revoke, dashboard.key]) {
      await expectRefusal(dashboard, () => act("mian"), "unknown_ref", { kind: "key", ref: "mian" });
      await expect(act("mian")).rejects.toThrow('Did you mean "main"?');
    }
  });

  test("R13 R43 an expired key gets 401 from the instant of its expiry on, not a millisecond before", async () => {
    const dashboard = await open(scenario);
    const secret = dashboard.secret("ending");
    await dashboard.advance(89_999);
    expect(await answers(dashboard, secret)).toEqual(["200"]);
    expect((await dashboard.key("ending")).state).toBe("active");
    await dashboard.advance(1);
    expect(await answers(dashboard, secret)).toEqual([unauthorized]);
    expect((await dashboard.key("ending")).state).toBe("expired");
    await dashboard.advance(1);
    expect(await answers(dashboard, secret)).toEqual([unauthorized]);
  });

  test("R43 a key can be created with an expiry: a length of time from now, or an instant", async () => {
    const dashboard = await open(scenario);
    await dashboard.advance(hour);
    const { key, secret } = await dashboard.create({ ...testKey, expires: "10m" });
    expect(key.expiresAt).toBe(at(hour + 10 * minute));
    const pinned = await dashboard.create({ ...testKey, expires: at(2 * hour) });
    expect(pinned.key.expiresAt).toBe(at(2 * hour));
    await dashboard.setClock(at(hour + 10 * minute));
    expect(await answers(dashboard, secret, pinned.secret)).toEqual([unauthorized, "200"]);
    await expectRefusal(
      dashboard,
      () => dashboard.create({ ...testKey, expires: "soon" }),
      "validation_failed",
    );
  });
});

describeDashboards("changing an organization", (open) => {
  test("R18 R41 an organization that is made inactive, and active again, takes effect with the next request", async () => {
    const dashboard = await open(scenario);
    const secret = dashboard.secret("main");
    await dashboard.updateOrganization("bank", { status: "inactive" });
    expect(await answers(dashboard, secret, dashboard.secret("revoked"))).toEqual([
      "403 access_denied",
      unauthorized,
    ]);
    await dashboard.updateOrganization("bank", { status: "active" });
    expect(await answers(dashboard, secret)).toEqual(["200"]);
  });

  test("R19 R20 live access that is suspended stops live keys and no test key", async () => {
    const dashboard = await open(scenario);
    const both = [dashboard.secret("live"), dashboard.secret("main")];
    for (const liveAccess of ["suspended", "not_approved"] as const) {
      expect(await dashboard.updateOrganization("bank", { liveAccess })).toMatchObject({ liveAccess });
      expect(await answers(dashboard, ...both)).toEqual(["403 live_access_not_approved", "200"]);
    }
    await dashboard.updateOrganization("bank", { liveAccess: "approved" });
    expect(await answers(dashboard, ...both)).toEqual(["200", "200"]);
  });

  test("an update changes what it names and nothing else", async () => {
    const dashboard = await open(scenario);
    const before = await dashboard.organization("bank");
    const updated = await dashboard.updateOrganization("bank", {
      sandboxAccess: false,
      status: undefined,
    } as never);
    expect(updated).toEqual({ ...before, sandboxAccess: false });
    expect(await dashboard.organization("bank")).toEqual(updated);
    expect(await dashboard.updateOrganization("bank", {})).toEqual(updated);
  });

  test.each([
    ["a status that there is not", { status: "paused" }, "status"],
    ["a live access that there is not", { liveAccess: "pending" }, "live_access"],
    ["a sandbox access that is no switch", { sandboxAccess: "yes" }, "sandbox_access"],
    ["a field that does not change", { id: "another" }, "id"],
  ])("%s is refused", async (_title, wrong, field) => {
    const dashboard = await open(scenario);
    await expectRefusal(
      dashboard,
      () => dashboard.updateOrganization("bank", { ...wrong } as never),
      "validation_failed",
      { fields: { [field]: expect.any(String) } },
    );
  });

  test("an organization that there is not is refused", async () => {
    const dashboard = await open(scenario);
    await expectRefusal(dashboard, () => dashboard.updateOrganization("bnak", {}), "unknown_ref", {
      kind: "organization",
      ref: "bnak",
    });
  });
});

describeDashboards("starting again", (open) => {
  test("reset undoes all that was done, and forgets the keys that were made", async () => {
    const dashboard = await open(scenario);
    const fresh = [dashboard.snapshot(), await dashboard.keys()];
    const { secret } = await dashboard.create(testKey);
    await dashboard.rotate("main");
    await dashboard.revoke("live");
    await dashboard.updateOrganization("bank", { status: "inactive" });
    await dashboard.advance(day);
    await dashboard.callMe(secret);
    await dashboard.reset();
    expect([dashboard.snapshot(), await dashboard.keys()]).toEqual(fresh);
    expect(await dashboard.requests()).toEqual([]);
    expect(await answers(dashboard, secret, dashboard.secret("main"))).toEqual([unauthorized, "200"]);
  });
});
