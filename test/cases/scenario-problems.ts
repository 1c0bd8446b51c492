import type { ScenarioProblemCode } from "../../src/index.js";
import { inKeys } from "../support/problems-of.js";

/** A broken scenario, with ▲ before the character at which its problem is reported, and a part of the hint. */
export type BrokenScenario = readonly [code: ScenarioProblemCode, text: string, hint: string];

const organization = (fields: string) => `version: 1\norganizations: { bank: { type: bank, ${fields} } }`;
const bank = "organizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";
const start = "clock: { now: 2026-03-02T09:00:00Z }\n";
const top = (line: string) => `version: 1\n${line}\n${bank}`;
const key = (fields: string) => inKeys(`      main: { environment: test, ${fields} }\n`);
const keys = (...lines: string[]) => start + inKeys(lines.map((line) => `      ${line}\n`).join(""));
const rotated = (fields: string, more = "") =>
  keys(`old: { environment: test, ${fields} }`, `new: { environment: test${more} }`);
const active = ["a", "b", "c", "d", "e"].map((ref) => `${ref}: { environment: test }`);
const step = (text: string) => top(`${start}story:\n  - ${text}`);
const timed = (text: string) => top(`${start}timeline:\n  - ${text}`);
const changed = (text: string) => top(`changes:\n  ${text}`);
const moved = (sunset: string) =>
  `new: { at: 2027-06-01, move: { to: /v2/relying-party/me, sunset: ${sunset} } }`;
const fault = (text: string) => top(`faults:\n  - { ${text} }`);

/** One for each kind of problem. */
export const brokenScenarios: readonly BrokenScenario[] = [
  // The text
  ["not_a_mapping", "▲- version: 1", "version: 1"],
  ["empty", "▲# nothing here yet\n", "version: 1"],
  ["yaml_syntax", "version: 1\norganizations:\n▲\tbank: { type: bank }", "spaces"],
  ["yaml_syntax", "version: 1\nname: ▲Banks: the first ones\n", "quotes around"],
  ["yaml_syntax", "version: 1\norganizations: { bank: ▲{ type: bank\n", "close it with }"],
  ["yaml_syntax", key("scopes: ▲[a, b"), "close it with ]"],
  ["yaml_syntax", key("scopes: [a]▲]"), "remove it"],
  ["yaml_syntax", keys("main: { environment: test } ▲}"), "remove it"],
  ["yaml_syntax", key("state: ▲active limits: {}"), "separate the fields with commas"],
  ["yaml_syntax", organization("").replace("{ bank: {", "▲{ bank: {").replace("} }", "}"), "close it with }"],
  ["yaml_syntax", "version: 1\norganizations:\n  bank:\n    type: bank\n      ▲keys:\n", "indent it like"],
  [
    "yaml_syntax",
    "version: 1\norganizations:\n  bank:\n    type: bank\n   ▲keys: {}\n",
    "same number of spaces",
  ],
  [
    "yaml_syntax",
    keys("main: { environment: test }").replace("    keys", "    ▲oops\n    keys"),
    "name: value",
  ],
  ["yaml_syntax", `${keys("main: { environment: test }")}▲oops\n`, "name: value"],
  ["yaml_syntax", "▲version:1\norganizations: {}\n", "write version: 1"],
  ["yaml_syntax", "▲version:\u00a01\norganizations: {}\n", "write version: 1"],
  ["yaml_syntax", "version: 1\n? ▲[organizations]\n: {}", "write a plain name"],
  ["several_documents", `${top("")}▲---\nversion: 1\n`, "put one scenario into a file"],
  ["yaml_syntax", top('name: ▲!!js/function "return 1"'), "remove the tag"],
  ["bad_alias", top("clock: ▲*nobody"), "mark a value above with &nobody"],
  ["too_deep", "version: 1\nclock: &all [▲*all]", "needs only seven"],
  ["duplicate_field", top("name: One\n▲name: Two"), "remove one of the two"],
  ["forbidden_field", top("▲__proto__: { seed: 2 }"), "choose another name"],
  // Unknown and missing fields
  ["unknown_field", "\uFEFF▲versoin: 1\n", 'did you mean "version"?'],
  ["unknown_field", "version: 1\r\n▲organisations: {}\r\n", 'did you mean "organizations"?'],
  ["unknown_field", key("limits: { ▲perMinute: 60 }"), 'did you mean "per_minute"?'],
  ["unknown_field", key("▲status: revoked"), 'did you mean "state"?'],
  ["unknown_field", timed("{ at: 1h, ▲advance: 5m }"), "known fields here: at, create_key"],
  ["unknown_field", top("▲colour: green"), "known fields here: version"],
  ["unknown_field", step("request: { key: main, ▲expect: { status: 200 } }"), "expect belongs next to r"],
  ["unknown_field", key("▲per_minute: 5"), "per_minute belongs in limits"],
  ["unknown_field", "version: 1\norganizations:\n  bank:\n    ▲typ\u0435: bank\n", 'did you mean "type"?'],
  ["missing_field", inKeys("      ▲main: { name: Main }"), "add environment: test or live"],
  ["missing_field", `▲name: No version\n${bank}`, "add version: 1"],
  ["unsupported_version", 'version: ▲"1"\n', "write 1 without quotes"],
  ["unsupported_version", "version: ▲2\n", "write 1"],
  // Values
  ["wrong_type", "version: 1\norganizations:\n  bank:\n    type: bank\n    ▲keys:\n", "remove the line"],
  ["wrong_type", top("name: ▲2024"), 'in quotes: "2024"'],
  ["wrong_type", top('clock: { frozen: ▲"yes" }'), "without quotes"],
  ["wrong_type", key('limits: { per_minute: ▲"60" }'), "write 60 without quotes"],
  ["wrong_type", key("scopes: ▲attestations:read"), "a list: [one, two]"],
  ["wrong_type", top("story: ▲A bank calls."), "a dash before each item"],
  ["wrong_type", top("population: ▲200"), "write { organizations: … }"],
  ["empty_list", key("scopes: ▲[]"), "add an entry or remove the field"],
  ["out_of_range", top("seed: ▲1.5"), "an integer of at least 0"],
  ["out_of_range", top("seed: ▲1e16"), "from 0 to 9,007,199,254,740,991"],
  ["out_of_range", step("{ request: {}, expect: { status: ▲1e16 } }"), "from 0 to 9,007,199,254,740,991"],
  ["out_of_range", key("limits: { per_day: ▲-1 }"), "write an integer from 0 to 999,999,999,999,999"],
  ["out_of_range", top(`name: ▲${"x".repeat(201)}`), "a string of 1 to 200 characters"],
  ["out_of_range", top(`faults:\n  ▲${"- { then: { reset: true } }\n  ".repeat(101)}`), "list at most 100"],
  ["bad_choice", key("state: ▲revokd"), "did you mean revoked?"],
  ["bad_choice", inKeys("      main: { environment: ▲production }"), "did you mean live?"],
  ["bad_choice", fault("then: { status: ▲404 }"), "500, 501, 502, 503 or 504"],
  ["bad_ref", keys("▲my_key: { environment: test }"), "write it in kebab-case: my-key"],
  ["bad_ref", keys("▲2024: { environment: test }"), "kebab-case: key-2024"],
  ["bad_choice", fault("then: { status: ▲429 }"), "limits: { per_minute: 0 }"],
  ["bad_time", top("clock: { now: ▲2026-03-02 }"), "write 2026-03-02T00:00:00Z"],
  ["bad_time", top("clock: { now: ▲2026-03-02T09:00:00 }"), "write 2026-03-02T09:00:00Z"],
  ["bad_time", top("clock: { now: ▲2026-02-30T09:00:00Z }"), "years 0000 to 9999"],
  ["bad_time", key("expires: ▲60"), "write 60s or 60m"],
  ["bad_time", key("expires: ▲soon"), "write a value such as 90m"],
  ["bad_time", step("advance: ▲-10m"), "write 10m"],
  ["bad_time", step("advance: ▲PT10M"), "write 10m"],
  ["bad_time", step("advance: ▲1d12h"), "write 36h"],
  ["bad_time", key("expires: ▲3M"), "write 3m (minutes) or 90d"],
  ["bad_time", key("expires: ▲P3M"), "write 90d"],
  ["bad_time", fault("then: { latency: ▲100 }"), "write 100ms or 100s"],
  ["bad_time", fault("then: { latency: ▲5000 }"), "write 5000ms"],
  ["bad_time", fault("then: { latency: ▲2h }"), "250ms, 2s or 1m"],
  ["bad_format", top("assumptions: { day_resets_at: ▲6:00 }"), "write a value such as 06:00"],
  ["bad_format", organization("id: ▲3F0E8A52-6C1D-4B7E-9A04-5D2F8C7B1E60"), "write 3f0e8a52"],
  ["bad_format", step("request: { method: ▲get }"), "write GET"],
  ["bad_format", step('request: { path: ▲"GET https://api.example/v1/a b" }'), "encoded: /v1/a%20b"],
  ["bad_format", step('request: { headers: { ▲"X N": "5" } }'), "write a value such as X-Trace"],
  ["bad_format", step('request: { headers: { X-Emoji: ▲"🔑" } }'), "X-Trace: abc"],
  // Extending
  ["extends_not_found", "version: 1\nextends: ▲key-sates\n", "did you mean key-states?"],
  ["extends_not_found", "version: 1\nextends: ▲./other.yaml\n", "a file if this scenario is in a file"],
  ["wrong_type", "version: 1\nextends: ▲[key-states]\n", "name a bundled scenario"],
  [
    "duplicate_key_ref",
    "version: 1\nextends: rotation\norganizations:\n  new-bank:\n    type: bank\n    keys:\n      ▲retiring: { environment: test }\n",
    "choose another one",
  ],
  // Refs
  ["no_organizations", "▲version: 1\n", "type: bank"],
  [
    "duplicate_organization_id",
    "version: 1\norganizations:\n  a: &a { type: bank, id: 3f0e8a52-6c1d-4b7e-9a04-5d2f8c7b1e60 }\n  ▲b: *a\n",
    "or remove it",
  ],
  // The seed 1 generates it for the second organization of a population.
  [
    "duplicate_organization_id",
    "version: 1\npopulation: { organizations: 2 }\norganizations: { a: { type: bank, id: ▲c2d1a980-e568-4880-b326-919975f0b8f3 } }\n",
    "or remove it",
  ],
  ["unknown_key_ref", top("default_key: ▲mian"), "did you mean main?"],
  ["unknown_key_ref", rotated("state: rotated, replaced_by: ▲nev"), "did you mean new?"],
  ["unknown_key_ref", step("request: { key: ▲mian }"), "did you mean main?"],
  ["unknown_key_ref", fault("when: { key: ▲mian }, then: { reset: true }"), "did you mean main?"],
  ["unknown_key_ref", top("population: { organizations: 7 }\ndefault_key: ▲organization-7-key-2"), "keys of"],
  ["unknown_organization_ref", step("organization: { ref: ▲bnk, status: inactive }"), "did you mean bank?"],
  [
    "taken_by_population",
    `population: { organizations: 7 }\n${keys("▲organization-7-key-1: { environment: test }")}`,
    "choose another one",
  ],
  ["reserved_key_ref", keys("▲unknown: { environment: test }"), "call it unknown-key"],
  // Keys
  ["state_contradiction", `${start}${key("state: active, expires: ▲2026-03-02T09:00:00Z")}`, "R43"],
  [
    "too_many_keys",
    top("population: ▲{ organizations: 10000, keys_per_organization: 10 }"),
    "lower population.organizations or population.keys_per_organization",
  ],
  ["too_many_active_keys", keys(...active, "▲f: { environment: test, expires: 2026-03-03T00:00Z }"), "R32"],
  [
    "too_many_active_keys",
    `assumptions: { retiring_counts_as_active: true }\n${keys(...active, "▲old: { environment: test, state: retiring, replaced_by: a }")}`,
    "R32",
  ],
  ["usage_contradiction", key("usage: { this_minute: 5, today: ▲4 }"), "R24"],
  ["unknown_scope", top("assumptions: { me_scope: ▲farmers:read }"), "or to null"],
  ["duplicate_scope", key("scopes: [consents:read, ▲consents:read]"), "list it once"],
  // What people write instead
  ["unknown_field", key("▲revoked: true"), "write state: revoked"],
  [
    "state_contradiction",
    keys("main: { environment: test, state: active, expires: ▲-1d }"),
    "write state: expired",
  ],
  [
    "unknown_field",
    "version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n    ▲main:\n      environment: test\n",
    "indent main",
  ],
  ["secret_malformed", key("secret: ▲sk_test_4eC39HqLyjWDarjtT1zdp7dc"), "start it with SVC_test_"],
  ["secret_mismatch", key("secret: ▲SVC_live_4eC39HqLyjWDarjtT1zdp7dc"), "R3"],
  ["secret_mismatch", key("legacy: false, secret: ▲legacysvc_test_4eC39HqLyjWDarjtT1zdp7dc"), "R16"],
  ["duplicate_secret", keys("a: &a { environment: test, secret: SVC_test_4eC39H }", "▲b: *a"), "remove it"],
  // The seed 1 generates these for `a` and for an unknown key.
  [
    "duplicate_secret",
    keys(
      "b: { environment: test, secret: ▲SVC_test_sbx3yqgXGpuFmDHFZhw01hX4UaNfOMk3 }",
      "a: { environment: test }",
    ),
    "or remove it",
  ],
  ["duplicate_secret", key("secret: ▲SVC_test_sbx9QnDcEMORTXTdusN2ptQmwVo7DtMh"), "or remove it"],
  // Rotations
  ["replacement_not_expected", rotated("▲replaced_by: new"), "state: retiring"],
  ["replacement_not_expected", key("▲overlap_ends: 30m"), "state: retiring"],
  ["replacement_missing", rotated("state: ▲retiring"), "R37"],
  ["replacement_elsewhere", rotated("state: retiring, replaced_by: ▲new").replace("test }", "live }"), "R37"],
  [
    "replacement_elsewhere",
    "version: 1\norganizations:\n  a: { type: bank, keys: { old: { environment: test, state: retiring, replaced_by: ▲new } } }\n  b: { type: bank, keys: { new: { environment: test } } }\n",
    "R37",
  ],
  [
    "replacement_shared",
    keys(
      "a: &a { environment: test, state: rotated, replaced_by: new }",
      "▲b: *a",
      "new: { environment: test }",
    ),
    "R37",
  ],
  ["replacement_cycle", rotated("state: retiring, replaced_by: ▲old"), "R37"],
  [
    "replacement_cycle",
    keys(
      "start: { environment: test, state: rotated, replaced_by: a }",
      "a: { environment: test, state: rotated, replaced_by: ▲b }",
      "b: { environment: test, state: rotated, replaced_by: a }",
    ),
    "R37",
  ],
  ["replacement_legacy", rotated("state: retiring, replaced_by: ▲new", ", legacy: true"), "R17"],
  [
    "replacement_differs",
    rotated("state: retiring, replaced_by: new, limits: { per_day: 9 }", ", limits: ▲{ per_day: 600 }"),
    "R26",
  ],
  ["state_contradiction", rotated("state: retiring, replaced_by: new, overlap_ends: ▲-1m"), "state: rotated"],
  ["state_contradiction", rotated("state: rotated, overlap_ends: ▲2026-03-02T10:00:00Z"), "state: retiring"],
  ["overlap_out_of_range", rotated("state: retiring, replaced_by: new, overlap_ends: ▲8d"), "(R39)"],
  // Faults
  ["fault_contradiction", fault("then: { reset: true, hang: ▲true }"), "remove one of the two"],
  ["fault_contradiction", fault("then: { hang: true, latency: ▲2s }"), "remove one of the two"],
  ["fault_contradiction", fault("then: { latency: { min: 2s, max: ▲1s } }"), "swap the two"],
  ["fault_contradiction", fault("then: { latency: { median: 2s, p99: ▲1s } }"), "swap the two"],
  ["missing_field", fault("then: { ▲latency: { median: 2s } }"), "p99"],
  ["fault_contradiction", fault("then: { reset: true, retry_after: ▲5s }"), "remove one of the two"],
  ["fault_contradiction", fault("when: { after: 10m, until: ▲5m }, then: { reset: true }"), "a later time"],
  ["missing_field", fault("then: ▲{}"), "status, reset, hang"],
  ["openapi_missing", fault("when: { path_id: ▲404.unknown_record }, then: { hang: true }"), "add records:"],
  // Records
  ["openapi_missing", top("▲records: { loans: { create: createLoan } }"), "add openapi:"],
  ["unknown_field", top("▲preview: true"), "openapi: announced-endpoints.openapi.yaml"],
  ["unknown_field", top("▲consents: []"), "write records:"],
  ["unknown_field", step("{ ▲consent: { farmer: 0, do: grant } }"), "write record: { in: consent-requests"],
  ["record_invalid", step("record: { in: ▲loans, add: {} }"), "add records:"],
  // Steps
  ["missing_field", timed("▲at: 1h"), "add one of create_key, rotate"],
  ["missing_field", step("organization: ▲{ ref: bank }"), "status, sandbox_access or live_access"],
  ["missing_field", step("▲expect: { status: 200 }"), "add one of say, request, advance"],
  ["step_contradiction", step("{ say: Hi., ▲advance: 10m }"), 'split it into two steps, "say" first'],
  ["step_contradiction", step("{ revoke: { key: main }, expect: { ▲status: 200 } }"), "error"],
  ["step_contradiction", step("{ request: {}, expect: { ▲error: key_not_active } }"), "status, code, path"],
  ["step_contradiction", step("{ say: Hi., expect: { ▲status: 200 } }"), "nothing"],
  ["bad_format", step("request: { headers: { ▲X-API-Key: abc } }"), "use key: a ref"],
  ["timeline_order", timed("{ at: ▲-10m, revoke: { key: main } }"), "write a later time"],
  ["change_contradiction", changed(moved("▲2027-06-01")), "write a later date"],
  ["bad_format", changed("new: { at: 2027-06-01, codes: { ▲limited: slow } }"), "rate_limited"],
  ["bad_time", changed("new: { at: ▲2027-02-30, scopes: { add: [a] } }"), "an ISO 8601 time"],
];
