import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseScenario } from "../src/scenario/parse-scenario.js";
import { ScenarioError } from "../src/scenario/scenario-error.js";
import type { ScenarioProblem, ScenarioProblemCode } from "../src/scenario/scenario-problem.js";
import { maximumScenarioBytes } from "../src/scenario/scenario-text.js";

const folder = join(import.meta.dirname, "broken-scenarios");

/** Each broken file, one idea per file: where its problem is, what it is, and a part of the hint. */
const expected: readonly (readonly [string, number, number, ScenarioProblemCode, string])[] = [
  ["a-list", 1, 1, "not_a_mapping", "version: 1"],
  ["a-scalar", 1, 1, "not_a_mapping", "version: 1"],
  ["active-but-expired", 7, 58, "state_contradiction", "R43"],
  ["alias-bomb", 7, 38, "too_many_aliases", "multiplies"],
  ["alias-inside-itself", 3, 9, "bad_alias", "mark a value above with &all"],
  ["assumption-choice", 3, 29, "bad_choice", "write none, seconds or date"],
  ["binary-tag", 2, 16, "yaml_tag", "remove the tag"],
  ["byte-order-mark", 1, 1, "unknown_field", 'did you mean "version"?'],
  ["camel-case-field", 8, 19, "unknown_field", 'did you mean "per_minute"?'],
  ["colon-in-text", 2, 7, "yaml_syntax", "quotes around"],
  ["consents-of-nobody", 5, 21, "unknown_organization_ref", "did you mean bank?"],
  ["consents-out-of-order", 8, 43, "consent_contradiction", "put it in the order of the times"],
  ["consents-permission-twice", 7, 25, "consent_contradiction", "list it once"],
  ["consents-too-long", 8, 17, "consent_contradiction", "write an earlier time"],
  ["consents-without-preview", 4, 5, "preview_off", "write preview: true at the top level"],
  ["constructor-ref", 6, 7, "forbidden_field", "choose another name"],
  ["date-without-time", 3, 15, "bad_time", "add the time of day and the zone: 2026-03-02T00:00:00Z"],
  ["day-reset-without-zero", 3, 31, "bad_format", "write 06:00"],
  ["default-key-unknown", 2, 14, "unknown_key_ref", "did you mean main?"],
  ["duplicate-field", 4, 1, "duplicate_field", "remove one of the two"],
  ["duplicate-key-in-one-organization", 7, 7, "duplicate_field", "remove one of the two"],
  ["duration-as-clock", 3, 15, "bad_time", "nothing to start from"],
  ["duration-in-words", 6, 43, "bad_time", "write 10m"],
  ["duration-without-unit", 6, 43, "bad_time", "60s"],
  ["empty", 1, 1, "empty", "version: 1"],
  ["empty-field", 5, 5, "wrong_type", "write {}"],
  ["environment-missing", 6, 7, "missing_field", "add environment: test or live"],
  ["expired-in-the-future", 6, 59, "state_contradiction", "R43"],
  ["extends-file-nobody-loads", 2, 10, "extends_not_found", "a file where the scenario itself is one"],
  ["extends-unknown", 2, 10, "extends_not_found", "did you mean key-states?"],
  ["fraction", 3, 7, "out_of_range", "1 or 2"],
  ["function-tag", 2, 21, "yaml_tag", "remove the tag"],
  ["id-in-upper-case", 3, 27, "bad_format", "3f0e8a52"],
  ["impossible-date", 3, 15, "bad_time", "2026-02 has 28 days"],
  ["key-ref-twice", 8, 13, "duplicate_key_ref", "across organizations"],
  ["keys-as-list", 6, 7, "wrong_type", "a ref of its own"],
  ["keys-at-top-level", 3, 1, "unknown_field", 'belongs in "organizations.<ref>"'],
  ["limit-directly-on-key", 8, 9, "unknown_field", '"per_minute" belongs in "limits"'],
  ["list-as-field-name", 2, 3, "bad_field_name", "write a plain name"],
  ["me-scope-unknown", 3, 26, "unknown_scope", "or to null"],
  ["merge-key", 5, 5, "merge_key", "alias for a whole value"],
  ["misspelt-field", 7, 9, "unknown_field", 'did you mean "environment"?'],
  ["misspelt-state", 6, 41, "bad_choice", "did you mean revoked?"],
  ["negative-limit", 6, 53, "out_of_range", "write 0 or more"],
  ["no-organizations", 1, 1, "no_organizations", "type: bank"],
  ["number-as-ref", 6, 7, "bad_ref", "a ref needs a letter: key-2024"],
  ["number-as-text", 3, 7, "wrong_type", 'put it in quotes: "2024"'],
  ["number-in-quotes", 6, 56, "wrong_type", "write 60 without quotes"],
  ["only-a-comment", 1, 1, "empty", "version: 1"],
  ["org", 2, 1, "unknown_field", 'did you mean "organizations"?'],
  ["organisations", 2, 1, "unknown_field", 'did you mean "organizations"?'],
  ["organization-id-twice", 4, 26, "duplicate_organization_id", "leave it out"],
  ["overlap-in-the-past", 6, 82, "state_contradiction", "state: rotated"],
  ["overlap-of-active-key", 6, 34, "replacement_not_expected", "state: retiring"],
  ["overlap-of-rotated-key-in-the-future", 7, 63, "state_contradiction", "state: retiring"],
  ["overlap-too-long", 6, 82, "overlap_out_of_range", "7 days at most (R39)"],
  ["population-date-alone", 3, 35, "bad_time", "add the time of day and the zone: 2026-03-02T00:00:00Z"],
  [
    "population-has-no-such-key",
    3,
    14,
    "unknown_key_ref",
    "those of the population end with organization-7-key-1",
  ],
  ["population-has-the-key", 6, 7, "taken_by_population", "call it something else"],
  ["population-has-the-organization", 3, 3, "taken_by_population", "call it something else"],
  ["population-locale-unknown", 3, 36, "bad_choice", "did you mean en_GH?"],
  ["population-misspelt", 3, 15, "unknown_field", 'did you mean "organizations"?'],
  ["population-not-a-mapping", 2, 13, "wrong_type", "write population: { organizations: … }"],
  ["population-of-minus-one", 3, 24, "out_of_range", "write 0 or more"],
  ["population-too-many-farmers", 3, 24, "out_of_range", "write 4294967295 or less"],
  [
    "population-too-many-keys",
    3,
    56,
    "out_of_range",
    "write 10 or less: R32 allows five active keys in each environment",
  ],
  ["population-too-many-organizations", 3, 30, "out_of_range", "write 100000 or less"],
  ["preview-in-quotes", 3, 10, "wrong_type", "without quotes"],
  ["production-environment", 6, 28, "bad_choice", "did you mean live?"],
  ["profile-misspelt", 3, 25, "bad_choice", "did you mean typical?"],
  ["prototype-field", 2, 1, "forbidden_field", "choose another name"],
  ["replaced-but-active", 6, 33, "replacement_not_expected", "state: retiring"],
  ["replacement-cycle", 6, 63, "replacement_cycle", "R37"],
  ["replacement-in-other-environment", 6, 63, "replacement_elsewhere", "R37"],
  ["replacement-in-other-organization", 5, 69, "replacement_elsewhere", "R37"],
  ["replacement-is-itself", 6, 63, "replacement_cycle", "R37"],
  ["replacement-legacy", 6, 63, "replacement_legacy", "R17"],
  ["replacement-shared", 7, 62, "replacement_shared", "R37"],
  ["replacement-unknown", 6, 63, "unknown_key_ref", "did you mean new-key?"],
  ["replacement-with-other-limits", 7, 55, "replacement_differs", "R26"],
  ["replacement-with-other-scopes", 7, 41, "replacement_differs", "R37"],
  ["reserved-key-ref", 6, 7, "reserved_key_ref", "call it unknown-key"],
  ["retiring-without-replacement", 6, 40, "replacement_missing", "R37"],
  ["scope-twice", 6, 58, "duplicate_scope", "list it once"],
  ["scope-unknown", 6, 43, "unknown_scope", "did you mean attestations:read?"],
  ["scopes-empty", 6, 42, "empty_list", "give one or leave the field out"],
  ["scopes-not-a-list", 6, 42, "wrong_type", "write [attestations:read]"],
  ["secret-legacy", 6, 57, "secret_mismatch", "R16"],
  ["secret-malformed", 6, 42, "secret_malformed", "begins with SVC_test_"],
  ["secret-not-legacy", 6, 56, "secret_mismatch", "R16"],
  ["secret-of-other-environment", 6, 42, "secret_mismatch", "R3"],
  ["secret-twice", 7, 41, "duplicate_secret", "leave it out"],
  ["six-active-keys", 11, 7, "too_many_active_keys", "R32"],
  ["six-active-keys-by-pinned-clock", 12, 7, "too_many_active_keys", "R32"],
  ["six-active-keys-with-retiring", 12, 7, "too_many_active_keys", "R32"],
  ["snake-case-ref", 6, 7, "bad_ref", "refs are in kebab-case: my-key"],
  ["status-on-key", 6, 34, "unknown_field", 'did you mean "state"?'],
  ["story-advance-backwards", 4, 14, "bad_time", "write it without the sign: 10m"],
  ["story-as-text", 3, 8, "wrong_type", "write a list: a dash before each of them"],
  ["story-code-misspelt", 5, 34, "cannot_happen", "did you mean unauthorized?"],
  ["story-consent", 5, 31, "bad_choice", "did you mean grant?"],
  ["story-consent-counted-from-zero", 5, 22, "consent_contradiction", "count from 1, as in {consent.1}"],
  ["story-consent-of-nobody", 6, 24, "unknown_farmer", "write a number up to 4"],
  ["story-consent-without-preview", 4, 14, "preview_off", "write preview: true at the top level"],
  ["story-error-misspelt", 5, 22, "bad_choice", "did you mean key_not_active?"],
  [
    "story-expects-a-status-of-an-action",
    5,
    15,
    "step_contradiction",
    'what can be expected of "revoke": error',
  ],
  [
    "story-expects-an-error-of-a-request",
    5,
    15,
    "step_contradiction",
    'what can be expected of "request": status, code, path, headers, body',
  ],
  [
    "story-expects-of-narration",
    5,
    15,
    "step_contradiction",
    'nothing can be expected of "say": remove it, or give it to a request',
  ],
  [
    "story-key-as-header",
    4,
    27,
    "step_contradiction",
    "name the key with key: a ref, none, malformed or unknown",
  ],
  ["story-key-not-there-yet", 4, 21, "unknown_key_ref", "did you mean active?"],
  ["story-key-unknown", 4, 21, "unknown_key_ref", "did you mean active?"],
  [
    "story-organization-unchanged",
    4,
    19,
    "missing_field",
    "give it one of status, sandbox_access or live_access",
  ],
  ["story-organization-unknown", 4, 26, "unknown_organization_ref", "did you mean bank?"],
  ["story-path-contradicts-status", 5, 42, "cannot_happen", "write status: 401"],
  ["story-id-without-preview", 4, 22, "preview_off", "write preview: true at the top level"],
  ["story-path-misspelt", 5, 21, "bad_choice", "did you mean 401.revoked?"],
  [
    "story-path-of-a-fault-without-faults",
    5,
    21,
    "cannot_happen",
    "add faults: to the scenario, or as a step before this one",
  ],
  ["story-path-of-a-known-key", 5, 21, "cannot_happen", "write key: unknown"],
  ["story-path-of-the-preview", 5, 21, "cannot_happen", "write preview: true at the top level"],
  ["story-path-of-no-key", 5, 21, "cannot_happen", "write path: 401.missing, or name another key"],
  ["story-path-of-other-environment", 5, 21, "cannot_happen", "name a key of the other environment"],
  [
    "story-status-nobody-answers",
    5,
    23,
    "cannot_happen",
    "there are 200, 401, 403, 404, 405, 429, 500, 501, 502, 503, 504",
  ],
  [
    "story-step-does-nothing",
    4,
    5,
    "missing_field",
    "give it one of say, request, advance, create_key, rotate, revoke, organization, consent or faults",
  ],
  ["story-step-does-two-things", 5, 5, "step_contradiction", 'make two steps of it, "say" first'],
  ["story-step-misspelt", 4, 5, "unknown_field", 'did you mean "request"?'],
  [
    "story-unknown-path-at-a-known-one",
    5,
    21,
    "cannot_happen",
    "give the request a path, such as /v1/nothing",
  ],
  ["story-wait", 4, 5, "unknown_field", 'did you mean "advance"?'],
  ["switch-in-quotes", 3, 39, "wrong_type", "write true, without quotes"],
  ["tab-indentation", 3, 1, "yaml_syntax", "spaces"],
  ["time-without-zone", 3, 15, "bad_time", "add the zone: 2026-03-02T09:00:00Z"],
  ["timeline-advance", 4, 16, "unknown_field", '"advance" belongs in "story"'],
  [
    "timeline-before-the-start",
    4,
    11,
    "timeline_order",
    "write a later time, or describe the world as it is at the start",
  ],
  ["timeline-does-two-things", 4, 41, "step_contradiction", 'make two steps of it, "revoke" first'],
  [
    "timeline-fault-contradiction",
    4,
    54,
    "fault_contradiction",
    "remove one of the two, or write a second fault",
  ],
  ["timeline-key-unknown", 4, 31, "unknown_key_ref", "did you mean live?"],
  ["timeline-out-of-order", 5, 11, "timeline_order", "put the steps in the order of their times"],
  ["timeline-request", 4, 16, "unknown_field", '"request" belongs in "story"'],
  ["timeline-reserved-ref", 4, 43, "reserved_key_ref", "call it unknown-key"],
  ["timeline-without-time", 4, 5, "missing_field", "add at"],
  ["two-documents", 3, 1, "several_documents", "put one scenario into a file"],
  ["type-missing", 3, 3, "missing_field", "add type: bank or insurer"],
  ["unclosed-bracket", 2, 36, "yaml_syntax", "close the quote or bracket"],
  ["unclosed-quote", 3, 40, "yaml_syntax", "close the quote or bracket"],
  ["unheard-of-field", 3, 1, "unknown_field", "known fields here: version"],
  ["unknown-alias", 2, 24, "bad_alias", "mark a value above with &nobody"],
  ["upper-case-ref", 3, 3, "bad_ref", "refs are in kebab-case: harvest-bank"],
  ["usage-of-today-too-small", 6, 66, "usage_contradiction", "R24"],
  ["version-in-quotes", 1, 10, "unsupported_version", "write 1 without quotes"],
  ["version-missing", 1, 1, "missing_field", "begin the scenario with version: 1"],
  ["version-two", 1, 10, "unsupported_version", "write version: 1"],
  ["windows-line-ends", 4, 11, "bad_choice", "did you mean bank?"],
];

/** Where writing the aliases out is refused, the lists themselves are no organizations either. */
const withFurtherProblems = ["alias-bomb"];

function problemsOf(text: string, file?: string): readonly ScenarioProblem[] {
  try {
    parseScenario(text, { file });
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems;
    throw error;
  }
  return [];
}

test("every broken file stands in the table, and the other way round", () => {
  const files = readdirSync(folder).map((file) => file.replace(/\.yaml$/, ""));
  expect(expected.map(([name]) => name).toSorted()).toEqual(files.toSorted());
});

test.each(expected)("%s is refused at %i:%i as %s", (name, line, column, code, hint) => {
  const text = readFileSync(join(folder, `${name}.yaml`), "utf8");
  const started = performance.now();
  const problems = problemsOf(text, `${name}.yaml`);
  expect(performance.now() - started).toBeLessThan(1000);
  const problem = problems.find((one) => one.code === code);
  expect(problem).toMatchObject({ file: `${name}.yaml`, line, column, code });
  expect(problem?.hint).toContain(hint);
  if (!withFurtherProblems.includes(name)) expect(problems).toHaveLength(1);
});

const inKeys = (lines: string) => `version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n${lines}`;

/** Texts that are too big, or too odd, to keep as files. */
const hostile: Readonly<Record<string, readonly [string, ScenarioProblemCode]>> = {
  "ten thousand open brackets": ["[".repeat(10_000), "too_deep"],
  "ten thousand open braces": ["{ a: ".repeat(10_000), "too_deep"],
  "ten thousand dashes": ["- ".repeat(10_000), "too_deep"],
  "ten thousand question marks": ["? ".repeat(10_000), "too_deep"],
  "a staircase of mappings": [
    Array.from({ length: 500 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"),
    "too_deep",
  ],
  "more than 1 MiB": [inKeys(`# ${"x".repeat(maximumScenarioBytes)}`), "too_large"],
  "more than 1 MiB in UTF-8 only": [inKeys(`# ${"銀".repeat(maximumScenarioBytes / 2)}`), "too_large"],
  "a hundred thousand fields": [
    Array.from({ length: 100_000 }, (_, index) => `a${index}: 1\n`).join(""),
    "too_large",
  ],
  "half a million closing brackets": ["]\n".repeat(500_000), "yaml_syntax"],
  "a quote that is open for 1 MB": [`a: "${"x\n".repeat(500_000)}`, "yaml_syntax"],
  "hundreds of thousands of documents": ["---\n".repeat(250_000), "several_documents"],
  "a wrong field thirty thousand times": [
    Array.from({ length: 30_000 }, (_, index) => `field${index}: 1\n`).join(""),
    "unknown_field",
  ],
  "thirty thousand wrong fields on one line": [
    `{ ${Array.from({ length: 30_000 }, (_, index) => `field${index}: 1`).join(", ")} }`,
    "unknown_field",
  ],
  "the same field thirty thousand times on one line": [
    `{ ${"name: a, ".repeat(30_000)} }`,
    "duplicate_field",
  ],
  "a forbidden field thirty thousand times on one line": [
    `{ ${"__proto__: 1, ".repeat(30_000)} }`,
    "forbidden_field",
  ],
  "an unknown alias thirty thousand times": [`version: 1\nx: [${"*x, ".repeat(30_000)}]`, "bad_alias"],
  "a tag thirty thousand times": [`version: 1\nx: [${"!x 1, ".repeat(30_000)}]`, "yaml_tag"],
  "secrets on a line of 1 MB": [
    `version: 1\nx: { ${"secret: SVC_test_abc, ".repeat(30_000)} }`,
    "duplicate_field",
  ],
  "eight thousand keys whose refs are wrong": [
    inKeys(Array.from({ length: 8_000 }, (_, index) => `      k_${index}: {}\n`).join("")),
    "bad_ref",
  ],
  "five thousand keys that replace each other in a circle": [
    inKeys(
      Array.from(
        { length: 5_000 },
        (_, i) => `      k${i}: { environment: test, state: retiring, replaced_by: k${(i + 1) % 5_000} }\n`,
      ).join(""),
    ),
    "replacement_cycle",
  ],
  "sixty thousand aliases of a list": [
    `version: 1\nx: &x [1, 2, 3]\ny: [${"*x, ".repeat(60_000)}]`,
    "too_many_aliases",
  ],
  "a NUL character": ["version: 1\nname: a\u0000b\n", "not_text"],
  "a picture": ["\uFFFDPNG\r\n\u001A\n\u0000\u0000", "not_text"],
};

test.each(Object.entries(hostile))("%s is refused within a second", (_name, [text, code]) => {
  const started = performance.now();
  const problems = problemsOf(text);
  expect(performance.now() - started).toBeLessThan(1000);
  expect(problems.map((problem) => problem.code)).toContain(code);
  expect(problems.every((problem) => (problem.source ?? "").length < 200)).toBe(true);
});

test("no error shows a pinned secret, well-formed or not (R46)", () => {
  const random = "4eC39HqLyjWDarjtT1zdp7dc";
  for (const [name] of expected.filter(([name]) => name.startsWith("secret-"))) {
    const text = readFileSync(join(folder, `${name}.yaml`), "utf8");
    expect(text).toContain(random);
    const problems = problemsOf(text);
    const { message } = new ScenarioError(problems);
    expect(JSON.stringify(problems) + message).not.toContain(random.slice(4));
  }
});

test("a secret in a place where none belongs is not shown either (R46)", () => {
  const secret = "SVC_live_4eC39HqLyjWDarjtT1zdp7dc";
  const texts = [
    inKeys(`      ${secret}: { environment: test }`),
    inKeys(`      main: { environment: ${secret}, ${secret}: 1 }`),
    `version: 1\n# ${secret}\n"${secret}: 1`,
    `version: 1\ndefault_key: ${secret}\nextends: ${secret}`,
  ];
  for (const text of texts) {
    const problems = problemsOf(text);
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(problems) + new ScenarioError(problems).message).not.toContain("4eC39");
  }
});

test("prototypes stay as they are, whatever a scenario is called", () => {
  problemsOf("version: 1\n__proto__: { polluted: true }\nconstructor: { prototype: { polluted: true } }\n");
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
