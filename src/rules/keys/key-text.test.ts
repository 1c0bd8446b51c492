import { expect, test } from "vitest";
import { findKeys } from "./find-keys.js";
import { describeKeyForm, hasSandboxMark, isSandboxKey, isWellFormedKey, parseApiKey } from "./key-text.js";
import { redact, redactPlainKeys } from "./redact.js";

test.each([
  ["SVC_test_sbx0abc", { prefix: "SVC_test_", environment: "test", legacy: false, hasMark: true }],
  ["SVC_live_abc", { prefix: "SVC_live_", environment: "live", legacy: false, hasMark: false }],
  ["legacysvc_test_a-b_c", { prefix: "legacysvc_test_", environment: "test", legacy: true, hasMark: false }],
  ["legacysvc_live_sbx", { prefix: "legacysvc_live_", environment: "live", legacy: true, hasMark: true }],
])("R3 R16 the parts of %s are read from its prefix", (key, parts) => {
  expect(parseApiKey(key)).toEqual(parts);
  expect(isWellFormedKey(key)).toBe(true);
});

test("R10 a key has at most 256 characters", () => {
  expect(isWellFormedKey("SVC_test_".padEnd(256, "a"))).toBe(true);
  expect(isWellFormedKey("SVC_test_".padEnd(257, "a"))).toBe(false);
});

test.each([
  "",
  "SVC_test_",
  "svc_test_sbx0",
  "SVC_prod_sbx0",
  "SVC_test_sbx 0",
  "SVC_test_sbx0\u00e9",
  "Bearer SVC_test_sbx0",
])("R10 %j is not a well-formed key", (key) => {
  expect(parseApiKey(key)).toBeUndefined();
  expect(isWellFormedKey(key)).toBe(false);
});

test.each([
  [`SVC_test_sbx${"a".repeat(29)}`, true],
  [`legacysvc_live_sbx${"a".repeat(29)}`, true],
  [`SVC_test_sbx${"a".repeat(28)}`, false],
  [`SVC_test_abc${"a".repeat(29)}`, false],
])("%s is as a sandbox makes keys: %s", (key, expected) => {
  expect(isSandboxKey(key)).toBe(expected);
});

test("a text without the prefix of a key has no mark of a sandbox", () => {
  expect([hasSandboxMark("sbx-bank"), hasSandboxMark("SVC_test_sbx0")]).toEqual([false, true]);
});

test.each([
  ["a SVC_test_sbx123 b", "a SVC_test_… b"],
  ["SVC_test_a,legacysvc_live_b.", "SVC_test_…,legacysvc_live_…"],
  ["svc%5Ftest%5Fabc", "svc%5Ftest%5F…"],
  ["SVC_test_ is a prefix", "SVC_test_ is a prefix"],
])("R46 %j is shown as %j", (text, shown) => {
  expect(redactPlainKeys(text)).toBe(shown);
});

/** Every character of a text by its code. */
const encoded = (text: string) => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");

test.each([
  ["SVC_test_sbx0abc", "SVC_test_sbx0abc"],
  ["?key=SVC_live_x", "SVC_live_x"],
  ["?key=SVC%5Ftest%5fabc", "SVC_test_abc"],
  [`?key=${encoded("SVC_test_abc")}&x=1`, "SVC_test_abc"],
  [`?key=${encodeURIComponent(encodeURIComponent(encoded("SVC_test_abc")))}`, "SVC_test_abc"],
  ["?about=SVC_test_&key=SVC_test_a", "SVC_test_a"],
])("a key is found in %s", (text, key) => {
  expect(findKeys(text)).toEqual([key]);
  expect(redact(text)).not.toBe(text);
});

test.each([
  ["SVC_test_", "9 characters, nothing behind the prefix"],
  ["SVC_test_".padEnd(300, "a"), "300 characters, more than a key can have"],
  ["SVC_test_sbx 0", "14 characters, some of which no key has"],
])("R46 the form of %s is told without its characters", (presented, form) => {
  expect(describeKeyForm(presented)).toBe(form);
});
