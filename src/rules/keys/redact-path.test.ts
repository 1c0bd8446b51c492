import { expect, test } from "vitest";
import { redactPath } from "./redact.js";

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

// As long as this, a search that starts again at each piece does not finish.
test.each([
  ["SVC_test_", "SVC_test_…/…"],
  ["%25", "…/…"],
])("a path of half a million %s is redacted in one pass", (piece, shown) => {
  expect(redactPath(piece.repeat(500_000))).toBe(shown);
});

test("a path of 502 characters is shown as a whole, and a longer one is cut after 500", () => {
  const path = (length: number) => "/abcdefghi".repeat(60).slice(0, length);
  expect([redactPath(path(502)), redactPath(path(503))]).toEqual([path(502), `${path(500)}/…`]);
});
