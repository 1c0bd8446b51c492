import { expect, test } from "vitest";
import { row } from "./table.js";
import { selector } from "./vary.js";

const rowOf = (id: string) => row(id, [200], "a", { b: {}, c: {}, d: {} });
const chosen = (seed: number, id: string, count = 4_000) =>
  Array.from({ length: count }, (_, number) => selector(seed, number)(rowOf(id)).variant.id).join("");

test("what a row chooses does not depend on the rows that chose before", () => {
  const choose = selector(1, 5);
  for (const id of ["x", "y"]) choose(rowOf(id)).random();
  expect(choose(rowOf("row")).variant).toEqual(selector(1, 5)(rowOf("row")).variant);
});

test("each variant is chosen about equally often, and two rows choose independently", () => {
  const [one, other] = [chosen(3, "one"), chosen(3, "other")];
  const pairs = new Map<string, number>();
  for (let i = 0; i < one.length; i++) {
    const pair = `${one[i]}${other[i]}`;
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  expect(pairs.size).toBe(16);
  for (const count of pairs.values()) expect(count).toBeGreaterThan(180);
});
