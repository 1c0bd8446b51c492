import { expect, test } from "vitest";
import { problemsOf } from "../../test/support/problems-of.js";

const active = { environment: "test" };

function codesOf(keys: Record<string, unknown>, rest: Record<string, unknown> = {}): string[] {
  const scenario = { version: 1, organizations: { bank: { type: "bank", keys } }, ...rest };
  return problemsOf(JSON.stringify(scenario)).map(({ code }) => code);
}

const five = Object.fromEntries(["a", "b", "c", "d", "e"].map((ref) => [ref, active]));
const clock = { now: "2026-03-02T09:00:00Z" };

test.each([
  ["a revoked one", { ...active, state: "revoked" }],
  ["one that expires at the very start", { ...active, expires: "0s" }],
  ["a retiring one", { ...active, state: "retiring", replaced_by: "a" }],
  ["one whose expiry hangs on the real time", { ...active, expires: "2026-03-03T00:00:00Z" }],
])("beside five active keys there may be %s (R32)", (_name, key) => {
  expect(codesOf({ ...five, other: key })).toEqual([]);
});

test.each([
  ["7d", []],
  ["2026-03-09T09:00:01Z", ["overlap_out_of_range"]],
  ["2026-03-02T09:00:00Z", ["state_contradiction"]],
])("the overlap of a retiring key that ends at %s: %j (R38, R39)", (end, codes) => {
  const old = { ...active, state: "retiring", replaced_by: "new", overlap_ends: end };
  expect(codesOf({ old, new: active }, { clock })).toEqual(codes);
});

test.each([
  [{ state: "active", expires: "-1s" }, ["state_contradiction"]],
  [{ state: "active", expires: "1s" }, []],
  [{ state: "expired", expires: "-1s" }, []],
  [{ state: "expired", expires: "2026-03-02T09:00:01Z" }, ["state_contradiction"]],
  [{ state: "rotated", overlap_ends: "-1d", expires: "-2d" }, ["state_contradiction"]],
  [{ state: "revoked", expires: "-2d" }, []],
])("%j: %j (R43)", (fields, codes) => {
  expect(codesOf({ main: { ...active, ...fields } }, { clock })).toEqual(codes);
});

test("the legacy kind of a pinned secret is taken from its prefix (R16)", () => {
  expect(codesOf({ main: { ...active, secret: "legacysvc_test_abc" } })).toEqual([]);
  expect(codesOf({ main: { ...active, legacy: true, secret: "legacysvc_test_abc" } })).toEqual([]);
});

test("scopes may be named anew, and then count for keys and for the endpoint", () => {
  const assumptions = { scopes: ["farms:read"], me_scope: "farms:read" };
  expect(codesOf({ main: { ...active, scopes: ["farms:read"] } }, { assumptions })).toEqual([]);
  expect(codesOf({ main: active }, { assumptions })).toEqual(["unknown_scope"]);
  expect(codesOf({}, { assumptions: { scopes: ["farms:read"] } })).toEqual(["unknown_scope"]);
  expect(codesOf({}, { assumptions: { scopes: ["farms:read"], me_scope: null } })).toEqual([]);
});

test("a replaced key may have been revoked in its overlap, and names its replacement (R37, R42)", () => {
  const replaced = { ...active, state: "revoked", replaced_by: "new" };
  expect(codesOf({ old: { ...replaced, overlap_ends: "1h" }, new: active }, { clock })).toEqual([]);
  expect(codesOf({ old: { ...replaced, overlap_ends: "8d" }, new: active }, { clock })).toEqual([
    "overlap_out_of_range",
  ]);
  expect(codesOf({ old: { ...active, state: "revoked", overlap_ends: "1h" } })).toEqual([
    "replacement_not_expected",
  ]);
});

test("a replaced key may have expired before its overlap was over, and names its replacement (R37, R43)", () => {
  const replaced = { ...active, state: "expired", expires: "-1m", replaced_by: "new" };
  expect(codesOf({ old: replaced, new: active }, { clock })).toEqual([]);
  expect(codesOf({ old: { ...replaced, overlap_ends: "1h" }, new: active }, { clock })).toEqual([]);
  expect(codesOf({ old: { ...replaced, overlap_ends: "-1h" }, new: active }, { clock })).toEqual([
    "state_contradiction",
  ]);
  expect(codesOf({ old: replaced }, { clock })).toEqual(["unknown_key_ref"]);
  expect(codesOf({ old: { ...active, state: "expired", overlap_ends: "1h" } })).toEqual([
    "replacement_not_expected",
  ]);
});

test("requests of a sliding minute may belong to the day before, when it is said when they were counted (R24)", () => {
  const usage = { this_minute: 2, today: 1 };
  const counted_at = ["2026-03-01T23:59:50Z", "2026-03-02T00:00:05Z"];
  const assumptions = { minute_window: "sliding" };
  expect(codesOf({ main: { ...active, usage } }, { assumptions })).toEqual(["usage_contradiction"]);
  expect(codesOf({ main: { ...active, usage: { ...usage, counted_at } } }, { assumptions })).toEqual([]);
});
