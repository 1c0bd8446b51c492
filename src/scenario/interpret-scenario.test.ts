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
  ["a live one", { environment: "live" }],
  ["a revoked one", { ...active, state: "revoked" }],
  ["an expired one", { ...active, expires: "-1d" }],
  ["one that expires at the very start", { ...active, expires: "0s" }],
  ["a retiring one", { ...active, state: "retiring", replaced_by: "a" }],
  ["one whose expiry hangs on the real time", { ...active, expires: "2026-03-03T00:00:00Z" }],
])("beside five active keys there may be %s (R32)", (_name, key) => {
  expect(codesOf({ ...five, other: key })).toEqual([]);
});

test("five active keys in each environment and organization are allowed (R32)", () => {
  const live = Object.fromEntries(["k", "l", "m", "n", "o"].map((ref) => [ref, { environment: "live" }]));
  expect(codesOf({ ...five, ...live })).toEqual([]);
});

test("a scenario without keys, limits of zero and a live key without approval are fine", () => {
  expect(codesOf({})).toEqual([]);
  expect(codesOf({ main: { ...active, limits: { per_minute: 0, per_day: 0 } } })).toEqual([]);
  expect(codesOf({ main: { environment: "live" } })).toEqual([]);
});

test("the legacy kind of a pinned secret is taken from its prefix (R16)", () => {
  expect(codesOf({ main: { ...active, secret: "legacysvc_test_abc" } })).toEqual([]);
  expect(codesOf({ main: { ...active, legacy: true, secret: "legacysvc_test_abc" } })).toEqual([]);
});

test("a replacement with a pinned legacy secret is refused (R17)", () => {
  const old = { ...active, state: "retiring", replaced_by: "new" };
  expect(codesOf({ old, new: { ...active, secret: "legacysvc_test_abc" } })).toEqual(["replacement_legacy"]);
});

test("a rotated key may leave its replacement out, and name, scopes and limits may be given once (R26, R37)", () => {
  expect(codesOf({ old: { ...active, state: "rotated" } })).toEqual([]);
  const old = { ...active, state: "retiring", replaced_by: "new", name: "Core", limits: { per_minute: 5 } };
  expect(codesOf({ old, new: { ...active, limits: { per_day: 50 } } })).toEqual([]);
});

test("the order of scopes does not make a replacement differ (R37)", () => {
  const scopes = ["attestations:read", "consents:read"];
  const old = { ...active, state: "retiring", replaced_by: "new", scopes };
  expect(codesOf({ old, new: { ...active, scopes: scopes.toReversed() } })).toEqual([]);
});

test("replacements may form a chain (R37)", () => {
  expect(
    codesOf({
      first: { ...active, state: "rotated", replaced_by: "second" },
      second: { ...active, state: "retiring", replaced_by: "third" },
      third: active,
    }),
  ).toEqual([]);
});

test.each([
  ["7d", []],
  ["169h", ["overlap_out_of_range"]],
  ["0s", ["state_contradiction"]],
  ["2026-03-09T09:00:00Z", []],
  ["2026-03-09T09:00:01Z", ["overlap_out_of_range"]],
  ["2026-03-02T09:00:00Z", ["state_contradiction"]],
])("the overlap of a retiring key that ends at %s: %j (R38, R39)", (end, codes) => {
  const old = { ...active, state: "retiring", replaced_by: "new", overlap_ends: end };
  expect(codesOf({ old, new: active }, { clock })).toEqual(codes);
});

test.each([
  [{ state: "active", expires: "-1s" }, ["state_contradiction"]],
  [{ expires: "-1s" }, []],
  [{ state: "active", expires: "1s" }, []],
  [{ state: "expired" }, []],
  [{ state: "expired", expires: "-1s" }, []],
  [{ state: "expired", expires: "2026-03-02T09:00:01Z" }, ["state_contradiction"]],
  [{ state: "rotated", overlap_ends: "-1d", expires: "-2d" }, ["state_contradiction"]],
  [{ state: "revoked", expires: "-2d" }, []],
])("%j: %j (R43)", (fields, codes) => {
  expect(codesOf({ main: { ...active, ...fields } }, { clock })).toEqual(codes);
});

test("without a pinned clock nothing is said of absolute times", () => {
  const main = { ...active, state: "expired", expires: "2999-01-01T00:00:00Z" };
  expect(codesOf({ main })).toEqual([]);
});

test("scopes may be named anew, and then count for keys and for the endpoint", () => {
  const assumptions = { scopes: ["farms:read"], me_scope: "farms:read" };
  expect(codesOf({ main: { ...active, scopes: ["farms:read"] } }, { assumptions })).toEqual([]);
  expect(codesOf({ main: active }, { assumptions })).toEqual(["unknown_scope"]);
  expect(codesOf({}, { assumptions: { scopes: ["farms:read"] } })).toEqual(["unknown_scope"]);
  expect(codesOf({}, { assumptions: { scopes: ["farms:read"], me_scope: null } })).toEqual([]);
});

test("a mistake of shape is not reported again as a contradiction", () => {
  const old = { ...active, state: "retirng", replaced_by: "new", overlap_ends: "30m" };
  expect(codesOf({ old, new: active })).toEqual(["bad_choice"]);
  expect(codesOf({ New: active }, { default_key: "new" })).toEqual(["bad_ref"]);
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
