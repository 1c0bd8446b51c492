import { parseApiKey } from "../domain/api-key.js";
import { defaultLimits, defaultOverlap, defaultScopes, type KeyRecord } from "../domain/key.js";
import { parseDuration } from "../scenario/duration.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { inventKeyName } from "../synthetic/names.js";
import { rotationsOf, sharedBy } from "./rotation-chain.js";
import { deriveSecret } from "./secrets.js";

/** A key as a scenario describes it, under its ref and its organization's. */
export interface DescribedKey {
  readonly ref: string;
  readonly organization: string;
  readonly given: ScenarioKey;
}

export type ScenarioOrganization = NonNullable<Scenario["organizations"]>[string];
export type ScenarioKey = NonNullable<ScenarioOrganization["keys"]>[string];

/** All keys of a scenario, in the order in which it lists them. */
export function describedKeys(scenario: Scenario): DescribedKey[] {
  return Object.entries(scenario.organizations ?? {}).flatMap(([organization, { keys }]) =>
    Object.entries(keys ?? {}).map(([ref, given]) => ({ ref, organization, given })),
  );
}

/** The full key: the pinned one, or the one that the seed and the ref give. */
export function secretOf({ ref, given }: DescribedKey, seed: number): string {
  if (given.secret !== undefined) return given.secret;
  return deriveSecret(seed, { ref, environment: given.environment, legacy: given.legacy ?? false });
}

/** The full keys by ref, derived anew: a world itself keeps only hashes (R35). */
export function secretsOf(keys: readonly DescribedKey[], { seed }: { seed: number }): Record<string, string> {
  return Object.fromEntries(keys.map((one) => [one.ref, secretOf(one, seed)]));
}

/** What {@link buildKeys} needs besides the scenario. */
export interface KeyBuilding {
  readonly seed: number;
  /** When the clock starts (epoch milliseconds): durations in the scenario count from here. */
  readonly start: number;
  readonly sha256: (text: string) => string;
}

/** Makes the records of a scenario's keys, one by one. */
export interface KeyBuilder {
  /** The SHA-256 of a key: all that is kept of it (R35). */
  readonly sha256Of: (one: DescribedKey) => string;
  readonly recordOf: (one: DescribedKey, sha256: string) => KeyRecord;
}

/** A builder of the records of exactly these keys. */
export function keyBuilder(keys: readonly DescribedKey[], { seed, start, sha256 }: KeyBuilding): KeyBuilder {
  const rotations = rotationsOf(keys);
  return {
    // Of a key that was made at run time before a snapshot, the hash is all there is.
    sha256Of: (one) => one.given.sha256 ?? sha256(secretOf(one, seed)),
    recordOf(one, hash) {
      const { ref, organization, given } = one;
      const { replaces, common } = rotations.get(ref) ?? { common: sharedBy([one]) };
      const expiresAt =
        given.state === "expired" ? (at(given.expires, start) ?? start) : at(given.expires, start);
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
    },
  };
}

function overlapEnd(given: ScenarioKey, start: number, expiresAt = start): number | undefined {
  if (given.state === "retiring") return at(given.overlap_ends, start) ?? start + defaultOverlap;
  if (given.state === "rotated") return at(given.overlap_ends, start) ?? start;
  // A key can be replaced and then expire before its overlap is over.
  if (given.state === "expired" && given.replaced_by !== undefined) {
    return at(given.overlap_ends, start) ?? expiresAt;
  }
  return undefined;
}

// A duration from the clock's start, or an instant; the scenario's checks have seen that it is one of them.
function at(text: string | undefined, start: number): number | undefined {
  if (text === undefined) return undefined;
  const duration = parseDuration(text);
  return duration === undefined ? Date.parse(text) : start + duration;
}
