import { expect } from "vitest";
import type { Scenario } from "../../src/index.js";
import type { Dashboard } from "./dashboard.js";

// What the tests of the keys' life have in common: a world with a key in every state, and how they look at it.

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;
export const start = "2026-03-02T09:00:00.000Z";
export const at = (afterStart: number) => new Date(Date.parse(start) + afterStart).toISOString();

/** Two organizations, and a key in every state. */
export const lifecycleScenario: Scenario = {
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

export const testKey = { organization: "insurer", environment: "test", name: "CI" } as const;
export const liveKey = { ...testKey, environment: "live" } as const;

/** Expects a refusal with this code and these details, and that nothing of the world is changed by it. */
export async function expectRefusal(
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
export async function answers(dashboard: Dashboard, ...secrets: readonly string[]): Promise<string[]> {
  const said: string[] = [];
  for (const secret of secrets) {
    const { status, code } = await dashboard.callMe(secret);
    said.push(code === null ? String(status) : `${status} ${code}`);
  }
  return said;
}

export const unauthorized = "401 unauthorized";

/** Gives the insurer as many active test keys as it may have. */
export async function fill(dashboard: Dashboard): Promise<void> {
  for (let held = 1; held < 5; held++) await dashboard.create(testKey);
}
