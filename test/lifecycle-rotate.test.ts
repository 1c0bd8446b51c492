import { expect, test } from "vitest";
import { describeDashboards } from "./support/dashboard.js";
import {
  answers,
  at,
  day,
  expectRefusal,
  fill,
  hour,
  minute,
  lifecycleScenario as scenario,
  start,
  testKey,
  unauthorized,
} from "./support/lifecycle.js";

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
