import { expect, test } from "vitest";
import type { KeyView } from "../src/index.js";
import { describeDashboards } from "./support/dashboard.js";
import {
  answers,
  at,
  expectRefusal,
  hour,
  minute,
  lifecycleScenario as scenario,
  start,
  testKey,
  unauthorized,
} from "./support/lifecycle.js";

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
