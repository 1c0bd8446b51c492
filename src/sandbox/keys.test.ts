import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { deriveSecret, type ScenarioKey } from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { KeyRecord, Organization } from "../spec/api-key.js";
import { createRegistry, scenarioRecords, startKey, startUsage, usageAt, withoutOver } from "./keys.js";
import { inventKeyName } from "./population/names.js";

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

test("a key that a change ends no longer counts, and one that a change makes work again does", () => {
  const registry = registryOf(hashOf("a"), hashOf("b"));
  const [first, second] = [registry.key("key-0"), registry.key("key-1")];
  first.owner.open = new Set(first.owner.keys);
  const open = () => withoutOver(first.owner.open ?? new Set(), 5);
  registry.change(first, { expiresAt: 4 });
  expect([open(), registry.dated.has(first)]).toEqual([[second], true]);
  registry.change(first, { expiresAt: 6 });
  expect(open()).toEqual([second, first]);
});

const start = Date.parse("2026-03-02T09:00:00Z");
const windows = { sliding: false, dayResetsAt: 0 };
const minimal = { seed: 1, profile: "minimal", givenAssumptions: {}, variant: undefined } as const;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function build(keys: Record<string, ScenarioKey>, population?: Scenario["population"]) {
  const scenario = { version: 1, organizations: { bank: { type: "bank", keys } }, population } as Scenario;
  const started = scenarioRecords(scenario, 1, sha256).keys.map((k) => startKey(k, start, windows, minimal));
  return Object.fromEntries(started.map(({ key }) => [key.ref, key]));
}

test("what is left out has its default", () => {
  expect(build({ key: { environment: "test" } }).key).toMatchObject({
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

test("R22 R23 usage is of the current minute and day, each until the millisecond of its end", () => {
  const usage = startUsage(windows, start, { thisMinute: 3, today: 5 });
  const at = (now: number) => {
    const { minuteCount, minuteEndsAt, dayCount, dayEndsAt } = usageAt(usage, windows, now);
    return [minuteCount, minuteEndsAt - start, dayCount, (dayEndsAt - start) / 3_600_000];
  };
  const minute = 60_000;
  const day = 15 * 60 * minute;
  expect([at(start), at(start + minute - 1), at(start + minute)]).toEqual([
    ...[
      [3, minute, 5, 15],
      [3, minute, 5, 15],
      [0, 2 * minute, 5, 15],
    ],
  ]);
  expect([at(start + day - 1)[2], at(start + day)]).toEqual([5, [0, day + minute, 0, 39]]);
  expect(usageAt(usage, windows, start + minute - 1)).toBe(usage);
  expect(startUsage(windows, start, { thisMinute: 2 })).toMatchObject({ dayCount: 2, recent: [] });
});

test("R22 a sliding minute counts the requests that are younger than a minute", () => {
  const sliding = { sliding: true, dayResetsAt: 0 };
  const usage = startUsage(sliding, start, { thisMinute: 3, countedAt: [start - 30_000, start - 1, start] });
  const left = (now: number) => {
    const { minuteCount, recent } = usageAt(usage, sliding, now);
    return [minuteCount, recent.length];
  };
  expect([start + 29_999, start + 30_000, start + 59_999, start + 60_000].map(left)).toEqual([
    ...[
      [3, 3],
      [2, 2],
      [1, 1],
      [0, 0],
    ],
  ]);
  expect(startUsage(sliding, start, { thisMinute: 2 }).recent).toEqual([start, start]);
});
