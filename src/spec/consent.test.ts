import { expect, test } from "vitest";
import { day, minute } from "./api-key.js";
import type { ConsentDecision, ConsentRecord, Suspension } from "./consent.js";
import { attestationAt, canBeAttested, consentHistory, personaOf, productionTime } from "./consent.js";

const consent = (fields: Partial<ConsentRecord> = {}): ConsentRecord => ({
  createdAt: 0,
  expiresAt: 90 * day,
  persona: "silent",
  decisions: [],
  ...fields,
});
const statusesAt = (record: ConsentRecord, now: number) =>
  consentHistory(record, now).map(({ status }) => status);

test("a decision that is not allowed when its time comes changes nothing", () => {
  const revoke = { at: 10, action: "revoke" } as const;
  const grant = { at: 20, action: "grant" } as const;
  const record = consent({ decisions: [revoke, grant] });
  expect(statusesAt(record, 30)).toEqual(["pending", "granted"]);
});

test.each([
  ["the farmer's own grant", [], "revoked"],
  ["a grant made by hand", [{ at: 10, action: "grant" }], "granted"],
] as const)("of a farmer who grants and then revokes, %s is %s after 31 days", (_what, decisions, status) => {
  const record = consent({ persona: "grants_then_revokes", decisions });
  expect(statusesAt(record, 31 * day).at(-1)).toBe(status);
});

test.each([
  ["silent", 7 * day, "expired"],
  ["refuses", 120 * minute, "rejected"],
  ["grants", 120 * minute, "granted"],
] as const)("a request to a farmer of the persona %s is pending until %i, and then %s", (persona, at, status) => {
  const record = consent({ persona });
  expect([at - 1, at].map((now) => statusesAt(record, now).at(-1))).toEqual(["pending", status]);
});

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

test("an attestation is suspended from the start to the end of its suspension, and no other permission's attestation is", () => {
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

test.each([
  ["grants", 0.7],
  ["refuses", 0.1],
  ["silent", 0.15],
  ["grants_then_revokes", 0.05],
] as const)("of all but the first farmers %s is the persona of a share of %d", (persona, share) => {
  const personas = Array.from({ length: 20_000 }, (_, index) => personaOf(1, index + 5));
  expect(personas.filter((one) => one === persona).length / personas.length).toBeCloseTo(share, 1.7);
});

test("attestations of the fifth farmer fail, those before never, and one in twenty of the others", () => {
  const seeds = Array.from({ length: 50 }, (_, seed) => seed);
  for (const farmer of [0, 1, 2, 3, 4])
    expect(seeds.map((seed) => canBeAttested(seed, farmer, "land"))).toEqual(seeds.map(() => farmer !== 4));
  const farmers = Array.from({ length: 20_000 }, (_, index) => index + 5);
  const attested = farmers.map((farmer) => canBeAttested(1, farmer, "land"));
  expect(attested.filter(Boolean).length / farmers.length).toBeCloseTo(0.95, 1.7);
  // By themselves: not those of some personas, and not the same of each permission.
  expect(farmers.map((farmer) => canBeAttested(1, farmer, "loans"))).not.toEqual(attested);
});
