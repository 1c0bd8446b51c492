import { expect, test } from "vitest";
import { base62From, randomStream } from "./seed.js";

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
