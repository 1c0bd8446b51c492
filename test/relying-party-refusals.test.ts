import { expect, test } from "vitest";
import { unknownSecret } from "../src/sandbox/scenario-keys.js";
import { scenarioSecret } from "../src/sandbox/secrets.js";
import type { Scenario } from "../src/scenario/scenario.generated.js";
import { describeDoors } from "./support/doors.js";
import { expectError } from "./support/expect-error.js";
import { oneKey } from "./support/one-key.js";

describeDoors("the relying-party API", (open) => {
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
});
