import { expect, test } from "vitest";
import type { OrganizationType } from "../../rules/organization.js";
import { inventKeyName, inventOrganizationName } from "../keys.js";

const organizations = Array.from({ length: 2000 }, (_, i) => {
  const type: OrganizationType = i % 2 === 0 ? "bank" : "insurer";
  return { type, name: inventOrganizationName(1, `organization-${i}`, type) };
});
const tradeWord = { bank: /\b(Bank|Credit Union)\b/, insurer: /\b(Insurance|Assurance)\b/ };
const otherTrade = { bank: tradeWord.insurer, insurer: tradeWord.bank };

test.each<[string, (organization: (typeof organizations)[number]) => boolean]>([
  ["capitalized ASCII words", ({ name }) => /^[A-Z][a-z]+(?: (?:[A-Z][a-z]+|of|&))+$/.test(name)],
  ["8 to 60 characters", ({ name }) => name.length >= 8 && name.length <= 60],
  ["the word of their trade", ({ type, name }) => tradeWord[type].test(name)],
  ["no word of the other trade", ({ type, name }) => !otherTrade[type].test(name)],
  ["no word twice in a row, and no partner twice", ({ name }) => !/\b(\w+)(?: &)? \1\b/.test(name)],
])("names of organizations have %s", (_what, isRight) => {
  expect(organizations.filter((one) => !isRight(one))).toEqual([]);
});

test("the name of a key is a system, sometimes with an installation of it, and depends on the seed", () => {
  const names = Array.from({ length: 500 }, (_, i) => inventKeyName(1, `key-${i}`));
  const shape = /^[A-Z][a-z]+(?: [a-z]+)*(?:, [a-z]+(?: [a-z]+)*)?$/;
  expect(names.filter((name) => !shape.test(name))).toEqual([]);
  const qualified = names.filter((name) => name.includes(",")).length;
  expect(qualified).toBeGreaterThan(100);
  expect(qualified).toBeLessThan(240);
  expect(new Set(names).size).toBeGreaterThan(150);
  expect(names.filter((name, i) => name === inventKeyName(2, `key-${i}`)).length).toBeLessThan(50);
});
