import { expect, test } from "vitest";
import { attestationAt, productionTime, type Suspension } from "./attestation.js";
import type { ConsentDecision, ConsentRecord } from "./consent.js";

const consentOf = (...decisions: ConsentDecision[]): ConsentRecord => ({
  createdAt: 0,
  expiresAt: 10 ** 10,
  persona: "silent",
  decisions,
});
const granted: ConsentDecision = { at: 1000, action: "grant" };
const ready = 1000 + productionTime;
const validityAt = (now: number, suspensions: readonly Suspension[]) =>
  attestationAt(consentOf(granted), { succeeds: true, suspensions }, "land", now)?.validity;

test("an attestation is suspended from the instant of its suspension to that of its end, and no other permission's is", () => {
  const from = { at: ready + 10, permission: "land", suspended: true } as const;
  const until = { at: ready + 20, permission: "land", suspended: false } as const;
  const times = [9, 10, 19, 20].map((after) => validityAt(ready + after, [from, until]));
  expect(times).toEqual(["active", "suspended", "suspended", "active"]);
  expect(validityAt(ready + 15, [{ ...from, permission: "loans" }])).toBe("active");
});

test.each([
  [ready - 1, "failed", null],
  [ready, "ready", "revoked"],
])("a consent that is revoked at %i ends an attestation as %s", (at, production, validity) => {
  const consent = consentOf(granted, { at, action: "revoke" });
  const state = attestationAt(consent, { succeeds: true, suspensions: [] }, "land", ready + 1);
  expect(state).toMatchObject({ production, validity });
});
