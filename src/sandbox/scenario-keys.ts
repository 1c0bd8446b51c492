import {
  defaultOverlap,
  defaultScopes,
  type KeyEnds,
  type KeyRecord,
  parseApiKey,
  prefixOf,
  randomLength,
  sandboxMark,
} from "../domain/api-key.js";
import { defaultLimits } from "../domain/limits.js";
import { base62From, type RandomStream, randomStream } from "../domain/seed.js";
import { parseWhen } from "../scenario/format/time.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { inventKeyName } from "../synthetic/names.js";
import { startUsage, type Windows } from "./counters.js";
import { createHashIndex, type DescribedKeys, type UsedKey } from "./registry.js";

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
  return prefixOf(environment, legacy) + sandboxMark + base62From(random, randomLength);
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
  /** Returns the scopes of a key with those that the world grants beside them. Default: no more. */
  readonly withGranted?: (first: string, scopes: readonly string[]) => readonly string[];
}

/** What no clock and no request changes about the keys of a scenario under a seed. */
interface Foundation extends Pick<DescribedKeys, "places" | "hashes"> {
  readonly seed: number;
  readonly described: readonly DescribedKey[];
  readonly rotations: ReadonlyMap<string, Rotation>;
  /** The SHA-256 of the key that the seed gives and no world holds. */
  readonly unknownKey: string;
}

// By the organizations of the scenario, which nothing changes: worlds of one scenario and seed share it.
const foundations = new WeakMap<object, Foundation>();

function foundationOf(scenario: Scenario, seed: number, sha256: (text: string) => string): Foundation {
  const known = scenario.organizations && foundations.get(scenario.organizations);
  if (known?.seed === seed) return known;
  const described = describedKeys(scenario);
  const hashes = createHashIndex(described.length);
  // A key made at run time before a snapshot has only its hash.
  for (const one of described) hashes.add(one.given.sha256 ?? sha256(secretOf(one, seed)));
  const places = new Map(described.map(({ ref }, place) => [ref, place]));
  const rotations = rotationsOf(described);
  const foundation = { seed, described, places, rotations, hashes, unknownKey: sha256(unknownSecret(seed)) };
  if (scenario.organizations !== undefined) foundations.set(scenario.organizations, foundation);
  return foundation;
}

/** The keys of a scenario as a registry takes them: all hashes now, each record when it is first used. */
export function scenarioKeys(
  scenario: Scenario,
  { seed, start, sha256, windows, withGranted = (_first, scopes) => scopes }: KeyBuilding,
): DescribedKeys & Pick<Foundation, "unknownKey"> {
  const { described, places, rotations, hashes, unknownKey } = foundationOf(scenario, seed, sha256);
  const recordOf = (one: DescribedKey, hash: string): KeyRecord => {
    const { ref, organization, given } = one;
    const { replaces, shared } = rotations.get(ref) ?? { replaces: undefined, shared: sharedBy([one]) };
    return {
      ref,
      organization,
      name: shared.name ?? inventKeyName(seed, shared.first),
      environment: given.environment,
      legacy: given.legacy ?? (given.secret !== undefined && parseApiKey(given.secret)?.legacy === true),
      scopes: withGranted(shared.first, shared.scopes ?? defaultScopes),
      limits: {
        perMinute: shared.perMinute ?? defaultLimits.perMinute,
        perDay: shared.perDay ?? defaultLimits.perDay,
      },
      sha256: hash,
      ...endsOf(given, start),
      ...(given.replaced_by !== undefined && { replacedBy: given.replaced_by }),
      ...(replaces !== undefined && { replaces }),
    };
  };
  const make = (one: DescribedKey, hash: string): UsedKey => {
    const { this_minute: thisMinute, today, counted_at: times } = one.given.usage ?? {};
    const past = { thisMinute, today, countedAt: times?.map(Date.parse) };
    return { key: recordOf(one, hash), usage: startUsage(windows, start, past) };
  };
  const ended = { environment: "test", state: "revoked", name: "" } as const;
  return {
    described,
    places,
    hashes,
    unknownKey,
    make: (place) => make(described[place] as DescribedKey, hashes.at(place)),
    endsAt: (place) => endsOf((described[place] as DescribedKey).given, start),
    decoy: make({ ref: "", organization: "", given: ended }, ""),
  };
}

const endless: KeyEnds = {};

function endsOf(given: ScenarioKey, start: number): KeyEnds {
  // Nearly every key, and there may be a million.
  const { state = "active", expires, overlap_ends: overlapEnds, replaced_by: replacement } = given;
  if (state === "active" && (expires ?? overlapEnds ?? replacement) === undefined) return endless;
  const expiresAt = instantOf(given.expires, start) ?? (given.state === "expired" ? start : undefined);
  const overlapEndsAt = overlapEnd(given, start, expiresAt);
  return {
    ...(given.state === "revoked" && { revokedAt: start }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(overlapEndsAt !== undefined && { overlapEndsAt }),
  };
}

function overlapEnd(given: ScenarioKey, start: number, expiresAt = start): number | undefined {
  const stated = instantOf(given.overlap_ends, start);
  if (given.state === "retiring") return stated ?? start + defaultOverlap;
  if (given.state === "rotated") return stated ?? start;
  // A replaced key can expire or be revoked before its overlap is over.
  if (given.replaced_by === undefined) return undefined;
  return stated ?? (given.state === "expired" ? expiresAt : start);
}

function instantOf(text: string | undefined, start: number): number | undefined {
  return text === undefined ? undefined : parseWhen(text, start);
}

/** The rotation that a key is part of. */
interface Rotation {
  /** Ref of the key that this one replaced. */
  readonly replaces: string | undefined;
  readonly shared: Shared;
}

/** The settings that all keys of a rotation share. */
interface Shared {
  /** Ref of the first key. */
  readonly first: string;
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly perMinute?: number | undefined;
  readonly perDay?: number | undefined;
}

// The keys of one rotation, oldest first, share a setting that any of them gives (R37).
function sharedBy(chain: readonly [DescribedKey, ...DescribedKey[]]): Shared {
  return chain.reduce<Shared>(
    ({ first, name, scopes, perMinute, perDay }, { given }) => ({
      first,
      name: name ?? given.name,
      scopes: scopes ?? given.scopes,
      perMinute: perMinute ?? given.limits?.per_minute,
      perDay: perDay ?? given.limits?.per_day,
    }),
    { first: chain[0].ref },
  );
}

// By ref, the keys that were rotated or came from a rotation. The scenario's checks refuse circles and keys that
// replace two.
function rotationsOf(keys: readonly DescribedKey[]): ReadonlyMap<string, Rotation> {
  const rotations = new Map<string, Rotation>();
  const replacements = new Map<string | undefined, DescribedKey | undefined>();
  for (const { given } of keys) if (given.replaced_by) replacements.set(given.replaced_by, undefined);
  for (const one of keys) if (replacements.has(one.ref)) replacements.set(one.ref, one);
  for (const first of keys) {
    if (first.given.replaced_by === undefined || replacements.has(first.ref)) continue;
    const chain: [DescribedKey, ...DescribedKey[]] = [first];
    for (let last: DescribedKey | undefined = first; last !== undefined; ) {
      last = replacements.get(last.given.replaced_by);
      if (last !== undefined) chain.push(last);
    }
    const shared = sharedBy(chain);
    for (const [index, { ref }] of chain.entries()) {
      rotations.set(ref, { replaces: chain[index - 1]?.ref, shared });
    }
  }
  return rotations;
}
