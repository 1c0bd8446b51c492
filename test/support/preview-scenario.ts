import type { Scenario } from "../../src/scenario/scenario.generated.js";

const everything = ["attestations:read", "attestations:write", "consents:read", "consents:write"];
const limits = { per_minute: 1_000_000, per_day: 1_000_000 };

/** A world with the preview: two organizations, each with a key that may do everything, and keys that may not. */
export const previewScenario: Scenario = {
  version: 1,
  preview: true,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  population: { farmers: 50 },
  organizations: {
    bank: {
      type: "bank",
      live_access: "approved",
      keys: {
        bank: { environment: "test", scopes: everything, limits },
        "bank-second": { environment: "test", scopes: everything, limits },
        "bank-live": { environment: "live", scopes: everything, limits },
        "bank-none": { environment: "test", scopes: ["attestations:write"], limits },
        "bank-limited": { environment: "test", scopes: everything, limits: { per_minute: 0, per_day: 10 } },
        "bank-revoked": { environment: "test", scopes: everything, state: "revoked" },
      },
    },
    insurer: {
      type: "insurer",
      live_access: "approved",
      keys: {
        insurer: { environment: "test", scopes: everything, limits },
        "insurer-live": { environment: "live", scopes: everything, limits },
      },
    },
  },
};
