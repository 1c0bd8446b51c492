import { expect, test } from "vitest";
import { redactLine } from "./source.js";

test.each([
  ["secret: SVC_test_4eC39HqLyjWD", "secret: SVC_test_…"],
  ["secret: 'legacysvc_live_4eC39HqLyjWD' # ours", "secret: 'legacysvc_live_…' # ours"],
  ['{ environment: test, "secret": "sk_live_4eC39HqLyjWD" }', '{ environment: test, "secret": "sk_l…" }'],
  ["secret: SVC-test-4eC39HqLyjWD", "secret: SVC-…"],
  ["a: SVC_test_4eC39, b: SVC_live_4eC39", "a: SVC_test_…, b: SVC_live_…"],
])("%s is shown as %s (R46)", (line, shown) => {
  expect(redactLine(line)).toBe(shown);
  expect(redactLine(shown)).toBe(shown);
});

test("characters that could play with a terminal are replaced", () => {
  expect(redactLine("name: \u001B[31mred\u202E")).toBe("name: \uFFFD[31mred\uFFFD");
  expect(redactLine("\tname: Bänk 銀行")).toBe("\tname: Bänk 銀行");
});
