import { parseList } from "structured-headers";
import { expect, test } from "vitest";
import type { Scenario } from "../src/scenario/scenario.generated.js";
import { describeDoors, headerOf } from "./support/doors.js";

const scenario = (assumptions: NonNullable<Scenario["assumptions"]>): Scenario => ({
  version: 1,
  clock: { now: "2026-03-02T09:00:26Z" },
  assumptions,
  organizations: {
    bank: {
      name: "A Bank",
      type: "bank",
      live_access: "suspended",
      keys: {
        key: { environment: "test", limits: { per_minute: 2, per_day: 1000 } },
        day: { environment: "test", limits: { per_minute: 2, per_day: 1 } },
        live: { environment: "live" },
        narrow: { environment: "test", scopes: ["consents:read"] },
        revoked: { environment: "test", state: "revoked" },
      },
    },
    closed: { name: "Closed", type: "bank", status: "inactive", keys: { closed: { environment: "test" } } },
  },
});

describeDoors("what typical gateways say", (open) => {
  test("a 200 tells of both limits in structured fields", async () => {
    const door = await open(scenario({ profile: "typical" }));
    const seen = await door.me({ ref: "key" });
    expect(headerOf(seen, "ratelimit-policy")).toBe('"minute";q=2;w=60, "day";q=1000;w=86400');
    expect(headerOf(seen, "ratelimit")).toBe('"minute";r=1;t=34, "day";r=999;t=53974');
    await door.close();
  });

  test("the limit headers are lists of strings with whole numbers, as an independent parser reads them", async () => {
    const door = await open(scenario({ profile: "typical" }));
    for (let i = 0; i < 4; i++) {
      const seen = await door.me({ ref: "key" });
      for (const [name, wanted] of [
        ["ratelimit-policy", ["q", "w"]],
        ["ratelimit", ["r", "t"]],
      ] as const) {
        const list = parseList(headerOf(seen, name) ?? "");
        expect(list.map(([item]) => item)).toEqual(["minute", "day"]);
        for (const [, parameters] of list) {
          expect([...parameters.keys()]).toEqual(wanted);
          for (const value of parameters.values())
            expect(Number.isInteger(value) && Number(value) >= 0).toBe(true);
        }
      }
    }
    await door.close();
  });

  test.each([
    ["key", 2, 34, "per_minute"],
    ["day", 1, 53_974, "per_day"],
  ])("a 429 of %s says when to come back: not before its limit resets", async (ref, allowed, seconds, limit) => {
    const door = await open(scenario({ profile: "typical" }));
    for (let i = 0; i < allowed; i++) await door.me({ ref });
    const seen = await door.me({ ref });
    expect([seen.status, headerOf(seen, "retry-after")]).toEqual([429, String(seconds)]);
    expect(JSON.parse(seen.body).error.details).toEqual({ limit, retry_after_seconds: seconds });
    door.world.clock.advance((seconds - 1) * 1000);
    expect((await door.me({ ref })).status).toBe(429);
    door.world.clock.advance(1000);
    expect((await door.me({ ref })).status).toBe(200);
    await door.close();
  });

  test("Retry-After as a date is not before the reset, on the clock that the client has", async () => {
    const door = await open(scenario({ retry_after: "date" }));
    await door.me({ ref: "day" });
    const before = Date.now();
    const date = Date.parse(headerOf(await door.me({ ref: "day" }), "retry-after") ?? "");
    expect(date).toBeGreaterThanOrEqual(before + 53_974_000);
    expect(date).toBeLessThan(before + 53_980_000);
    await door.close();
  });

  test("the legacy headers speak of the limit that is nearest to its end", async () => {
    const door = await open(scenario({ rate_limit_headers: "legacy" }));
    const seen = await door.me({ ref: "key" });
    expect(["limit", "remaining", "reset"].map((name) => headerOf(seen, `x-ratelimit-${name}`))).toEqual([
      "2",
      "1",
      "34",
    ]);
    expect(headerOf(seen, "ratelimit")).toBeUndefined();
    await door.close();
  });

  test("R7 errors carry a request id, too, and no two the same", async () => {
    const door = await open(scenario({ profile: "typical" }));
    const ids = [];
    for (const ref of ["key", "revoked", "live", "narrow", "closed", "key"])
      ids.push(headerOf(await door.me({ ref }), "x-request-id"));
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(ids.length);
    await door.close();
  });

  test.each([
    ["closed", { organization_status: "inactive" }],
    ["live", { live_access: "suspended" }],
    ["narrow", { required_scope: "attestations:read" }],
  ])("R27 the 403 of %s has details", async (ref, details) => {
    const door = await open(scenario({ profile: "typical" }));
    expect(JSON.parse((await door.me({ ref })).body).error.details).toEqual(details);
    await door.close();
  });

  test("R14 every 401 has the same headers and bytes, the request id aside, and never a detail", async () => {
    const door = await open(scenario({ profile: "typical" }));
    const seen = [];
    for (const key of [undefined, { header: "x" }, { header: "SVC_test_sbxabc" }, { ref: "revoked" }]) {
      const { status, headers, body } = await door.me(key);
      seen.push({ status, body, headers: headers.filter(([name]) => name.toLowerCase() !== "x-request-id") });
    }
    for (const one of seen) expect(one).toEqual(seen[0]);
    expect(seen[0]?.headers.map(([name]) => name.toLowerCase())).toContain("www-authenticate");
    expect(seen[0]?.body).not.toContain("details");
    await door.close();
  });

  test("a sliding minute has more quota when its oldest request is a minute old", async () => {
    const door = await open(scenario({ profile: "typical", minute_window: "sliding" }));
    await door.me({ ref: "key" });
    door.world.clock.advance(20_000);
    await door.me({ ref: "key" });
    expect(headerOf(await door.me({ ref: "key" }), "retry-after")).toBe("40");
    await door.close();
  });
});
