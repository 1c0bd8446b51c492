import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { propertySeed } from "../../test/support/property-seed.js";
import { sha256Hex } from "./web-platform.js";

const ofNode = (text: string) => createHash("sha256").update(text).digest("hex");

test("any text has the hash of its UTF-8 bytes", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary", maxLength: 200 })), (text) => {
      expect(sha256Hex(text)).toBe(ofNode(text));
    }),
    propertySeed,
  );
  expect(sha256Hex("a lone \ud83c surrogate")).toBe(ofNode("a lone \ufffd surrogate"));
});
