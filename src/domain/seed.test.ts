import { expect, test } from "vitest";
import { base62From, mix32, pick, randomStream } from "./seed.js";

test("characters of one stream, and first characters of many, are spread evenly", () => {
  const one = base62From(randomStream(1, "text"), 62_000);
  const firsts = Array.from({ length: 62_000 }, (_, index) =>
    base62From(randomStream(index, "text"), 1),
  ).join("");
  for (const text of [one, firsts]) {
    const counts = new Map<string, number>();
    for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 1,000 expected for each; six standard deviations are about 190.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(200);
  }
});

test("mix32 is one to one over a stretch of integers", () => {
  expect(new Set(Array.from({ length: 50_000 }, (_, value) => mix32(value))).size).toBe(50_000);
});

test("pick reaches every item", () => {
  const draw = randomStream(1, "pick");
  expect(new Set(Array.from({ length: 200 }, () => pick(draw, ["a", "b", "c"])))).toEqual(
    new Set(["a", "b", "c"]),
  );
});
