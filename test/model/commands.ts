import fc from "fast-check";
import { profiles } from "../../src/rules/assumptions.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { mePath } from "../support/send.js";

/** When the clock of the model's sandbox starts: shortly before a minute and a day end. */
export const start = Date.parse("2026-03-02T23:58:30Z");
export const refs = ["a", "b", "c", "d", "e", "f"] as const;
const organizations = ["bank", "insurer"] as const;

const things = "/v1/things";

/** Endpoints that overlap, in the order of the scenario. */
export const endpoints = [
  { method: "GET", path: `${things}/{x}`, scope: "consents:read", status: 200 },
  { method: "POST", path: `${things}/a`, scope: null, status: 201 },
  { method: "POST", path: `${things}/{y}`, scope: "attestations:read", status: 202 },
  { method: "DELETE", path: `${things}/{y}/b`, scope: null, status: 204 },
  { method: "DELETE", path: `${things}/c/{z}`, scope: "consents:write", status: 204 },
] as const;

/** Something that happens in the model's sandbox. */
export const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("request" as const),
      // The key with the small limits more often than the others, so that they are reached.
      key: fc.constantFrom("a", "a", "a", "a", "a", ...refs, "j", "k", "l", "none", "junk", "unknown"),
      method: fc.constantFrom("GET", "GET", "GET", "GET", "GET", "POST", "PUT", "DELETE"),
      // `/me` more often than the others.
      path: fc.constantFrom(
        ...Array(9).fill(mePath),
        ...["", "/", "/a", "/b", "/a/b", "/c/d", "/%61", "/%62", "/%63/d"].map((end) => things + end),
        mePath.replace("m", "%6d"),
      ),
    }),
  },
  {
    // To the endpoints without a scope, also with the key that lacks the scope of `/me`.
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("request" as const),
      key: fc.constantFrom("a", "c"),
      method: fc.constantFrom("POST", "DELETE"),
      path: fc.constantFrom(`${things}/a`, `${things}/a/b`),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      by: fc.constantFrom(0, 1, 999, 1_000, 29_999, 30_000, 59_999, 60_000, 90_000, 3_600_000, 86_400_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("revoke" as const), key: fc.constantFrom(...refs) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("rotate" as const),
      key: fc.constantFrom(...refs),
      as: fc.constantFrom(...refs),
      overlap: fc.constantFrom(0, 1000, 30_000, 60_000, 604_800_000, 604_801_000, -1000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      ref: fc.constantFrom(...refs),
      organization: fc.constantFrom(...organizations),
      environment: fc.constantFrom("test" as const, "test" as const, "live" as const),
      scopes: fc.constantFrom(["attestations:read"], ["attestations:read"], ["consents:read"], []),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("organization" as const),
      ref: fc.constantFrom(...organizations),
      active: fc.boolean(),
      live: fc.constantFrom("approved" as const, "suspended" as const, "not_approved" as const),
      sandboxAccess: fc.boolean(),
    }),
  },
);
export type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

/** A sandbox small enough that its limits, expiries and the five active keys are within reach of a few commands. */
export function modelScenario(): Scenario {
  return {
    version: 1,
    clock: { now: new Date(start).toISOString(), frozen: true },
    assumptions: { error_details: true },
    endpoints: Object.fromEntries(
      endpoints.map((one, index) => [
        `e${index}`,
        one.status === 204 ? one : { ...one, body: { of: index } },
      ]),
    ),
    organizations: {
      bank: {
        name: "A Bank",
        type: "bank",
        live_access: "approved",
        keys: {
          a: { environment: "test", limits: { per_minute: 2, per_day: 3 } },
          b: { environment: "live", expires: "90s" },
          // Four active test keys, so that the fifth and the rejected sixth are within reach.
          g: { environment: "test" },
          h: { environment: "test" },
          i: { environment: "test" },
        },
      },
      insurer: {
        name: "An Insurer",
        type: "insurer",
        keys: {
          c: { environment: "test", scopes: ["consents:read"] },
          d: { environment: "live", legacy: true },
          // A limit of 0 next to one that is reached.
          j: { environment: "test", limits: { per_minute: 0, per_day: 2 }, usage: { today: 2 } },
          k: { environment: "test", limits: { per_minute: 1, per_day: 0 }, usage: { this_minute: 1 } },
          l: { environment: "test", limits: { per_minute: 0, per_day: 1 } },
        },
      },
    },
  };
}

/** A scenario of such a sandbox, in any profile. */
export const anyScenario = fc.constantFrom(...profiles).map((profile): Scenario => {
  const scenario = modelScenario();
  return { ...scenario, assumptions: { ...scenario.assumptions, profile } };
});
