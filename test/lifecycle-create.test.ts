import { expect, test } from "vitest";
import { describeDashboards } from "./support/dashboard.js";
import {
  answers,
  expectRefusal,
  fill,
  liveKey,
  minute,
  lifecycleScenario as scenario,
  testKey,
} from "./support/lifecycle.js";

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
