import { expect, test } from "vitest";
import { nextRequest } from "../../src/api/next-request.js";
import type { Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { openApi } from "../support/api-client.js";
import { headerOf } from "../support/doors.js";

type Assumptions = NonNullable<Scenario["assumptions"]>;

const gateway = (assumptions: Assumptions) =>
  openApi({
    version: 1,
    clock: { now: "2026-03-02T09:00:26Z" },
    assumptions,
    organizations: {
      bank: {
        type: "bank",
        live_access: "suspended",
        keys: {
          key: { environment: "test", limits: { per_minute: 2, per_day: 1000 } },
          day: { environment: "test", limits: { per_minute: 2, per_day: 1 } },
          both: { environment: "test", limits: { per_minute: 1, per_day: 1 } },
          live: { environment: "live" },
          narrow: { environment: "test", scopes: ["consents:read"] },
        },
      },
      insurer: {
        type: "insurer",
        keys: {
          never: { environment: "test", limits: { per_minute: 0, per_day: 5 }, usage: { today: 5 } },
        },
      },
      closed: { type: "bank", status: "inactive", keys: { closed: { environment: "test" } } },
    },
  });

test("the requests of this minute are some of today's, also if a scenario has only them", async () => {
  const busy = {
    environment: "test",
    limits: { per_minute: 9, per_day: 4 },
    usage: { this_minute: 3 },
  } as const;
  const { sandbox, statuses } = openApi({
    version: 1,
    clock: { now: "2026-03-02T09:00:26Z" },
    organizations: { bank: { type: "bank", keys: { busy } } },
  });
  expect(sandbox.keys.get("busy").usage).toEqual({ thisMinute: 3, today: 3 });
  expect(await statuses("busy", 2)).toEqual([200, 429]);
});

test("a 200 of typical gateways has both limits in structured fields", async () => {
  const seen = await gateway({ profile: "typical" }).me({ ref: "key" });
  expect(headerOf(seen, "ratelimit-policy")).toBe('"minute";q=2;w=60, "day";q=1000;w=86400');
  expect(headerOf(seen, "ratelimit")).toBe('"minute";r=1;t=34, "day";r=999;t=53974');
});

test.each([
  ["key", 2, 34, "per_minute"],
  ["day", 1, 53_974, "per_day"],
])(
  "a 429 of %s shows when to try again: not before its limit resets",
  async (ref, allowed, seconds, limit) => {
    const { sandbox, me, status, statuses } = gateway({ profile: "typical" });
    await statuses(ref, allowed);
    const seen = await me({ ref });
    expect([seen.status, headerOf(seen, "retry-after")]).toEqual([429, String(seconds)]);
    expect(JSON.parse(seen.body).error.details).toEqual({ limit, retry_after_seconds: seconds });
    sandbox.clock.advance(`${seconds - 1}s`);
    expect(await status(ref)).toBe(429);
    sandbox.clock.advance("1s");
    expect(await status(ref)).toBe(200);
  },
);

test.each([
  ["closed", { organization_status: "inactive" }],
  ["live", { live_access: "suspended" }],
  ["narrow", { required_scope: "attestations:read" }],
])("R27 the 403 of %s has details where they are assumed", async (ref, details) => {
  const seen = await gateway({ profile: "typical" }).me({ ref });
  expect(JSON.parse(seen.body).error.details).toEqual(details);
});

test.each([
  ["2026-03-02T09:00:26Z", "day", 53_974],
  // The last minute of a day ends with it.
  ["2026-03-02T23:59:26Z", "minute", 34],
])(
  "R22 R23 with both limits used up at %s, a 429 names the one of the %s by all: details, headers and the dry run",
  async (now, name, seconds) => {
    for (const rate_limit_headers of ["legacy", "draft"] as const) {
      const { sandbox, statuses, me } = gateway({ profile: "typical", rate_limit_headers });
      sandbox.clock.set(now);
      await statuses("both", 1);
      const seen = await me({ ref: "both" });
      expect(JSON.parse(seen.body).error.details).toEqual({
        limit: `per_${name}`,
        retry_after_seconds: seconds,
      });
      expect(headerOf(seen, "retry-after")).toBe(String(seconds));
      expect(nextRequest(stateOf(sandbox), "both").outcome).toBe(`429.per_${name}`);
      if (rate_limit_headers === "legacy") expect(headerOf(seen, "x-ratelimit-reset")).toBe(String(seconds));
      else expect(headerOf(seen, "ratelimit")).toContain(`"${name}";r=0;t=${seconds}`);
    }
  },
);

test("R22 R23 Retry-After is never early and never a second late, at any millisecond", async () => {
  for (const retry_after of ["seconds", "date"] as const) {
    for (const [ref, allowed] of [
      ["key", 2],
      ["day", 1],
    ] as const) {
      for (const ms of [0, 1, 500, 999]) {
        const { sandbox, me, status, statuses } = gateway({ retry_after });
        sandbox.clock.advance(`${ms}ms`);
        await statuses(ref, allowed);
        sandbox.clock.advance("250ms");
        const value = headerOf(await me({ ref }), "retry-after") ?? "";
        const now = Date.parse(sandbox.clock.now());
        // A date has whole seconds.
        const waited = retry_after === "seconds" ? Number(value) * 1000 : Date.parse(value) - now;
        sandbox.clock.advance(`${waited - 2000}ms`);
        expect([value, ms, await status(ref)]).toEqual([value, ms, 429]);
        sandbox.clock.advance("2s");
        expect([value, ms, await status(ref)]).toEqual([value, ms, 200]);
      }
    }
  }
});

test("R22 R23 a limit of 0 never resets, so a 429 is about it before one that does", async () => {
  const { sandbox, me, lastPath } = gateway({ profile: "typical" });
  const seen = await me({ ref: "never" });
  expect(lastPath()).toBe("429.per_minute");
  expect(headerOf(seen, "retry-after")).toBe("34");
  expect(JSON.parse(seen.body).error.details).toEqual({ limit: "per_minute", retry_after_seconds: 34 });
  expect(nextRequest(stateOf(sandbox), "never")).toMatchObject({
    until: null,
    sentence: "429 always: allows 0 requests a minute",
  });
});
