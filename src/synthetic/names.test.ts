import { describe, expect, it, vi } from "vitest";
import type { OrganizationType } from "../domain/organization.js";
import { inventKeyName, inventOrganizationName } from "./names.js";

describe("inventOrganizationName", () => {
  // Scenarios that leave names out show these, and so do the partners' own golden files. They may change only with an
  // intended change of the name tables or of the patterns, which the changelog then names as changed data.
  it.each<[number, string, OrganizationType, string]>([
    [1, "harvest-bank", "bank", "Weimannport Rural Credit Bank"],
    [1, "first-insurer", "insurer", "Emmerichberg Mutual Insurance"],
    [7, "harvest-bank", "bank", "Cooperative Bank of Port Romaguera"],
    [7, "first-insurer", "insurer", "Growers Mutual Assurance of Fort Tillman"],
  ])("gives seed %i and ref %s (%s) the name that it always had", (seed, ref, type, name) => {
    expect(inventOrganizationName(seed, ref, type)).toBe(name);
  });

  it("does not depend on what was invented before", () => {
    const alone = inventOrganizationName(1, "second", "bank");
    inventOrganizationName(1, "first", "insurer");
    expect(inventOrganizationName(1, "second", "bank")).toBe(alone);
  });

  it("gives another seed or another ref another name", () => {
    const names = [1, 2, 3].flatMap((seed) =>
      ["one", "two", "three"].map((ref) => inventOrganizationName(seed, ref, "bank")),
    );
    expect(new Set(names).size).toBe(9);
  });

  it("needs neither chance nor the wall clock", () => {
    const forbidden = () => {
      throw new Error("an invented name depends on something else than its seed and its ref");
    };
    const random = vi.spyOn(Math, "random").mockImplementation(forbidden);
    const now = vi.spyOn(Date, "now").mockImplementation(forbidden);
    try {
      expect(inventOrganizationName(1, "harvest-bank", "bank")).toBe("Weimannport Rural Credit Bank");
    } finally {
      random.mockRestore();
      now.mockRestore();
    }
  });
});

describe("2,000 invented organizations", () => {
  const organizations = Array.from({ length: 2000 }, (_, i) => {
    const type: OrganizationType = i % 2 === 0 ? "bank" : "insurer";
    return { type, name: inventOrganizationName(1, `organization-${i}`, type) };
  });
  const tradeWord = { bank: /\b(Bank|Credit Union)\b/, insurer: /\b(Insurance|Assurance)\b/ };

  it("have names of capitalized ASCII words, 8 to 60 characters long", () => {
    const shape = /^[A-Z][a-z]+(?: (?:[A-Z][a-z]+|of|&))+$/;
    const bad = organizations.filter(({ name }) => !shape.test(name) || name.length < 8 || name.length > 60);
    expect(bad).toEqual([]);
  });

  it("say in their names whether they are banks or insurers", () => {
    const other = { bank: tradeWord.insurer, insurer: tradeWord.bank };
    const bad = organizations.filter(
      ({ type, name }) => !tradeWord[type].test(name) || other[type].test(name),
    );
    expect(bad).toEqual([]);
  });

  it("have no word twice in a row, and no partner twice", () => {
    expect(organizations.filter(({ name }) => /\b(\w+)(?: &)? \1\b/.test(name))).toEqual([]);
  });

  it("rarely share a name", () => {
    expect(new Set(organizations.map(({ name }) => name)).size).toBeGreaterThanOrEqual(1900);
  });
});

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
