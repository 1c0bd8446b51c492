import type { KeyLimits, KeyRecord } from "../rules/api-key.js";
import { type Organization, readAccess } from "../rules/organization.js";
import { pick, type RandomStream, randomStream } from "../rules/seed.js";
import { requireInstant } from "../rules/time-input.js";
import type { Writable } from "../rules/writable.js";
import {
  describedKeys,
  describedOrganizations,
  isLegacy,
  type KeyFields,
  organizationIdOf,
  type ScenarioKey,
  type ScenarioOrganization,
  scenarioSecret,
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
import { type ProfileSettings, profileInEffect } from "./profile.js";
import type { Registry } from "./registry.js";
import { startUsage, type Windows } from "./usage.js";
import { addedLimits, withGrantedScopes } from "./varied-records.js";

type Hash = (text: string) => string;

/** The parts of a sandbox's organizations and keys that do not depend on the clock. */
interface ScenarioRecords {
  readonly seed: number;
  readonly population: Scenario["population"];
  readonly organizations: readonly Organization[];
  readonly keys: readonly UnstartedKey[];
  /** The SHA-256 of the key that stands for `unknown`. */
  readonly unknownKey: string;
}

/** A key of a scenario before there is a clock: made once for all sandboxes of the scenario, since its hash takes time. */
interface UnstartedKey {
  /** What the scenario sets, except what ends the key. */
  readonly record: KeyRecord;
  readonly fields: KeyFields;
  readonly ends: GivenEnds | undefined;
  readonly shared: SharedInRotation;
}

/** What the keys of a rotation share: every setting that one of them has (R37). A key that was never rotated is alone in one. */
interface SharedInRotation {
  /** The ref of the oldest key, from which the seed makes their name. */
  readonly first: string;
  readonly settings: WrittenSettings;
  /** The most requests that one of them starts with. */
  readonly used: KeyLimits;
}

/** Keys that replaced each other, oldest first. */
type Rotation = [ScenarioKey, ...ScenarioKey[]];

/** The place of a key in its rotation. */
interface RotationPlace {
  /** The ref of the key that it replaces. */
  readonly replaces: string | undefined;
  readonly shared: SharedInRotation;
}

/** The records of each scenario, by the part of it that its copies share; only those of the latest seed. */
const recordsOfScenario = new WeakMap<object, ScenarioRecords>();

/** The records of a scenario: the same objects for the same scenario and seed. */
export function scenarioRecords(scenario: Scenario, seed: number, sha256: Hash): ScenarioRecords {
  const { organizations, population } = scenario;
  // Options copy a scenario, but each copy has the same object of organizations, or without any of its population. So this
  // object stands for the scenario.
  const sharedPart = organizations ?? population;
  if (sharedPart === undefined) return buildRecords(scenario, seed, sha256);

  const earlier = recordsOfScenario.get(sharedPart);
  if (earlier?.seed === seed && earlier.population === population) return earlier;

  const records = buildRecords(scenario, seed, sha256);
  recordsOfScenario.set(sharedPart, records);
  return records;
}

function buildRecords(scenario: Scenario, seed: number, sha256: Hash): ScenarioRecords {
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

/** The record of an organization; members that the scenario omits are derived from the seed and the ref. */
export function buildOrganization(ref: string, fields: ScenarioOrganization, seed: number): Organization {
  return {
    ref,
    id: organizationIdOf(ref, fields, seed),
    name: fields.name ?? inventOrganizationName(seed, ref, fields.type),
    type: fields.type,
    ...readAccess(fields),
  };
}

function buildKeys(described: readonly ScenarioKey[], seed: number, sha256: Hash): UnstartedKey[] {
  const places = rotationPlaces(described);
  const keys: UnstartedKey[] = [];
  for (const key of described) {
    const place = places.get(key.ref) ?? { replaces: undefined, shared: sharedByRotation([key]) };
    keys.push(buildKey(key, place, seed, sha256));
  }
  return keys;
}

/** The places of the keys in rotations of at least two, by ref. */
function rotationPlaces(described: readonly ScenarioKey[]): Map<string, RotationPlace> {
  const places = new Map<string, RotationPlace>();
  for (const rotation of rotationsIn(described)) {
    const shared = sharedByRotation(rotation);
    let replaces: string | undefined;
    for (const { ref } of rotation) {
      places.set(ref, { replaces, shared });
      replaces = ref;
    }
  }
  return places;
}

/** The rotations with at least two keys. Keys in a circle are in none: it has no last key. */
function rotationsIn(described: readonly ScenarioKey[]): Rotation[] {
  // By the ref of the replacement: no key replaces two.
  const replacedKeys = new Map<string, ScenarioKey>();
  for (const key of described) {
    const { replaced_by } = key.fields;
    if (replaced_by !== undefined) replacedKeys.set(replaced_by, key);
  }

  // From the last key of each rotation back to its first.
  const rotations: Rotation[] = [];
  for (const last of described) {
    if (last.fields.replaced_by !== undefined || !replacedKeys.has(last.ref)) continue;
    const rotation: Rotation = [last];
    let older = replacedKeys.get(last.ref);
    while (older !== undefined) {
      rotation.unshift(older);
      older = replacedKeys.get(older.ref);
    }
    rotations.push(rotation);
  }
  return rotations;
}

function sharedByRotation(rotation: Rotation): SharedInRotation {
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

/** The settings of keys that share them (R37): the first value of each, and of each limit. */
function sharedSettings(settings: readonly WrittenSettings[]): WrittenSettings {
  const shared: Writable<WrittenSettings> = { name: undefined, scopes: undefined, limits: undefined };
  for (const { name, scopes, limits } of settings) {
    shared.name ??= name;
    shared.scopes ??= scopes;
    if (limits !== undefined) shared.limits = { ...limits, ...shared.limits };
  }
  return shared;
}

function buildKey(key: ScenarioKey, place: RotationPlace, seed: number, sha256: Hash): UnstartedKey {
  const { ref, organization, fields } = key;
  const { replaces, shared } = place;
  const record: Writable<KeyRecord> = {
    ref,
    organization,
    ...readSettings(shared.settings, () => inventKeyName(seed, shared.first)),
    environment: fields.environment,
    legacy: isLegacy(fields),
    // A key that was created before a snapshot has only its hash.
    sha256: fields.sha256 ?? sha256(scenarioSecret(key, seed)),
  };
  if (fields.created_at !== undefined) record.createdAt = requireInstant(fields.created_at);
  if (fields.replaced_by !== undefined) record.replacedBy = fields.replaced_by;
  if (replaces !== undefined) record.replaces = replaces;
  return { record, fields, ends: readEnds(fields), shared };
}

/** Adds a scenario's key, as it is at the start of the clock (epoch milliseconds), from where its durations count. */
export function startKey(
  registry: Registry,
  { record, fields, ends, shared }: UnstartedKey,
  start: number,
  windows: Windows,
  settings: ProfileSettings,
): void {
  const past = fields.usage ?? {};
  const countedAt = past.counted_at?.map(requireInstant);
  const usage = startUsage(windows, start, { thisMinute: past.this_minute, today: past.today, countedAt });

  const key = ends === undefined ? record : { ...record, ...endsFrom(start, ends) };
  if (profileInEffect(settings) !== "varied") {
    registry.addKey(key, usage);
    return;
  }
  const scopes = withGrantedScopes(settings, record.scopes);
  const limits = raisedLimits(record.limits, shared, addedLimits(settings));
  registry.addKey({ ...key, scopes, limits }, usage);
}

/** The limits of a key with those raised that the scenario leaves open. A key that starts at a limit stays there. */
function raisedLimits(limits: KeyLimits, { used, settings }: SharedInRotation, added: KeyLimits): KeyLimits {
  const { per_minute, per_day } = settings.limits ?? {};
  // With a higher minute alone, a client would reach its day sooner.
  const isDayOpen = per_day === undefined && used.perDay < limits.perDay;
  if (!isDayOpen) return limits;

  const perDay = limits.perDay + added.perDay;
  const isMinuteOpen = per_minute === undefined && used.perMinute < limits.perMinute;
  if (!isMinuteOpen) return { perMinute: limits.perMinute, perDay };
  return { perMinute: limits.perMinute + added.perMinute, perDay };
}

/** Towns are also invented, because a bank named after a real town may exist. */
function inventOrganizationName(seed: number, ref: string, type: Organization["type"]): string {
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
function inventKeyName(seed: number, ref: string): string {
  const draw = randomStream(seed, "key.name", ref);
  const { systems, installations } = patterns.keys;
  const system = pick(draw, systems);
  // One name in three also contains an installation of the system.
  const hasInstallation = pick(draw, [true, false, false]);
  return hasInstallation ? `${system}, ${pick(draw, installations)}` : system;
}
