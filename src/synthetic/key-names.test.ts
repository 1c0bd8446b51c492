import { describe, expect, it } from "vitest";
import { inventKeyName } from "./key-names.js";

describe("inventKeyName", () => {
  // May change only with an intended change of the word lists, which the changelog then names as changed data.
  it.each([
    [1, "harvest-bank", "Regional offices, north region"],
    [1, "first-insurer", "Premium calculation"],
    [7, "harvest-bank", "Fraud screening"],
    [7, "org-1", "Document archive"],
  ])("gives seed %i and ref %s the name that it always had", (seed, ref, name) => {
    expect(inventKeyName(seed, ref)).toBe(name);
  });

  it("names a system, and sometimes which installation of it", () => {
    const names = Array.from({ length: 500 }, (_, i) => inventKeyName(1, `key-${i}`));
    expect(names.filter((name) => !/^[A-Z][a-z]+(?: [a-z]+)*(?:, [a-z]+(?: [a-z]+)*)?$/.test(name))).toEqual(
      [],
    );
    const qualified = names.filter((name) => name.includes(",")).length;
    expect(qualified).toBeGreaterThan(100);
    expect(qualified).toBeLessThan(240);
    expect(new Set(names).size).toBeGreaterThan(150);
  });

  it("gives another seed usually another name", () => {
    const refs = Array.from({ length: 100 }, (_, i) => `key-${i}`);
    expect(refs.filter((ref) => inventKeyName(1, ref) === inventKeyName(2, ref)).length).toBeLessThan(10);
  });
});
