import { expect, test } from "vitest";
import type { KeyRecord } from "../domain/api-key.js";
import type { Organization } from "../domain/organization.js";
import { startUsage } from "./counters.js";
import { createRegistry } from "./registry.js";

const bank = { ref: "bank", status: "active" } as Organization;
const hashOf = (digit: string) => digit.repeat(64);

/** A registry of keys with these hashes, and the members of keys and usages that were read since it was made. */
function readRegistry(...hashes: readonly string[]) {
  const reads: string[] = [];
  const watched = <Value extends object>(name: string, value: Value): Value =>
    new Proxy(value, {
      get(target, member) {
        reads.push(`${name}.${String(member)}`);
        return Reflect.get(target, member);
      },
    });
  const keys = hashes.map((sha256, index) => ({
    key: watched("key", { ref: `key-${index}`, organization: "bank", sha256 } as KeyRecord),
    usage: watched("usage", startUsage({ sliding: false, dayResetsAt: 0 }, 0)),
  }));
  const registry = createRegistry([bank], keys);
  reads.length = 0;
  return { registry, reads };
}

test("R14 the lookup of an unknown key reads as much of a key as that of a known one", () => {
  const { registry, reads } = readRegistry(hashOf("a"), hashOf("b"));
  expect(registry.find(hashOf("a"))).toBeDefined();
  const known = reads.splice(0);
  expect(known).toEqual(
    expect.arrayContaining(["key.revokedAt", "key.expiresAt", "key.overlapEndsAt", "usage.dayEndsAt"]),
  );
  expect(registry.find(hashOf("c"))).toBeUndefined();
  expect(reads).toEqual(known);
});

test("R11 a key is found by its hash alone, and no unknown one is, with or without keys", () => {
  expect(readRegistry().registry.find(hashOf("a"))).toBeUndefined();
  const { registry } = readRegistry(hashOf("a"), hashOf("b"), hashOf("b"));
  expect(registry.find(hashOf("a"))).toBe(registry.key("key-0"));
  expect(registry.find(hashOf("b"))).toBe(registry.key("key-1"));
  expect(registry.find(`${hashOf("a").slice(1)}b`)).toBeUndefined();
});
