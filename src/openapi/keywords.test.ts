import { expect, test } from "vitest";
import { formatTests, linearPattern } from "./keywords.js";

const signs = [
  0x08, 0x09, 0x0b, 0x0d, 0x20, 0x21, 0xa0, 0x1680, 0x2000, 0x200b, 0x2028, 0x2029, 0x202f, 0x205f,
]
  .concat([0x3000, 0xfeff, 0xff00, 0x61, 0x1f41d])
  .map((code) => String.fromCodePoint(code));

test.each([
  "^\\s$",
  "^[\\s]$",
  "^[^\\s]$",
  "^\\S$",
  "^[\\S]$",
  "^[^\\Sa]$",
  "^.$",
  "^[.\\s]$",
  "^(?=\\S)[^!]$",
])("%s matches the characters that it matches in ECMAScript", (pattern) => {
  const matches = linearPattern(pattern);
  const expected = new RegExp(pattern, "u");
  expect(signs.filter((sign) => matches?.(sign))).toEqual(signs.filter((sign) => expected.test(sign)));
});

test.each([
  ["email", '"a b"@example.com', true],
  ["email", '"a\\"b"@example.com', true],
  ["email", '"a"b"@example.com', false],
  ["email", '"a b"@', false],
  ["email", "a b@example.com", false],
  ["date-time", "2026-03-02t09:00:00.1234567890123z", true],
  ["date-time", "2026-02-29T09:00:00Z", false],
])("the %s %s: %j", (format, text, isValid) => {
  expect(formatTests.get(format)?.(text)).toBe(isValid);
});
