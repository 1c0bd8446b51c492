import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { inventKeyName } from "../farmers/names.js";
import { deriveSecret, type ScenarioKey } from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { KeyRecord, Organization } from "../spec/api-key.js";
import { createRegistry, scenarioRecords, startKey, startUsage } from "./keys.js";

const bank = { ref: "bank", status: "active" } as Organization;
const hashOf = (digit: string) => digit.repeat(64);

function registryOf(...hashes: readonly string[]) {
  const keys = hashes.map((sha256, index) => ({
    key: { ref: `key-${index}`, organization: "bank", sha256 } as KeyRecord,
    usage: startUsage({ sliding: false, dayResetsAt: 0 }, 0),
  }));
  return createRegistry([bank], keys);
}

test("R11 a key is found only by its hash, and an unknown key never, with or without keys", () => {
  expect(registryOf().find(hashOf("a"))).toBeUndefined();
  const registry = registryOf(hashOf("a"), hashOf("b"), hashOf("b"));
  expect(registry.find(hashOf("a"))).toBe(registry.key("key-0"));
  expect(registry.find(hashOf("b"))).toBe(registry.key("key-1"));
  expect(registry.find(`${hashOf("a").slice(1)}b`)).toBeUndefined();
});

const start = Date.parse("2026-03-02T09:00:00Z");
const windows = { sliding: false, dayResetsAt: 0 };
const minimal = { seed: 1, profile: "minimal", givenAssumptions: {}, trial: undefined } as const;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function build(keys: Record<string, ScenarioKey>, population?: Scenario["population"]) {
  const scenario = { version: 1, organizations: { bank: { type: "bank", keys } }, population } as Scenario;
  const started = scenarioRecords(scenario, 1, sha256).keys.map((k) => startKey(k, start, windows, minimal));
  return Object.fromEntries(started.map(({ key }) => [key.ref, key]));
}

test("what is left out has its default", () => {
  expect(build({ key: { environment: "test" } }).key).toEqual({
    ref: "key",
    organization: "bank",
    name: inventKeyName(1, "key"),
    environment: "test",
    legacy: false,
    scopes: ["attestations:read"],
    limits: { perMinute: 60, perDay: 1000 },
    sha256: sha256(deriveSecret(1, { ref: "key", environment: "test", legacy: false })),
  });
});

test("R26 R37 the keys of a rotation share the settings of one of them, and the name of the first", () => {
  const keys = build({
    third: { environment: "test", limits: { per_day: 7 } },
    first: { environment: "test", state: "rotated", replaced_by: "second" },
    second: {
      environment: "test",
      state: "retiring",
      replaced_by: "third",
      scopes: ["consents:read"],
      limits: { per_minute: 3 },
    },
  });
  for (const key of Object.values(keys)) {
    expect(key).toMatchObject({
      name: inventKeyName(1, "first"),
      scopes: ["consents:read"],
      limits: { perMinute: 3, perDay: 7 },
    });
  }
});

test("a population has its keys after those written out, each with the hash of the secret that the seed gives", () => {
  const written = { "organization-3-key-1": { environment: "live", legacy: true } } as const;
  const keys = build(written, { organizations: 2, keys_per_organization: 2 });
  const refs = [1, 2].flatMap((one) => [1, 2].map((key) => `organization-${one}-key-${key}`));
  expect(Object.keys(keys)).toEqual(["organization-3-key-1", ...refs]);
  for (const key of Object.values(keys)) expect(key.sha256).toBe(sha256(deriveSecret(1, key)));
});
