import type { Scenario } from "../../src/scenario/scenario.generated.js";

/** A world of one bank with one test key of these properties. */
export function oneKey(key: Record<string, unknown>, rest: Partial<Scenario> = {}): Scenario {
  return {
    version: 1,
    clock: { now: "2026-03-02T09:00:00Z" },
    ...rest,
    organizations: {
      "test-bank": {
        name: "Test Bank",
        type: "bank",
        keys: { key: { environment: "test", ...key } as never },
      },
    },
  };
}
