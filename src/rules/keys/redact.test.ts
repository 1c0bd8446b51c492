import { expect, test } from "vitest";
import { findBase64Keys } from "./find-keys.js";
import { mapTexts, redact, redactPlainKeys } from "./redact.js";

const key = "SVC_live_9f8e7d6c5b4a";

test.each([
  ["%20%7e%7E", " ~~"],
  ["%1f%7f%80", "%1f%7f%80"],
  ["%u0041%U0042%u1041", "AB%u1041"],
  ["caf\\u00e9 na\\\\u00efve \\u0041\\\\u0042", "caf\\u00e9 na\\\\u00efve AB"],
  [`%${"25".repeat(9)}41`, "A"],
  [`%${"25".repeat(10)}41`, "%41"],
])("R46 %s reads %s when its printable characters are decoded, ten times at most", (text, decoded) => {
  // A text is shown decoded if it hides a key.
  expect(redact(`${text} ${key}`)).toBe(`${decoded} SVC_live_…`);
});

test("R46 a value has no key in a text or a name, except in a member that is kept", () => {
  const value = { [key]: [key, { name: `of ${key}`, kept: { secret: key }, none: null, count: 1 }] };
  expect(mapTexts(value, redactPlainKeys, (name) => name === "kept")).toEqual({
    "SVC_live_…": ["SVC_live_…", { name: "of SVC_live_…", kept: { secret: key }, none: null, count: 1 }],
  });
});

test.each([
  [`a ${key}.x~%b-c_d e`, "a SVC_live_… e"],
  ["svc%5FTEST_a legacySVC_live%5fb", "svc%5FTEST_… legacySVC_live%5f…"],
  ["SVC_test_SVC_test_a,SVC_test_b", "SVC_test_…,SVC_test_…"],
  ["İ svc_test_İ svc_test_a", "İ svc_test_İ svc_test_…"],
  ["Start it with SVC_test_. Or SVC_live_~", "Start it with SVC_test_. Or SVC_live_~"],
  ["SVC_test_.a SVC_test_%41", "SVC_test_… SVC_test_…"],
  ["SVC_test_ SVC_prod_a SVC-test_a svc_test", "SVC_test_ SVC_prod_a SVC-test_a svc_test"],
])("R46 %j is redacted as %j", (text, redacted) => {
  expect(redactPlainKeys(text)).toBe(redacted);
});

test.each([
  ["in hex", [...key].map((character) => character.charCodeAt(0).toString(16)).join("")],
  [
    "in upper-case hex",
    [...key].map((character) => character.charCodeAt(0).toString(16).toUpperCase()).join(""),
  ],
  ["in Base64", btoa(key)],
  ["in Base64 behind a name", btoa(`user:${key}`)],
])("R46 a text whose key %s was removed has none left", (_encoding, encoded) => {
  const redacted = redact(`sent ${encoded}`);
  expect(redact(encoded)).not.toBe(encoded);
  expect(redact(redacted)).toBe(redacted);
  // What comes behind a removed key may be its next piece.
  const withNextPiece = `${redacted} ${encoded.slice(-4)}`;
  expect(redact(withNextPiece)).not.toBe(withNextPiece);
});

test.each(["", "=", "v1/", "v1/a", "v1/ab"])(
  "R46 a key in Base64 is hidden behind %j, over two lines",
  (before) => {
    const encoded = btoa(key);
    const wrapped = `${before}${encoded.slice(0, 16)}\n${encoded.slice(16)}`;
    expect(redact(wrapped)).toBe(`${before}${btoa("SVC_live_")}…`);
  },
);

test.each(["", "n", "=v1", "/t/", "user:"])("a key in Base64 is found behind %j", (before) => {
  expect(findBase64Keys(`${before}${btoa(key)}.`)).toEqual([key]);
});

test("a key in Base64 is found once, also next to another one", () => {
  const other = "SVC_test_0a1b2c3d";
  expect(findBase64Keys(btoa(`${key} ${other}`)).sort()).toEqual([key, other]);
});
