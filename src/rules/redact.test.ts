import { expect, test } from "vitest";
import { decodePrintable, escapeControls, printable, redactPath, redactValue, textWidth } from "./redact.js";

const key = "SVC_live_9f8e7d6c5b4a";

const hexOf = (text: string) => [...text].map((one) => one.charCodeAt(0).toString(16)).join("");

test.each([
  ["/v1/relying-party/me.json", "/v1/relying-party/me.json"],
  ["/v1/3f0e8a52-9a0c-4f55-8d0b-0d9b0f6f0a11", "/v1/3f0e8a52-9a0c-4f55-8d0b-0d9b0f6f0a11"],
  [`/x/${key}/y`, "/x/SVC_live_…/y"],
  ["/x/%41b/y z/a:b", "/x/…/…/…"],
  ["/aaaaaaaaaaaaaaaaaaaa/aaaaaaaaaaaaaaaaaaaaa", "/aaaaaaaaaaaaaaaaaaaa/…"],
])("%s is shown as %s", (path, shown) => {
  expect(redactPath(path)).toBe(shown);
});

const each = (text: string, spell: (hex: string, code: number) => string) =>
  text.replaceAll(/./g, (one) => spell(hexOf(one), one.charCodeAt(0)));

test.each<[how: string, encode: (key: string) => string]>([
  ["percent-encoded twice", (text) => each(text, (hex) => `%25${hex}`)],
  ["of \\u escapes", (text) => each(text, (hex) => `\\u00${hex}`)],
  ["of references of HTML", (text) => each(text, (_hex, code) => `&#${code};`)],
  ["quoted-printable", (text) => each(text, (hex) => `=${hex}`)],
  ["in hex", hexOf],
  ["in Base64 behind a name", (text) => btoa(`name:${text}`)],
  ["in Base64 twice", (text) => btoa(btoa(text))],
])("R46 a path shows nothing of a key %s", (_how, encode) => {
  expect(redactPath(`/x/${encode(`${key}5d6e7f80912a3b4c`)}/y`)).toBe("/x/…/y");
});

test.each([
  ["%20%7e%7E", " ~~"],
  ["%1f%7f%80", "%1f%7f%80"],
  ["%u0041%U0042%u1041", "AB%u1041"],
  [`%${"25".repeat(9)}41`, "A"],
  [`%${"25".repeat(10)}41`, "%41"],
])("R46 %s reads %s when its printable characters are decoded, ten times at most", (text, decoded) => {
  expect(decodePrintable(text)).toBe(decoded);
});

test("R46 a value has no key in a text or a name, except in a member that is kept", () => {
  const value = { [key]: [key, { name: `of ${key}`, kept: { secret: key }, none: null, count: 1 }] };
  expect(redactValue(value, undefined, (name) => name === "kept")).toEqual({
    "SVC_live_…": ["SVC_live_…", { name: "of SVC_live_…", kept: { secret: key }, none: null, count: 1 }],
  });
});

// As long as this, a search that starts again at each piece does not finish.
test.each([
  ["SVC_test_", "SVC_test_…/…"],
  ["%25", "…/…"],
])("a path of half a million %s is redacted in one pass", (piece, shown) => {
  expect(redactPath(piece.repeat(500_000))).toBe(shown);
});

test.each([
  ["C0", "\u001B[2J\u0007\u0008"],
  ["C1", "\u009B31m\u0085\u0090"],
  ["bidi marks", "\u200E\u200F\u061C\u202A\u202E\u2066\u2069"],
])("%s is not printed", (_what, text) => {
  const left = /[\p{Cc}\u061C\u200E-\u200F\u2028-\u202E\u2066-\u2069]/u;
  for (const shown of [printable(text), printable(text, true), escapeControls(text)]) {
    expect(shown).not.toMatch(left);
    expect(shown).toHaveLength(text.length);
  }
});

test("lines, tabs and letters of every language are printed, and colors where they are ours", () => {
  const text = "a\tb\r\nBänk 銀行 🏦\n";
  expect(printable(text)).toBe(text);
  expect(printable("\u001B[31mred\u001B[39m", true)).toBe("\u001B[31mred\u001B[39m");
  expect(printable("\u001B[31mred\u001B[39m")).toBe("\uFFFD[31mred\uFFFD[39m");
});

test.each([
  ["key", 3],
  ["\u001B[31mkey\u001B[39m", 3],
  ["e\u0301te\u0301", 3],
  ["銀行 🏦", 7],
  ["⌚", 2],
  ["☀️", 2],
  ["⭐ ✅", 5],
  ["👨‍👩‍👧‍👦", 2],
  ["🇫🇮", 2],
  ["1️⃣", 2],
  ["…–✓", 3],
])("%j takes up %i columns", (text, columns) => expect(textWidth(text)).toBe(columns));

test.each([
  ["\uFEFFa\uFEFF", "\uFEFFa\uFFFD"],
  ["a\rb\r\n\r", "a\uFFFDb\r\n\uFFFD"],
  ["\u001B[123mx", "\uFFFD[123mx"],
  ["\u001B[1mx\u001B[2Kx", "\u001B[1mx\uFFFD[2Kx"],
])("of %j only a first byte order mark, ends of lines and our colors are printed", (text, shown) => {
  expect(printable(text, true)).toBe(shown);
});

test("a path of 502 characters is shown as a whole, and a longer one is cut after 500", () => {
  const path = (length: number) => "/abcdefghi".repeat(60).slice(0, length);
  expect([redactPath(path(502)), redactPath(path(503))]).toEqual([path(502), `${path(500)}/…`]);
});
