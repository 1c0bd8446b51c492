import {
  defaultOverlap,
  defaultScopes,
  type KeyRecord,
  parseApiKey,
  prefixOf,
  sandboxMark,
} from "../domain/api-key.js";
import { defaultLimits } from "../domain/limits.js";
import { base62From, type RandomStream, randomStream } from "../domain/seed.js";
import { parseWhen } from "../scenario/format/time.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { inventKeyName } from "../synthetic/names.js";
import { createHashIndex, type DescribedKeys, type UsedKey } from "./registry.js";
import { startUsage, type Windows } from "./usage.js";

export type ScenarioOrganization = NonNullable<Scenario["organizations"]>[string];
export type ScenarioKey = NonNullable<ScenarioOrganization["keys"]>[string];

/** A key as a scenario describes it, under its ref and its organization's. */
export interface DescribedKey {
  readonly ref: string;
  readonly organization: string;
  readonly given: ScenarioKey;
}

/** All keys of a scenario, in its order. */
export function describedKeys(scenario: Scenario): DescribedKey[] {
  return Object.entries(scenario.organizations ?? {}).flatMap(([organization, { keys }]) =>
    Object.entries(keys ?? {}).map(([ref, given]) => ({ ref, organization, given })),
  );
}

type KeyKind = Pick<KeyRecord, "environment" | "legacy">;

/** A full key: prefix, `sbx`, 29 base62 characters from the stream. */
export function secretFrom(random: RandomStream, { environment, legacy }: KeyKind): string {
  return prefixOf(environment, legacy) + sandboxMark + base62From(random, 29);
}

/** The full key that the seed and the ref give. Computed on every call, so that it is kept nowhere (R35). */
export function deriveSecret(seed: number, key: KeyKind & Pick<KeyRecord, "ref">): string {
  return secretFrom(randomStream(seed, "key.secret", key.ref), key);
}

/** A well-formed key that the seed gives and no world holds: a request with it meets `401.unknown`. */
export function unknownSecret(seed: number): string {
  // No ref contains a space, so this has a random stream of its own.
  return deriveSecret(seed, { ref: "no such key", environment: "test", legacy: false });
}

/** The full key: the pinned one, or the one that the seed and the ref give. */
export function secretOf({ ref, given }: DescribedKey, seed: number): string {
  if (given.secret !== undefined) return given.secret;
  return deriveSecret(seed, { ref, environment: given.environment, legacy: given.legacy ?? false });
}

/** The settings that the keys of a scenario start with. */
export interface KeyBuilding {
  readonly seed: number;
  /** The start of the clock (epoch milliseconds): durations in the scenario count from here. */
  readonly start: number;
  readonly sha256: (text: string) => string;
  readonly windows: Windows;
}

/** The keys of a scenario as a registry takes them: all hashes now, each record when it is first used. */
export function scenarioKeys(
  scenario: Scenario,
  { seed, start, sha256, windows }: KeyBuilding,
): DescribedKeys {
  const described = describedKeys(scenario);
  const rotationOf = rotationsAmong(described);
  const hashes = createHashIndex(described.length);
  // A key made at run time before a snapshot has only its hash.
  for (const one of described) hashes.add(one.given.sha256 ?? sha256(secretOf(one, seed)));
  const make = (one: DescribedKey, hash: string): UsedKey => {
    const { usage } = one.given;
    return {
      key: recordOf(one, { rotation: rotationOf(one), seed, start, hash }),
      usage: startUsage(windows, start, {
        thisMinute: usage?.this_minute,
        today: usage?.today,
        countedAt: usage?.counted_at?.map(Date.parse),
      }),
    };
  };
  const ended = { environment: "test", state: "revoked", name: "" } as const;
  return {
    described,
    hashes,
    make: (place) => make(described[place] as DescribedKey, hashes.at(place)),
    decoy: make({ ref: "", organization: "", given: ended }, ""),
  };
}

interface RecordBuilding extends Pick<KeyBuilding, "seed" | "start"> {
  readonly hash: string;
  /** All keys of its rotation, oldest first. */
  readonly rotation: readonly DescribedKey[];
}

function recordOf(
  { ref, organization, given }: DescribedKey,
  { rotation, seed, start, hash }: RecordBuilding,
): KeyRecord {
  // The keys of one rotation share a setting that any of them gives (R37).
  const shared = <Value>(read: (key: ScenarioKey) => Value | undefined) =>
    rotation.map((one) => read(one.given)).find((value) => value !== undefined);
  const first = rotation[0]?.ref ?? ref;
  const replaces = rotation[rotation.findIndex((one) => one.ref === ref) - 1]?.ref;
  const expiresAt = instantOf(given.expires, start) ?? (given.state === "expired" ? start : undefined);
  const overlapEndsAt = overlapEnd(given, start, expiresAt);
  return {
    ref,
    organization,
    name: shared(({ name }) => name) ?? inventKeyName(seed, first),
    environment: given.environment,
    legacy: given.legacy ?? (given.secret !== undefined && parseApiKey(given.secret)?.legacy === true),
    scopes: shared(({ scopes }) => scopes) ?? defaultScopes,
    limits: {
      perMinute: shared(({ limits }) => limits?.per_minute) ?? defaultLimits.perMinute,
      perDay: shared(({ limits }) => limits?.per_day) ?? defaultLimits.perDay,
    },
    sha256: hash,
    ...(given.state === "revoked" && { revokedAt: start }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(overlapEndsAt !== undefined && { overlapEndsAt }),
    ...(given.replaced_by !== undefined && { replacedBy: given.replaced_by }),
    ...(replaces !== undefined && { replaces }),
  };
}

function overlapEnd(given: ScenarioKey, start: number, expiresAt = start): number | undefined {
  const stated = instantOf(given.overlap_ends, start);
  if (given.state === "retiring") return stated ?? start + defaultOverlap;
  if (given.state === "rotated") return stated ?? start;
  // A replaced key can expire before its overlap is over.
  return given.state === "expired" && given.replaced_by !== undefined ? (stated ?? expiresAt) : undefined;
}

function instantOf(text: string | undefined, start: number): number | undefined {
  return text === undefined ? undefined : parseWhen(text, start);
}

// Finds the keys of a key's rotation, oldest first. The scenario's checks refuse circles and keys that replace two.
function rotationsAmong(keys: readonly DescribedKey[]): (one: DescribedKey) => readonly DescribedKey[] {
  const replaced = new Map<string, DescribedKey>();
  for (const one of keys) if (one.given.replaced_by !== undefined) replaced.set(one.given.replaced_by, one);
  const replacements = new Map<string | undefined, DescribedKey>();
  for (const one of keys) if (replaced.has(one.ref)) replacements.set(one.ref, one);
  return (one) => {
    const chain = [one];
    for (let old = replaced.get(one.ref); old !== undefined; old = replaced.get(old.ref)) chain.unshift(old);
    for (let last: DescribedKey | undefined = one; last !== undefined; ) {
      last = replacements.get(last.given.replaced_by);
      if (last !== undefined) chain.push(last);
    }
    return chain;
  };
}
