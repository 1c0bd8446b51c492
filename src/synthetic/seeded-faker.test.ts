import { describe, expect, it } from "vitest";
import { seededFaker } from "./seeded-faker.js";

describe("seededFaker", () => {
  it("starts each stream afresh", () => {
    const first = seededFaker(1, "a").number.int();
    seededFaker(1, "a").person.lastName();
    expect(seededFaker(1, "a").number.int()).toBe(first);
    expect(seededFaker(1, "b").number.int()).not.toBe(first);
    expect(seededFaker(2, "a").number.int()).not.toBe(first);
  });

  it("counts dates from a fixed day, not from today", () => {
    expect(seededFaker(1, "a").date.past().toISOString()).toMatch(/^2025-/);
  });

  it("refuses to be seeded again", () => {
    expect(() => seededFaker(1, "a").seed(2)).toThrow(/ask seededFaker for another one/);
  });
});
