import { parseApiKey } from "../domain/api-key.js";
import { defaultLimits, defaultOverlap, defaultScopes, type KeyRecord } from "../domain/key.js";
import { parseDuration } from "../scenario/duration.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { inventKeyName } from "../synthetic/key-names.js";
import { type SharedByRotation, sharedByRotation } from "./rotation-chain.js";
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

/** The key records of a scenario. Of each secret only the hash goes in (R35). */
export function buildKeys(scenario: Scenario, building: KeyBuilding): KeyRecord[] {
  const described = describedKeys(scenario);
  const shared = sharedByRotation(described);
  const replaces = new Map<string, string>();
  for (const { ref, given } of described) {
    if (given.replaced_by !== undefined) replaces.set(given.replaced_by, ref);
  }
  return described.map((one) => {
    const replaced = replaces.get(one.ref);
    const record = buildKey(one, shared.get(one.ref) as SharedByRotation, building);
    return replaced === undefined ? record : { ...record, replaces: replaced };
  });
}

function buildKey(described: DescribedKey, shared: SharedByRotation, building: KeyBuilding): KeyRecord {
  const { ref, organization, given } = described;
  const { seed, start } = building;
  // Of a key that was made at run time before a snapshot, the hash is all there is.
  const secret = given.sha256 === undefined ? secretOf(described, seed) : undefined;
  const expiresAt =
    given.state === "expired" ? (at(given.expires, start) ?? start) : at(given.expires, start);
  const overlapEndsAt = overlapEnd(given, start, expiresAt);
  return {
    ref,
    organization,
    name: shared.name ?? inventKeyName(seed, shared.first),
    environment: given.environment,
    legacy: given.legacy ?? (secret !== undefined && parseApiKey(secret)?.legacy === true),
    scopes: shared.scopes ?? defaultScopes,
    limits: {
      perMinute: shared.perMinute ?? defaultLimits.perMinute,
      perDay: shared.perDay ?? defaultLimits.perDay,
    },
    sha256: secret === undefined ? (given.sha256 as string) : building.sha256(secret),
    ...(given.state === "revoked" && { revokedAt: start }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(overlapEndsAt !== undefined && { overlapEndsAt }),
    ...(given.replaced_by !== undefined && { replacedBy: given.replaced_by }),
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
