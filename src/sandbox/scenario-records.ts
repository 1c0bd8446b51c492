import type { KeyLimits, KeyRecord } from "../rules/key-state.js";
import { type Organization, readAccess } from "../rules/organization.js";
import { pick, type RandomStream, randomStream } from "../rules/seed.js";
import type { Writable } from "../rules/writable.js";
import { endsFrom, endsOf, positionsInRotations, type RotationPosition } from "../scenario/key-ends.js";
import {
  allKeys,
  allOrganizations,
  isLegacy,
  type KeyFields,
  organizationIdOf,
  readSettings,
  type ScenarioKey,
  type ScenarioOrganization,
  scenarioSecret,
} from "../scenario/keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { requireInstant } from "./clock.js";
import patterns from "./name-patterns.json" with { type: "json" };
import words from "./name-words.generated.json" with { type: "json" };
import type { Platform } from "./platform.js";
import { Registry } from "./registry.js";
import type { SandboxState } from "./sandbox-state.js";
import { startUsage } from "./usage.js";

/** A sandbox's organizations and keys before there is a clock. */
interface ScenarioRecords {
  readonly seed: number;
  readonly population: Scenario["population"];
  readonly organizations: readonly Organization[];
  readonly keys: readonly UnstartedKey[];
}

/** A key of a scenario before there is a clock. At the start of the clock, `startRecords` adds the times that count from there, and the usage. */
interface UnstartedKey {
  readonly record: KeyRecord;
  readonly fields: KeyFields;
  /** What ends it: times, and durations from the start of the clock, such as `expires: 2h`. `undefined` if nothing does. */
  readonly ends: ReturnType<typeof endsOf>;
  /** What it has in common with the keys that it replaced, and with those that replaced it. */
  readonly rotation: RotationPosition["rotation"];
}

/** The latest records by the scenario's member `organizations`. Tests start one scenario many times: without these, a start with 100 keys takes seven times as long. Records never change. */
const latestRecords = new WeakMap<object, ScenarioRecords>();

/** The records of a scenario with a seed. If its last start had the same organizations, population and seed, they are those of that start. */
function scenarioRecords(scenario: Scenario, seed: number, sha256: Platform["sha256"]): ScenarioRecords {
  const { organizations = {}, population } = scenario;
  const latest = latestRecords.get(organizations);
  if (latest?.seed === seed && latest.population === population) return latest;

  const records = buildRecords(scenario, seed, sha256);
  latestRecords.set(organizations, records);
  return records;
}

function buildRecords(scenario: Scenario, seed: number, sha256: Platform["sha256"]): ScenarioRecords {
  const organizations: Organization[] = [];
  for (const [ref, fields] of allOrganizations(scenario)) {
    organizations.push(buildOrganization(ref, fields, seed));
  }
  return {
    seed,
    population: scenario.population,
    organizations,
    keys: buildKeys([...allKeys(scenario)], seed, sha256),
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

function buildKeys(
  scenarioKeys: readonly ScenarioKey[],
  seed: number,
  sha256: Platform["sha256"],
): UnstartedKey[] {
  const positions = positionsInRotations(scenarioKeys);
  const keys: UnstartedKey[] = [];
  for (const key of scenarioKeys) {
    const position = positions.get(key.ref) as RotationPosition; // each key has one
    keys.push(buildKey(key, position, seed, sha256));
  }
  return keys;
}

function buildKey(
  key: ScenarioKey,
  position: RotationPosition,
  seed: number,
  sha256: Platform["sha256"],
): UnstartedKey {
  const { ref, organization, fields } = key;
  const { replaces, rotation } = position;
  const name = rotation.writtenSettings.name ?? inventKeyName(seed, rotation.oldestRef);
  const record: Writable<KeyRecord> = {
    ref,
    organization,
    ...readSettings(name, rotation.writtenSettings),
    environment: fields.environment,
    legacy: isLegacy(fields),
    // A key that was created before a snapshot has only its hash.
    sha256: fields.sha256 ?? sha256(scenarioSecret(key, seed)),
  };
  if (fields.created_at !== undefined) record.createdAt = requireInstant(fields.created_at);
  if (fields.replaced_by !== undefined) record.replacedBy = fields.replaced_by;
  if (replaces !== undefined) record.replaces = replaces;
  return { record, fields, ends: endsOf(fields), rotation };
}

/**
 * The organizations and keys of a scenario at the start of the clock (epoch milliseconds). The assumptions decide in which windows
 * their usage counts, and what the profile `varied` adds to their limits.
 */
export function startRecords(
  scenario: Scenario,
  seed: number,
  sha256: Platform["sha256"],
  start: number,
  { windows, additions }: Pick<SandboxState, "windows" | "additions">,
): Registry {
  const { organizations, keys } = scenarioRecords(scenario, seed, sha256);
  const registry = new Registry(organizations);
  for (const { record, fields, ends, rotation } of keys) {
    const { this_minute: thisMinute, today, counted_at } = fields.usage ?? {};
    const counted = counted_at?.map(({ at, count }) => ({ at: requireInstant(at), count }));
    const usage = startUsage(windows, start, { thisMinute, today, counted });

    const limits = raisedLimits(record.limits, rotation, additions.limits);
    const areLimitsRaised = limits !== record.limits;
    let key = record;
    if (ends !== undefined) key = { ...key, ...endsFrom(start, ends) };
    // Without a copy, sandboxes of the same scenario share the record: one may have 100,000 keys.
    if (areLimitsRaised) key = { ...key, limits };
    registry.addKey(key, usage);
  }
  return registry;
}

/**
 * The limits of a scenario's key at the start, with what the profile `varied` adds to them. `rotation` is what the key has in common
 * with the keys that it replaced, and with those that replaced it. A limit is fixed, and gets nothing added, if the scenario sets it,
 * or if one of these keys has used it up at the start.
 *
 * | fixed            | the minute gets more | the day gets more |
 * |------------------|----------------------|-------------------|
 * | neither          | yes                  | yes               |
 * | only the minute  | no                   | yes               |
 * | the day, or both | no                   | no                |
 *
 * While the day is fixed, the minute gets nothing more either: with more requests a minute, the day would be used up sooner.
 */
function raisedLimits(
  limits: KeyLimits,
  rotation: RotationPosition["rotation"],
  added: KeyLimits,
): KeyLimits {
  if (added.perMinute === 0 && added.perDay === 0) return limits;
  const { mostUsed, writtenSettings } = rotation;
  const written = writtenSettings.limits ?? {};

  const isDayFixed = written.per_day !== undefined || mostUsed.today >= limits.perDay;
  if (isDayFixed) return limits;
  const perDay = limits.perDay + added.perDay;

  const isMinuteFixed = written.per_minute !== undefined || mostUsed.thisMinute >= limits.perMinute;
  if (isMinuteFixed) return { perMinute: limits.perMinute, perDay };
  return { perMinute: limits.perMinute + added.perMinute, perDay };
}

// The names that a scenario leaves out: the seed and the ref decide each of them.

/** A bank or an insurer in an invented town: one that is named after a real town may exist. */
function inventOrganizationName(seed: number, ref: string, type: Organization["type"]): string {
  const draw = randomStream(seed, "organization.name", ref);
  const family = pick(draw, words.familyNames);
  // Such as `{{family}} & {{partner}} Bank`.
  const pattern = pick(draw, patterns.organizations[type]);
  return pattern.replace(/\{\{(\w+)\}\}/g, (_match, part: string) => {
    if (part === "family") return family;
    if (part === "partner") {
      const others = words.familyNames.filter((name) => name !== family);
      return pick(draw, others);
    }
    return inventTown(draw, family);
  });
}

function inventTown(draw: RandomStream, family: string): string {
  // One town in four has a prefix.
  const hasPrefix = pick(draw, [true, false, false, false]);
  if (hasPrefix) return `${pick(draw, words.townPrefixes)} ${family}`;

  // A repeated letter between the two parts looks wrong: "Dibbertton".
  const joinable = words.townSuffixes.filter((suffix) => suffix[0] !== family.at(-1));
  return `${family}${pick(draw, joinable)}`;
}

/** The system that uses a key: `Core banking, test environment`. Banks and insurers have the same ones. */
function inventKeyName(seed: number, ref: string): string {
  const draw = randomStream(seed, "key.name", ref);
  const { systems, installations } = patterns.keys;
  const system = pick(draw, systems);
  const hasInstallation = pick(draw, [true, false, false]);
  return hasInstallation ? `${system}, ${pick(draw, installations)}` : system;
}
