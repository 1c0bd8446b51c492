import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { halfSipHash, withMemory } from "./hash-memory.js";

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");

describe("HalfSipHash-2-4 of 64 bits", () => {
  // From the reference implementation: the key is 00 01 … 07, and the text 00 01 … of this length.
  test.each([
    [0, "218d1f59b9b83cc8"],
    [1, "be552412f8387315"],
    [2, "064f39ef7c50eb57"],
    [3, "ce0f1a45f7060679"],
    [4, "d5e78a175be52ea1"],
    [9, "5b51cccc13888307"],
    [15, "217d0bcb4e81c902"],
  ])("of %i bytes", (length, expected) => {
    const text = String.fromCharCode(...Array.from({ length }, (_, at) => at));
    const tag = new Int32Array(2);
    expect(halfSipHash(text, 0x03020100, 0x07060504, tag)).toBe(true);
    expect(Buffer.from(tag.buffer).toString("hex")).toBe(expected);
  });
});

describe("the memory of hashes", () => {
  test("gives what the hash gives, however often it is asked", () => {
    const remembered = withMemory(sha256, 1, 2);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary", maxLength: 90 })), (text) => {
        expect(remembered(text)).toBe(sha256(text));
        expect(remembered(text)).toBe(sha256(text));
      }),
    );
  });

  const counting = () => {
    let count = 0;
    const remembered = withMemory((text) => `${++count} ${text.length}`, 1, 2);
    return { remembered, counted: () => count };
  };

  test.each([
    ["a short text once", "k".repeat(64), 1],
    ["a long text each time", "k".repeat(65), 3],
    ["a text that is not Latin-1 each time", "ключ", 3],
    ["bytes each time", Buffer.from("key"), 3],
  ])("hashes %s", (_, text, expected) => {
    const { remembered, counted } = counting();
    for (let time = 0; time < 3; time++) remembered(text);
    expect(counted()).toBe(expected);
  });

  test("keeps 16,384 at most", () => {
    const { remembered, counted } = counting();
    for (let number = 0; number < 80_000; number++) remembered(`key-${number}`);
    for (let number = 0; number < 80_000; number++) remembered(`key-${number}`);
    expect(counted()).toBeGreaterThanOrEqual(160_000 - 16_384);
  });
});
