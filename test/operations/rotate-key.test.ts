import { expect, test } from "vitest";
import type { Overlap } from "../../src/index.js";
import { continued } from "../support/continued.js";
import { at, day, expectRejection, hour, open, responses, testKey, unauthorized } from "./sandbox.js";

test("R26 R37 the replacement has the name, scopes and limits of the old key, and its own usage", async () => {
  const sandbox = open();
  await responses(sandbox, sandbox.secret("main"));
  const { key, secret } = sandbox.keys.rotate("main");
  expect(key).toMatchObject({
    ...{ ref: "main-2", name: "Core banking", organization: "bank", environment: "test", state: "active" },
    ...{ scopes: ["attestations:read", "consents:read"], limits: { perMinute: 7, perDay: 70 } },
    ...{ usage: { thisMinute: 0, today: 0 }, replaces: "main", replacedBy: null, overlapEndsAt: null },
  });
  expect(await responses(sandbox, secret)).toEqual(["200"]);
  expect(sandbox.keys.get("main-2").usage.today).toBe(1);
});

test.each<[title: string, overlap: Overlap | undefined, lasts: number]>([
  ["60 minutes without an overlap given", undefined, hour],
  ["0, at once", 0, 0],
  ["7 days", "7d", 7 * day],
])(
  "R38 R39 R40 the old key works through an overlap of %s, to the millisecond",
  async (_title, overlap, lasts) => {
    const sandbox = open();
    const { secret } = sandbox.keys.rotate("main", overlap === undefined ? {} : { overlap });
    const both = () => responses(sandbox, sandbox.secret("main"), secret);
    expect(sandbox.keys.get("main")).toMatchObject({ overlapEndsAt: at(lasts), replacedBy: "main-2" });
    if (lasts > 0) {
      sandbox.clock.advance(lasts - 1);
      expect([await both(), sandbox.keys.get("main").state]).toEqual([["200", "200"], "retiring"]);
      sandbox.clock.advance(1);
    }
    expect([await both(), sandbox.keys.get("main").state]).toEqual([[unauthorized, "200"], "rotated"]);
  },
);

test.each([
  ["legacy", /^legacysvc_test_sbx/, /^SVC_test_sbx/],
  ["legacy-live", /^legacysvc_live_sbx/, /^SVC_live_sbx/],
])(
  "R16 R17 the replacement of %s has the current prefix, and the old key works during the overlap",
  async (ref, old, current) => {
    const sandbox = open();
    expect(sandbox.secret(ref)).toMatch(old);
    const { key, secret } = sandbox.keys.rotate(ref);
    expect(secret).toMatch(current);
    expect(key.legacy).toBe(false);
    expect(await responses(sandbox, sandbox.secret(ref), secret)).toEqual(["200", "200"]);
    sandbox.clock.advance("60m");
    expect(await responses(sandbox, sandbox.secret(ref), secret)).toEqual([unauthorized, "200"]);
  },
);

test("the replacement has the next free ref, or the requested one if it is free and valid", () => {
  const sandbox = open();
  const { keys } = sandbox;
  keys.create({ ...testKey, ref: "main-2" });
  expect(keys.rotate("main").key.ref).toBe("main-3");
  expect(keys.rotate("main-3", { as: "fresh" }).key.ref).toBe("fresh");
  const long = "x".repeat(64);
  keys.create({ ...testKey, ref: long });
  expect(keys.rotate(long).key.ref).toBe(`${"x".repeat(62)}-2`);
  expectRejection(sandbox, () => keys.rotate("fresh", { as: "live" }), "name_taken", { ref: "live" });
  expectRejection(sandbox, () => keys.rotate("fresh", { as: "fresh" }), "name_taken");
  expectRejection(sandbox, () => keys.rotate("fresh", { as: "none" }), "validation_failed", {
    fields: { as: expect.any(String) },
  });
  expectRejection(sandbox, () => keys.rotate("fresh", { as: "Main 2" }), "validation_failed", {
    fields: { as: expect.any(String) },
  });
});

test("a number that is part of a key's name stays in the ref of its replacement", () => {
  const { keys } = open();
  keys.create({ ...testKey, ref: "bank" });
  keys.rotate("main", { as: "bank-2024" });
  expect(keys.rotate("bank-2024").key.ref).toBe("bank-2024-2");
  expect(keys.rotate("bank-2024-2").key.ref).toBe("bank-2024-3");
  keys.create({ ...testKey, ref: "bank-2030" });
  keys.rotate("bank-2030", { as: "bank-2031" });
  expect(keys.rotate("bank-2031").key.ref).toBe("bank-2031-2");
});

test("R42 only an active key can be rotated, and only a working key revoked, no matter what else is wrong", () => {
  const sandbox = open();
  const { keys } = sandbox;
  const states = ["revoked", "expired", "rotated"] as const;
  for (const state of [...states, "retiring"] as const) {
    expectRejection(sandbox, () => keys.rotate(state, { overlap: "-1s" }), "key_not_active", {
      ref: state,
      state,
    });
  }
  for (const state of states) {
    expectRejection(sandbox, () => keys.revoke(state), "key_not_active", { ref: state, state });
  }
});

test("R41 R42 a replaced key is revoked in its overlap, its replacement continues, and a saved state has both", async () => {
  const sandbox = open();
  const { secret } = sandbox.keys.rotate("main");
  sandbox.clock.advance("10m");
  const revoked = sandbox.keys.revoke("main");
  expect(revoked).toMatchObject({ state: "revoked", revokedAt: at(hour / 6), replacedBy: "main-2" });
  expect(revoked.overlapEndsAt).toBe(at(hour));
  const again = continued(sandbox);
  for (const one of [sandbox, again]) {
    expect(await responses(one, sandbox.secret("main"), secret)).toEqual([unauthorized, "200"]);
    expect(one.requests.list().map(({ outcome }) => outcome)).toEqual(["401.revoked", "200.replacement"]);
    one.clock.advance("1h");
    expect(one.keys.get("main").state).toBe("revoked");
    expectRejection(one, () => one.keys.revoke("main"), "key_not_active", { ref: "main", state: "revoked" });
  }
});
