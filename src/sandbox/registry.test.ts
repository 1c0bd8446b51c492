import { expect, test } from "vitest";
import type { KeyRecord, Organization } from "../spec/api-key.js";
import { startUsage } from "./counters.js";
import { createRegistry } from "./registry.js";

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
