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
import { base62From, fillBase62, type RandomStream, randomStream, randomStreams } from "../domain/seed.js";
import { parseWhen } from "../scenario/format/time.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { inventKeyName } from "../synthetic/names.js";
import { startUsage, type Windows } from "./counters.js";
import { type DescribedKey, type DescribedKeyList, describedKeys, type ScenarioKey } from "./described.js";
import { createHashIndex, type KeySource, type UsedKey } from "./registry.js";

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

/**
 * Returns a function that hashes the key that the seed gives, by way of bytes: for a million keys that takes a quarter of
 * the time of texts.
 */
function derivedHashes(seed: number, sha256: KeyBuilding["sha256"]): (key: DescribedKey) => string {
  const streamOf = randomStreams(seed, "key.secret");
  const forms = new Map<string, { readonly bytes: Uint8Array; readonly start: number }>();
  return ({ ref, given: { environment, legacy = false } }) => {
    const prefix = prefixOf(environment, legacy);
    let form = forms.get(prefix);
    if (form === undefined) {
      const { length } = prefix + sandboxMark;
      const codes = Array.from(prefix + sandboxMark, (character) => character.charCodeAt(0));
      const bytes = new Uint8Array(length + randomLength);
      bytes.set(codes);
      form = { bytes, start: length };
      forms.set(prefix, form);
    }
    const { bytes, start } = form;
    fillBase62(streamOf(ref), bytes, start);
    const hash = sha256(bytes);
    // No key is kept (R35).
    bytes.fill(0, start);
    return hash;
  };
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
  readonly sha256: (text: string | Uint8Array) => string;
  readonly windows: Windows;
  /** Returns the scopes of a key with those that the world grants beside them. Default: no more. */
  readonly withGranted?: (first: string, scopes: readonly string[]) => readonly string[];
}

/** What no clock and no request changes about the keys of a scenario under a seed. */
interface Foundation extends Pick<KeySource, "described" | "hashes"> {
  readonly seed: number;
  readonly population: Scenario["population"];
  readonly rotations: ReadonlyMap<string, Rotation>;
  readonly hashOf: (one: DescribedKey) => string;
  /** The SHA-256 of the key that the seed gives and no world holds. */
  readonly unknownKey: string;
}

// By the organizations of the scenario, which nothing changes: worlds of one scenario and seed share it.
const foundations = new WeakMap<object, Foundation>();

function foundationOf(scenario: Scenario, seed: number, sha256: KeyBuilding["sha256"]): Foundation {
  const { population } = scenario;
  const owner = scenario.organizations ?? population;
  const known = owner && foundations.get(owner);
  if (known?.seed === seed && known.population === population) return known;
  const described = describedKeys(scenario);
  const derived = derivedHashes(seed, sha256);
  // A key made at run time before a snapshot has only its hash.
  const hashOf = (one: DescribedKey) =>
    one.given.sha256 ?? (one.given.secret === undefined ? derived(one) : sha256(one.given.secret));
  const hashes = createHashIndex(described.size);
  for (const one of described) hashes.add(hashOf(one));
  const foundation = {
    ...{ seed, population, described, hashes, hashOf },
    rotations: rotationsOf(described),
    unknownKey: sha256(unknownSecret(seed)),
  };
  if (owner !== undefined) foundations.set(owner, foundation);
  return foundation;
}

/** The keys of a scenario as a registry takes them: all hashes now, each record when it is first used. */
export function scenarioKeys(
  scenario: Scenario,
  { seed, start, sha256, windows, withGranted = (_first, scopes) => scopes }: KeyBuilding,
): KeySource & Pick<Foundation, "unknownKey"> {
  const { described, hashes, hashOf, rotations, unknownKey } = foundationOf(scenario, seed, sha256);
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
    hashes,
    unknownKey,
    hashAt: (place) => hashOf(described.at(place)),
    make: (place, hash) => make(described.at(place), hash),
    endsAt: (place) => endsOf(described.at(place).given, start),
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
    ...(given.state === "revoked" && { revokedAt: instantOf(given.revoked_at, start) ?? start }),
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
function rotationsOf(described: DescribedKeyList): ReadonlyMap<string, Rotation> {
  const rotations = new Map<string, Rotation>();
  const replacements = new Map<string | undefined, DescribedKey | undefined>();
  const replaced: DescribedKey[] = [];
  // No key of a population was replaced.
  for (let place = 0; place < described.written; place++) {
    const one = described.at(place);
    if (one.given.replaced_by === undefined) continue;
    replaced.push(one);
    replacements.set(one.given.replaced_by, undefined);
  }
  if (replaced.length === 0) return rotations;
  for (const ref of replacements.keys()) {
    const place = described.placeOf(ref as string);
    if (place !== undefined) replacements.set(ref, described.at(place));
  }
  for (const first of replaced) {
    if (replacements.has(first.ref)) continue;
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
