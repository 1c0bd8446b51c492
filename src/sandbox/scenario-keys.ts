import {
  defaultOverlap,
  defaultScopes,
  type Environment,
  type KeyRecord,
  parseApiKey,
  prefixOf,
  sandboxMark,
} from "../domain/api-key.js";
import { defaultLimits } from "../domain/limits.js";
import { base62From, randomStream } from "../domain/seed.js";
import { parseDuration } from "../scenario/format/time.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { inventKeyName } from "../synthetic/names.js";
import { createHashIndex, type DescribedKeys } from "./registry.js";
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

/** The number of random characters after the mark of a sandbox key. */
export const secretLength = 29;

/**
 * The full key that the seed and the ref give: prefix, `sbx`, 29 base62 characters.
 *
 * Computed on every call, so that it is kept nowhere (R35).
 *
 * @example
 * deriveSecret(1, { ref: "active", environment: "test", legacy: false }); // "SVC_test_sbx…"
 */
export function deriveSecret(
  seed: number,
  key: { readonly ref: string; readonly environment: Environment; readonly legacy: boolean },
): string {
  const random = randomStream(seed, "key.secret", key.ref);
  return prefixOf(key.environment, key.legacy) + sandboxMark + base62From(random, secretLength);
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
  const rotations = rotationsOf(described);
  const hashes = createHashIndex(described.length);
  // A key made at run time before a snapshot has only its hash.
  for (const one of described) hashes.add(one.given.sha256 ?? sha256(secretOf(one, seed)));
  return {
    described,
    hashes,
    make(place) {
      const one = described[place] as DescribedKey;
      const { usage } = one.given;
      return {
        key: recordOf(one, { seed, start, rotation: rotations.get(one.ref), hash: hashes.at(place) }),
        usage: startUsage(windows, start, {
          thisMinute: usage?.this_minute,
          today: usage?.today,
          countedAt: usage?.counted_at?.map(Date.parse),
        }),
      };
    },
  };
}

interface Building {
  readonly seed: number;
  readonly start: number;
  readonly hash: string;
  readonly rotation: Rotation | undefined;
}

function recordOf(one: DescribedKey, { seed, start, hash, rotation }: Building): KeyRecord {
  const { ref, organization, given } = one;
  const { replaces, common } = rotation ?? { common: sharedBy([one]) };
  const ended = given.state === "expired" ? start : undefined;
  const expiresAt = instantOf(given.expires, start) ?? ended;
  const overlapEndsAt = overlapEnd(given, start, expiresAt);
  return {
    ref,
    organization,
    name: common.name ?? inventKeyName(seed, common.first),
    environment: given.environment,
    legacy: given.legacy ?? (given.secret !== undefined && parseApiKey(given.secret)?.legacy === true),
    scopes: common.scopes ?? defaultScopes,
    limits: {
      perMinute: common.perMinute ?? defaultLimits.perMinute,
      perDay: common.perDay ?? defaultLimits.perDay,
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

// A duration from the clock's start, or an instant; the scenario's checks leave nothing else.
function instantOf(text: string | undefined, start: number): number | undefined {
  if (text === undefined) return undefined;
  const duration = parseDuration(text);
  return duration === undefined ? Date.parse(text) : start + duration;
}

interface Rotation {
  /** Ref of the key that this one replaced; left out for the first. */
  readonly replaces?: string;
  readonly common: ReturnType<typeof sharedBy>;
}

// By ref, the keys that were rotated or came from a rotation.
function rotationsOf(keys: readonly DescribedKey[]): ReadonlyMap<string, Rotation> {
  const rotations = new Map<string, Rotation>();
  const replacements = new Set<string>();
  for (const { given } of keys) if (given.replaced_by !== undefined) replacements.add(given.replaced_by);
  // Most worlds, and all large ones, have no rotation.
  if (replacements.size === 0) return rotations;
  const byRef = new Map(keys.map((one) => [one.ref, one]));
  for (const first of keys) {
    if (first.given.replaced_by === undefined || replacements.has(first.ref)) continue;
    // The scenario's checks refuse circles and keys that replace two.
    const chain = [first];
    for (let next = byRef.get(first.given.replaced_by); next !== undefined; ) {
      chain.push(next);
      next = byRef.get(next.given.replaced_by ?? "");
    }
    const common = sharedBy(chain);
    for (const [index, { ref }] of chain.entries()) {
      const replaces = chain[index - 1]?.ref;
      rotations.set(ref, { common, ...(replaces !== undefined && { replaces }) });
    }
  }
  return rotations;
}

// The keys of one rotation, oldest first, share a setting that any of them gives (R37).
function sharedBy(chain: readonly DescribedKey[]) {
  const given = <Value>(read: (key: ScenarioKey) => Value | undefined) =>
    chain.map((one) => read(one.given)).find((value) => value !== undefined);
  return {
    first: chain[0]?.ref ?? "",
    name: given(({ name }) => name),
    scopes: given(({ scopes }) => scopes),
    perMinute: given(({ limits }) => limits?.per_minute),
    perDay: given(({ limits }) => limits?.per_day),
  };
}
