import { inventKeyName, inventOrganizationName } from "../farmers/names.js";
import { parseWhen } from "../scenario/format/fields.js";
import {
  type DescribedKey,
  describedKeys,
  describedOrganizations,
  organizationIdOf,
  type ScenarioKey,
  type ScenarioOrganization,
  secretOf,
  unknownSecret,
} from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import {
  defaultOverlap,
  defaultScopes,
  type KeyEnds,
  type KeyRecord,
  type Organization,
  parseApiKey,
} from "../spec/api-key.js";
import { defaultLimits, type KeyLimits } from "../spec/limits.js";
import { startUsage, type Windows } from "./counters.js";
import type { UsedKey } from "./registry.js";

type Hash = (text: string) => string;

/** The organizations and keys of a scenario and a seed, as far as they do not depend on the clock. */
interface ScenarioRecords {
  readonly seed: number;
  readonly population: Scenario["population"];
  readonly organizations: readonly Organization[];
  readonly keys: readonly ScenarioKeyRecord[];
  /** The SHA-256 of `unknownSecret`. */
  readonly unknownKey: string;
}

interface ScenarioKeyRecord {
  /** Without the members that end the key. */
  readonly record: KeyRecord;
  readonly given: ScenarioKey;
  readonly shared: Shared;
}

// By the scenario's organizations, which are immutable. Sandboxes of the same scenario and seed share the records.
const known = new WeakMap<object, ScenarioRecords>();

/** Returns the records of a scenario, the same objects for the same scenario and seed. */
export function scenarioRecords(scenario: Scenario, seed: number, sha256: Hash): ScenarioRecords {
  const { population } = scenario;
  const owner = scenario.organizations ?? population;
  const earlier = owner && known.get(owner);
  if (earlier?.seed === seed && earlier.population === population) return earlier;
  const records = {
    ...{ seed, population },
    organizations: Array.from(describedOrganizations(scenario), ([ref, given]) =>
      buildOrganization(ref, given, seed),
    ),
    keys: buildKeys([...describedKeys(scenario)], seed, sha256),
    unknownKey: sha256(unknownSecret(seed)),
  };
  if (owner !== undefined) known.set(owner, records);
  return records;
}

/** Creates the record of an organization; members that the scenario omits are derived from the seed and the ref. */
export function buildOrganization(ref: string, given: ScenarioOrganization, seed: number): Organization {
  return {
    ref,
    id: organizationIdOf(ref, given, seed),
    name: given.name ?? inventOrganizationName(seed, ref, given.type),
    type: given.type,
    status: given.status ?? "active",
    sandboxAccess: given.sandbox_access ?? true,
    liveAccess: given.live_access ?? "not_approved",
  };
}

function buildKeys(described: readonly DescribedKey[], seed: number, sha256: Hash): ScenarioKeyRecord[] {
  const rotations = rotationsOf(described);
  return described.map((one) => {
    const { ref, organization, given } = one;
    const { replaces, shared } = rotations.get(ref) ?? { replaces: undefined, shared: sharedBy([one]) };
    const record = {
      ref,
      organization,
      name: shared.name ?? inventKeyName(seed, shared.first),
      environment: given.environment,
      legacy: given.legacy ?? (given.secret !== undefined && parseApiKey(given.secret)?.legacy === true),
      scopes: shared.scopes ?? defaultScopes,
      limits: limitsOf(shared),
      // A key that was created before a snapshot has only its hash.
      sha256: given.sha256 ?? sha256(secretOf(one, seed)),
      ...(given.replaced_by !== undefined && { replacedBy: given.replaced_by }),
      ...(replaces !== undefined && { replaces }),
    };
    return { record, given, shared };
  });
}

/** Settings for the start of a scenario's keys. */
interface KeyStart {
  /** The start of the clock (epoch milliseconds). Durations in the scenario count from here. */
  readonly start: number;
  readonly windows: Windows;
  /** What the profile adds to a key; `first` is the ref of the first key of its rotation. Default: nothing. */
  readonly varied?:
    | {
        readonly scopes: (first: string, scopes: readonly string[]) => readonly string[];
        readonly added: (first: string) => KeyLimits;
      }
    | undefined;
}

/** Returns the state of a scenario's key at the start of the clock. */
export function startKey(
  { record, given, shared }: ScenarioKeyRecord,
  { start, windows, varied }: KeyStart,
): UsedKey {
  const { this_minute: thisMinute, today, counted_at: times } = given.usage ?? {};
  const countedAt = times?.map(Date.parse);
  const ends = endsOf(given, start);
  if (varied === undefined) {
    const key = ends === endless ? record : { ...record, ...ends };
    return { key, usage: startUsage(windows, start, { thisMinute, today, countedAt }) };
  }
  const { first, perMinute, perDay } = shared;
  const added = varied.added(first);
  const perDayMore = perDay === undefined ? added.perDay : 0;
  // A minute's usage is also the day's.
  const perMinuteMore = (perMinute ?? perDay) === undefined ? added.perMinute : 0;
  const limits = {
    perMinute: record.limits.perMinute + perMinuteMore,
    perDay: record.limits.perDay + perDayMore,
  };
  // A key at a limit stays there.
  const past = {
    thisMinute: thisMinute && thisMinute + perMinuteMore,
    today: today && today + perDayMore,
    countedAt,
  };
  const key = { ...record, scopes: varied.scopes(first, record.scopes), limits, ...ends };
  return { key, usage: startUsage(windows, start, past) };
}

const endless: KeyEnds = {};

function endsOf(given: ScenarioKey, start: number): KeyEnds {
  const { state = "active", expires, overlap_ends: overlapEnds, replaced_by: replacement } = given;
  if (state === "active" && (expires ?? overlapEnds ?? replacement) === undefined) return endless;
  const expiresAt = instantOf(expires, start) ?? (state === "expired" ? start : undefined);
  const overlapEndsAt = overlapEnd(given, start, expiresAt);
  return {
    ...(state === "revoked" && { revokedAt: instantOf(given.revoked_at, start) ?? start }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(overlapEndsAt !== undefined && { overlapEndsAt }),
  };
}

function overlapEnd(given: ScenarioKey, start: number, expiresAt = start): number | undefined {
  const stated = instantOf(given.overlap_ends, start);
  if (given.state === "retiring") return stated ?? start + defaultOverlap;
  if (given.state === "rotated") return stated ?? start;
  // A replaced key can expire or be revoked before its overlap ends.
  if (given.replaced_by === undefined) return undefined;
  return stated ?? (given.state === "expired" ? expiresAt : start);
}

function instantOf(text: string | undefined, start: number): number | undefined {
  return text === undefined ? undefined : parseWhen(text, start);
}

/** The settings that the keys of a rotation share. */
interface Shared {
  /** The ref of the first key. */
  readonly first: string;
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly perMinute?: number | undefined;
  readonly perDay?: number | undefined;
}

// The keys of one rotation, oldest first, share every setting that one of them has (R37).
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

function limitsOf({ perMinute, perDay }: Shared): KeyRecord["limits"] {
  // One object for the many keys of a population.
  if (perMinute === undefined && perDay === undefined) return defaultLimits;
  return {
    perMinute: perMinute ?? defaultLimits.perMinute,
    perDay: perDay ?? defaultLimits.perDay,
  };
}

/** The rotation that a key belongs to; `replaces` is the ref of the key that it replaced. */
interface Rotation {
  readonly replaces: string | undefined;
  readonly shared: Shared;
}

// Returns the rotations by ref of their keys. The scenario's checks reject circles, and keys that replace two.
function rotationsOf(described: readonly DescribedKey[]): ReadonlyMap<string, Rotation> {
  const replaced = described.filter(({ given }) => given.replaced_by !== undefined);
  const refs = new Set(replaced.map(({ given }) => given.replaced_by));
  const replacements = new Map(described.filter(({ ref }) => refs.has(ref)).map((one) => [one.ref, one]));
  const rotations = new Map<string, Rotation>();
  for (const first of replaced.filter(({ ref }) => !refs.has(ref))) {
    const chain: [DescribedKey, ...DescribedKey[]] = [first];
    for (let last: DescribedKey | undefined = first; last !== undefined; ) {
      last = replacements.get(last.given.replaced_by ?? "");
      if (last !== undefined) chain.push(last);
    }
    const shared = sharedBy(chain);
    for (const [index, { ref }] of chain.entries()) {
      rotations.set(ref, { replaces: chain[index - 1]?.ref, shared });
    }
  }
  return rotations;
}
