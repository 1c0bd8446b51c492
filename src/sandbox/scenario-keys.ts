import type { KeyLimits, KeyRecord } from "../rules/api-key.js";
import { type Organization, readAccess } from "../rules/organization.js";
import { pick, type RandomStream, randomStream } from "../rules/seed.js";
import { instantOf } from "../rules/time-input.js";
import type { Writable } from "../rules/writable.js";
import {
  type DescribedKey,
  describedKeys,
  describedOrganizations,
  isLegacy,
  organizationIdOf,
  type ScenarioKey,
  type ScenarioOrganization,
  secretOf,
  unknownSecret,
} from "../scenario/described-keys.js";
import {
  endsFrom,
  type GivenEnds,
  readEnds,
  readSettings,
  type WrittenSettings,
} from "../scenario/format/key-settings.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import patterns from "./name-patterns.json" with { type: "json" };
import words from "./name-words.generated.json" with { type: "json" };
import { type ProfileSettings, profileOf } from "./profile.js";
import type { UsedKey } from "./registry.js";
import { startUsage, type Windows } from "./usage.js";
import { addedLimitsOf, withGrantedScopes } from "./varied-records.js";

type Hash = (text: string) => string;

interface ScenarioKeyRecord {
  /** What the scenario sets, except what ends the key. */
  readonly record: KeyRecord;
  readonly fields: ScenarioKey;
  readonly ends: GivenEnds | undefined;
  readonly shared: Shared;
}

/** By the organizations of a scenario, which its copies share; of each, only those of the latest seed. */
const recordsOfScenario = new WeakMap<object, ScenarioRecords>();

interface ScenarioRecords {
  readonly seed: number;
  readonly population: Scenario["population"];
  readonly organizations: readonly Organization[];
  readonly keys: readonly ScenarioKeyRecord[];
  /** The SHA-256 of the key that stands for `unknown`. */
  readonly unknownKey: string;
}

/** The parts that do not depend on the clock: the same objects for the same scenario and seed. */
export function scenarioRecords(scenario: Scenario, seed: number, sha256: Hash): ScenarioRecords {
  const { population } = scenario;
  const owner = scenario.organizations ?? population;
  if (owner === undefined) return recordsOf(scenario, seed, sha256);

  const earlier = recordsOfScenario.get(owner);
  if (earlier?.seed === seed && earlier.population === population) return earlier;
  const records = recordsOf(scenario, seed, sha256);
  recordsOfScenario.set(owner, records);
  return records;
}

function recordsOf(scenario: Scenario, seed: number, sha256: Hash): ScenarioRecords {
  const organizations: Organization[] = [];
  for (const [ref, fields] of describedOrganizations(scenario)) {
    organizations.push(buildOrganization(ref, fields, seed));
  }
  return {
    seed,
    population: scenario.population,
    organizations,
    keys: buildKeys([...describedKeys(scenario)], seed, sha256),
    unknownKey: sha256(unknownSecret(seed)),
  };
}

/** Creates the record of an organization; members that the scenario omits are derived from the seed and the ref. */
export function buildOrganization(ref: string, fields: ScenarioOrganization, seed: number): Organization {
  return {
    ref,
    id: organizationIdOf(ref, fields, seed),
    name: fields.name ?? inventOrganizationName(seed, ref, fields.type),
    type: fields.type,
    ...readAccess(fields),
  };
}

function buildKeys(described: readonly DescribedKey[], seed: number, sha256: Hash): ScenarioKeyRecord[] {
  const rotated = new Map<string, InRotation>();
  for (const rotation of rotationsIn(described)) {
    const shared = sharedBy(rotation);
    let replaces: string | undefined;
    for (const { ref } of rotation) {
      rotated.set(ref, { replaces, shared });
      replaces = ref;
    }
  }

  const keys: ScenarioKeyRecord[] = [];
  for (const key of described) {
    const rotation = rotated.get(key.ref) ?? { replaces: undefined, shared: sharedBy([key]) };
    keys.push(buildKey(key, rotation, seed, sha256));
  }
  return keys;
}

/** What the rotation of a key decides about it. A key that no rotation has is one of its own. */
interface InRotation {
  /** The ref of the key before it. */
  readonly replaces: string | undefined;
  readonly shared: Shared;
}

function buildKey(key: DescribedKey, rotation: InRotation, seed: number, sha256: Hash): ScenarioKeyRecord {
  const { ref, organization, fields } = key;
  const { replaces, shared } = rotation;
  const record: Writable<KeyRecord> = {
    ref,
    organization,
    ...readSettings(shared.settings, () => inventKeyName(seed, shared.first)),
    environment: fields.environment,
    legacy: isLegacy(fields),
    // A key that was created before a snapshot has only its hash.
    sha256: fields.sha256 ?? sha256(secretOf(key, seed)),
  };
  if (fields.replaced_by !== undefined) record.replacedBy = fields.replaced_by;
  if (replaces !== undefined) record.replaces = replaces;
  return { record, fields, ends: readEnds(fields), shared };
}

/** Returns the state of a scenario's key at the start of the clock (epoch milliseconds), from where its durations count. */
export function startKey(
  { record, fields, ends, shared }: ScenarioKeyRecord,
  start: number,
  windows: Windows,
  sandbox: ProfileSettings,
): UsedKey {
  const past = fields.usage ?? {};
  const countedAt = past.counted_at?.map(instantOf);
  const usage = startUsage(windows, start, { thisMinute: past.this_minute, today: past.today, countedAt });

  const key = ends === undefined ? record : { ...record, ...endsFrom(start, ends) };
  if (profileOf(sandbox) !== "varied") return { key, usage };
  const scopes = withGrantedScopes(sandbox, record.scopes);
  const limits = variedLimits(sandbox, shared, record.limits);
  return { key: { ...key, scopes, limits }, usage };
}

/** Raises the limits that the scenario leaves open; keys at a limit stay there. */
function variedLimits(sandbox: ProfileSettings, shared: Shared, limits: KeyLimits): KeyLimits {
  const { used, settings } = shared;
  const given = settings.limits ?? {};
  if (given.per_day !== undefined || used.perDay >= limits.perDay) return limits;

  const added = addedLimitsOf(sandbox);
  const perDay = limits.perDay + added.perDay;
  if (given.per_minute !== undefined || used.perMinute >= limits.perMinute) return { ...limits, perDay };
  return { perMinute: limits.perMinute + added.perMinute, perDay };
}

/** What the keys of a rotation share: every setting that one of them has (R37). */
interface Shared {
  readonly first: string;
  readonly settings: WrittenSettings;
  /** The most requests that one of them starts with. */
  readonly used: KeyLimits;
}

/** Keys that replaced each other, oldest first. */
type Rotation = [DescribedKey, ...DescribedKey[]];

function sharedBy(rotation: Rotation): Shared {
  let perMinute = 0;
  let perDay = 0;
  for (const { fields } of rotation) {
    const { this_minute = 0, today = this_minute } = fields.usage ?? {};
    perMinute = Math.max(perMinute, this_minute);
    perDay = Math.max(perDay, today);
  }
  const settings = sharedSettings(rotation.map(({ fields }) => fields));
  return { first: rotation[0].ref, settings, used: { perMinute, perDay } };
}

/** Returns the rotations with at least two keys. Keys in a circle are in none: it has no last key. */
function rotationsIn(described: readonly DescribedKey[]): Rotation[] {
  // No key replaces two.
  const oldKeys = new Map<string, DescribedKey>();
  for (const key of described) {
    const { replaced_by } = key.fields;
    if (replaced_by !== undefined) oldKeys.set(replaced_by, key);
  }

  const rotations: Rotation[] = [];
  for (const last of described) {
    if (last.fields.replaced_by !== undefined || !oldKeys.has(last.ref)) continue;
    const rotation: Rotation = [last];
    let old = oldKeys.get(last.ref);
    while (old !== undefined) {
      rotation.unshift(old);
      old = oldKeys.get(old.ref);
    }
    rotations.push(rotation);
  }
  return rotations;
}

/** Returns the settings of keys that share them (R37): the first value of each, and of each limit. */
function sharedSettings(settings: readonly WrittenSettings[]): WrittenSettings {
  const shared: Writable<WrittenSettings> = { name: undefined, scopes: undefined, limits: undefined };
  for (const { name, scopes, limits } of settings) {
    shared.name ??= name;
    shared.scopes ??= scopes;
    if (limits !== undefined) shared.limits = { ...limits, ...shared.limits };
  }
  return shared;
}

/** Towns are also invented, because a bank named after a real town may exist. */
export function inventOrganizationName(seed: number, ref: string, type: Organization["type"]): string {
  const draw = randomStream(seed, "organization.name", ref);
  const family = pick(draw, words.familyNames);
  const pattern = pick(draw, patterns.organizations[type]);
  return pattern.replace(/\{\{(\w+)\}\}/g, (_match, part: string) => {
    if (part === "family") return family;
    if (part === "partner") return inventPartner(draw, family);
    if (part === "town") return inventTown(draw, family);
    return "";
  });
}

function inventPartner(draw: RandomStream, family: string): string {
  const others = words.familyNames.filter((name) => name !== family);
  return pick(draw, others);
}

function inventTown(draw: RandomStream, family: string): string {
  // One town in four has a prefix.
  if (pick(draw, [true, false, false, false])) return `${pick(draw, words.townPrefixes)} ${family}`;
  // A repeated letter between the two parts looks wrong: "Dibbertton".
  const joinable = words.townSuffixes.filter((suffix) => suffix[0] !== family.at(-1));
  return `${family}${pick(draw, joinable)}`;
}

/** The system that uses the key. Banks and insurers share one list: only the seed and the ref decide. */
export function inventKeyName(seed: number, ref: string): string {
  const draw = randomStream(seed, "key.name", ref);
  const { systems, installations } = patterns.keys;
  const system = pick(draw, systems);
  // One name in three also contains an installation of the system.
  const hasInstallation = pick(draw, [true, false, false]);
  return hasInstallation ? `${system}, ${pick(draw, installations)}` : system;
}
