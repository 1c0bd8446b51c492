import { expect, test } from "vitest";
import { base62From, mix32, pick, randomStream, uuidFrom } from "./seed.js";

test("a stream depends on its seed and labels alone", () => {
  const first = randomStream(1, "a", "b");
  const again = randomStream(1, "a", "b");
  expect([first(), first(), first()]).toEqual([again(), again(), again()]);
});

test("streams of other seeds and labels, and of labels cut elsewhere, differ", () => {
  const streams = [
    randomStream(1, "a", "b"),
    randomStream(2, "a", "b"),
    randomStream(1, "ab"),
    randomStream(1, "b", "a"),
    randomStream(11, "a"),
  ];
  expect(new Set(streams.map((draw) => draw())).size).toBe(streams.length);
});

// These values may only change together with the line "Seeded data changed" in the changelog.
test("the first values of known streams stay the same", () => {
  expect(base62From(randomStream(1, "key.secret", "active"), 29)).toMatchInlineSnapshot(
    `"eYLxGBKUSKRyCdOvblihKbmy3UEzt"`,
  );
  expect(uuidFrom(randomStream(7, "organization.id", "harvest-bank"))).toMatchInlineSnapshot(
    `"0cd838cc-abd3-44cb-af3b-b1752ea14e7a"`,
  );
});

test("20,000 neighbouring labels give 20,000 different ids of the right form", () => {
  const ids = new Set<string>();
  for (let i = 0; i < 20_000; i++) ids.add(uuidFrom(randomStream(1, "organization.id", `bank-${i}`)));
  expect(ids.size).toBe(20_000);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

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
