import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { propertySeed } from "../../test/support/property-seed.js";
import { sha256 } from "./sha256.js";

const ofNode = (text: string) => createHash("sha256").update(text).digest("hex");

test("a text of any length has the hash that Node gives it", () => {
  const lengths = Array.from({ length: 300 }, (_, length) => length);
  const texts = [...lengths.map((length) => "k".repeat(length)), "k".repeat(70_000)];
  expect(texts.map(sha256)).toEqual(texts.map(ofNode));
});

test("a text of any characters has the hash that Node gives it, whatever came before", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.string(), (text, next) => {
      expect([sha256(text), sha256(next)]).toEqual([ofNode(text), ofNode(next)]);
    }),
    propertySeed,
  );
  expect(sha256("a lone \ud83c surrogate")).toBe(ofNode("a lone \ufffd surrogate"));
});
