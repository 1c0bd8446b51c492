import { describe, expect, test } from "vitest";
import { problemsOf } from "../../../test/support/problems-of.js";

test("a replaced key that expired gets a hint that mends it (R43)", () => {
  const withOld = (fields: string) =>
    `version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n      new: { environment: test }\n      old: { environment: test, expires: -1d, replaced_by: new${fields} }\n`;
  expect(problemsOf(withOld(""))).toMatchObject([
    {
      code: "replacement_not_expected",
      message: "replaced_by is for replaced keys, but the key has no state",
      hint: "add state: retiring, rotated, expired or revoked, or remove the field",
    },
  ]);
  expect(problemsOf(withOld(", state: expired"))).toEqual([]);
});

describe("a hint about a replaced key fits what is written", () => {
  const withKeys = (keys: string) =>
    `version: 1\nclock: { now: 2026-03-02T09:00:00Z }\norganizations: { bank: { type: bank, keys: { ${keys} } } }\n`;

  test.each([
    ["overlap_ends: -1h, state: expired", /^add replaced_by .*, or remove the field$/],
    ["overlap_ends: -1h, state: revoked", /^add replaced_by .*, or remove the field$/],
    ["overlap_ends: 1h, state: active", /^write state: retiring, rotated, expired or revoked, or/],
    ["overlap_ends: 1h, expires: -1d", /^add state: retiring, rotated, expired or revoked, or/],
    ["overlap_ends: 1h", /^add state: retiring, rotated, expired or revoked, or/],
  ])("%s", (fields, hint) => {
    expect(problemsOf(withKeys(`old: { environment: test, ${fields} }`))).toMatchObject([
      { hint: expect.stringMatching(hint) },
    ]);
  });
});

test("a key of a population replaces no key of another organization (R37)", () => {
  const old = "{ environment: test, state: rotated, replaced_by: organization-1-key-1 }";
  const text = `version: 1\npopulation: { organizations: 1 }\norganizations: { bank: { type: bank, keys: { old: ${old} } } }\n`;
  expect(problemsOf(text).map(({ code }) => code)).toEqual(["replacement_elsewhere"]);
});

test("rotations are compared once each has one order: a circle that an active key enters is left to the rule of active keys", () => {
  const keys =
    "a: { environment: test, replaced_by: b }, b: { environment: test, state: rotated, replaced_by: a }";
  const fault = "faults: [{ when: { key: a, outcome: 200.live }, then: { hang: true } }]";
  const text = `version: 1\norganizations: { bank: { type: bank, keys: { ${keys} } } }\n${fault}\n`;
  expect(problemsOf(text).map(({ code }) => code)).toEqual(["replacement_not_expected"]);
});
