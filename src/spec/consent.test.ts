import { expect, test } from "vitest";
import { type ConsentRecord, consentHistory, effectiveDecisions } from "./consent.js";
import { day, minute } from "./limits.js";

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
  expect(effectiveDecisions(record)).toEqual([grant]);
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
