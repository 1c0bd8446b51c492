import { expect } from "vitest";
import { createSandbox, type Sandbox, type Scenario } from "../../src/index.js";
import { snapshot } from "../support/continued.js";

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;
const start = "2026-03-02T09:00:00.000Z";
export const at = (afterStart: number) => new Date(Date.parse(start) + afterStart).toISOString();

/** Two organizations, and a key in every state. */
export const scenario = {
  version: 1,
  clock: { now: start, frozen: true },
  organizations: {
    bank: {
      type: "bank",
      live_access: "approved",
      keys: {
        main: {
          ...{ environment: "test", name: "Core banking", scopes: ["attestations:read", "consents:read"] },
          limits: { per_minute: 7, per_day: 70 },
        },
        live: { environment: "live" },
        legacy: { environment: "test", legacy: true },
        "legacy-live": { environment: "live", legacy: true },
        revoked: { environment: "test", state: "revoked" },
        expired: { environment: "test", expires: "-1d" },
        retiring: { environment: "test", state: "retiring", replaced_by: "replacement", overlap_ends: "30m" },
        replacement: { environment: "test" },
        rotated: { environment: "test", state: "rotated" },
      },
    },
    insurer: { type: "insurer", keys: { "insurer-key": { environment: "test" } } },
  },
} satisfies Scenario;

export const testKey = { organization: "insurer", environment: "test", name: "CI" } as const;

/** Starts the scenario; refs are not known to its type, since tests make keys. */
export function open(changes: Partial<Scenario> = {}): Sandbox {
  return createSandbox({ scenario: { ...scenario, ...changes } as Scenario });
}

/** Expects a rejection with this code and these details, which changes nothing. */
export function expectRejection(sandbox: Sandbox, act: () => unknown, code: string, details: object = {}) {
  const seen = () => [snapshot(sandbox), sandbox.keys.list(), sandbox.requests.list()];
  const before = seen();
  expect(act).toThrow(expect.objectContaining({ code, details: expect.objectContaining(details) }));
  expect(seen()).toEqual(before);
}

/** Calls who-am-I with these keys; returns each status, with the code of an error. */
export async function responses(sandbox: Sandbox, ...secrets: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const secret of secrets) {
    const response = await sandbox.fetch("https://api.example/v1/relying-party/me", {
      headers: { "x-api-key": secret },
    });
    const { error } = (await response.json()) as { error?: { code: string } };
    found.push(error === undefined ? String(response.status) : `${response.status} ${error.code}`);
  }
  return found;
}

export const unauthorized = "401 unauthorized";

/** Creates keys until the insurer has as many active test keys as it may. */
export function fill({ keys }: Sandbox): void {
  for (let held = 1; held < 5; held++) keys.create(testKey);
}
