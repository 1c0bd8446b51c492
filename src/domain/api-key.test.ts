import { expect, test } from "vitest";
import { isWellFormedKey, keyPrefixes, parseApiKey, prefixOf, redactKeys } from "./api-key.js";

test.each([
  ["SVC_test_sbx0abc", { prefix: "SVC_test_", environment: "test", legacy: false, marked: true }],
  ["SVC_live_abc", { prefix: "SVC_live_", environment: "live", legacy: false, marked: false }],
  ["legacysvc_test_a-b_c", { prefix: "legacysvc_test_", environment: "test", legacy: true, marked: false }],
  ["legacysvc_live_sbx", { prefix: "legacysvc_live_", environment: "live", legacy: true, marked: true }],
])("R3 R16 the parts of %s are read from its prefix", (key, parts) => {
  expect(parseApiKey(key)).toEqual(parts);
  expect(isWellFormedKey(key)).toBe(true);
});

test.each([
  "",
  " ",
  "SVC_test_",
  "SVC_test",
  "svc_test_sbx0",
  "SVC_TEST_sbx0",
  "SVC_prod_sbx0",
  "LEGACYSVC_test_x",
  "SVC_test_sbx 0",
  "SVC_test_a, SVC_test_b",
  "SVC_test_sbx0\u00e9",
  " SVC_test_sbx0",
  "Bearer SVC_test_sbx0",
  `SVC_test_${"a".repeat(300)}`,
])("R10 %j is not a well-formed key", (key) => {
  expect(parseApiKey(key)).toBeUndefined();
  expect(isWellFormedKey(key)).toBe(false);
});

test("every combination of environment and kind has its prefix", () => {
  for (const { prefix, environment, legacy } of keyPrefixes)
    expect(prefixOf(environment, legacy)).toBe(prefix);
});

test.each([
  ["a SVC_test_sbx123 b", "a SVC_test_… b"],
  ["SVC_test_a,legacysvc_live_b.", "SVC_test_…,legacysvc_live_…"],
  ["svc%5Ftest%5Fabc", "svc%5Ftest%5F…"],
  ["SVC_test_ is a prefix", "SVC_test_ is a prefix"],
  ["nothing here", "nothing here"],
])("R46 %j is shown as %j", (text, shown) => {
  expect(redactKeys(text)).toBe(shown);
});
