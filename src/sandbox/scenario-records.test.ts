import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { KeyRecord } from "../rules/key-state.js";
import type { Organization } from "../rules/organization.js";
import type { KeyFields } from "../scenario/keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { Registry } from "./registry.js";
import { startRecords } from "./scenario-records.js";
import { startUsage } from "./usage.js";

const bank = { ref: "bank", status: "active" } as Organization;
const hashOf = (digit: string) => digit.repeat(64);

function registryOf(...hashes: readonly string[]) {
  const registry = new Registry([bank]);
  for (const [index, sha256] of hashes.entries()) {
    const key = { ref: `key-${index}`, organization: "bank", sha256 } as KeyRecord;
    registry.addKey(key, startUsage(0));
  }
  return registry;
}

test("R11 a key is found only by its hash, and an unknown key never, with or without keys", () => {
  expect(registryOf().find(hashOf("a"))).toBeUndefined();
  const registry = registryOf(hashOf("a"), hashOf("b"));
  expect(registry.find(hashOf("a"))).toBe(registry.key("key-0"));
  expect(registry.find(hashOf("b"))).toBe(registry.key("key-1"));
  expect(registry.find(`${hashOf("a").slice(1)}b`)).toBeUndefined();
});

const start = Date.parse("2026-03-02T09:00:00Z");
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const started = (scenario: Scenario) => startRecords(scenario, sha256, start);

function build(keys: Record<string, KeyFields>, population?: Scenario["population"]) {
  const scenario = { version: 1, organizations: { bank: { type: "bank", keys } }, population } as Scenario;
  return Object.fromEntries(Array.from(started(scenario).keys, ([ref, { key }]) => [ref, key]));
}

test("R26 R37 the keys of a rotation share the settings of one of them, and the name of the first", () => {
  const keys = build({
    third: { environment: "test" },
    first: { environment: "test", state: "rotated", replaced_by: "second" },
    second: {
      environment: "test",
      state: "retiring",
      replaced_by: "third",
      scopes: ["consents:read"],
      limits: { per_minute: 3 },
    },
  });
  const { first } = build({ first: { environment: "test" } });
  for (const key of Object.values(keys)) {
    expect(key).toMatchObject({
      name: first?.name,
      scopes: ["consents:read"],
      limits: { perMinute: 3, perDay: 1000 },
    });
  }
});

const organizations = startOrganizations(2000);

/** As many organizations without a name as the sandbox starts them. */
function startOrganizations(count: number): readonly Organization[] {
  const organizations: Scenario["organizations"] = {};
  for (let i = 0; i < count; i++) {
    organizations[`organization-${i}`] = { type: i % 2 === 0 ? "bank" : "insurer" };
  }
  const registry = started({ version: 1, organizations });
  return Array.from(registry.organizations.values(), ({ organization }) => organization);
}

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
  const namesOf = (seed: number) => {
    const keys: Record<string, KeyFields> = {};
    for (let i = 0; i < 500; i++) keys[`key-${i}`] = { environment: "test" };
    const scenario: Scenario = { version: 1, seed, organizations: { bank: { type: "bank", keys } } };
    return Array.from(started(scenario).keys.values(), ({ key }) => key.name);
  };
  const names = namesOf(1);
  const shape = /^[A-Z][a-z]+(?: [a-z]+)*(?:, [a-z]+(?: [a-z]+)*)?$/;
  expect(names.filter((name) => !shape.test(name))).toEqual([]);
  const qualified = names.filter((name) => name.includes(",")).length;
  expect(qualified).toBeGreaterThan(100);
  expect(qualified).toBeLessThan(240);
  expect(new Set(names).size).toBeGreaterThan(150);
  const others = namesOf(2);
  expect(names.filter((name, i) => name === others[i]).length).toBeLessThan(50);
});
