import type { KeyRecord } from "../rules/key-state.js";
import { type Organization, readAccess } from "../rules/organization.js";
import type { Writable } from "../rules/writable.js";
import { type EndsBeforeStart, endsFrom, endsOf } from "../scenario/keys/key-ends.js";
import { readSettings } from "../scenario/keys/key-settings.js";
import { positionsInRotations, type RotationPosition } from "../scenario/keys/rotations.js";
import {
  allKeys,
  allOrganizations,
  isLegacy,
  type KeyFields,
  type ScenarioKey,
  type ScenarioOrganization,
} from "../scenario/keys/scenario-keys.js";
import { organizationIdOf, scenarioSecret, unknownSecret } from "../scenario/keys/secrets.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { inventKeyName, inventOrganizationName } from "./invented-names.js";
import { raisedLimits } from "./raised-limits.js";
import type { RecordAdditions } from "./record-additions.js";
import type { Registry } from "./registry.js";
import { requireInstant } from "./time-input.js";
import { startUsage, type Windows } from "./usage.js";

type Hash = (text: string) => string;

/** A sandbox's organizations and keys before there is a clock. */
interface ScenarioRecords {
  readonly seed: number;
  readonly population: Scenario["population"];
  readonly organizations: readonly Organization[];
  readonly keys: readonly UnstartedKey[];
  /** The SHA-256 of the key that stands for `unknown`. */
  readonly unknownKeyHash: string;
}

/** A key of a scenario before there is a clock. At the start of the clock, `startKey` adds the times that count from there, and the usage. */
interface UnstartedKey {
  /** Its record, without the ends. */
  readonly record: KeyRecord;
  /** The key as the scenario writes it. */
  readonly fields: KeyFields;
  /** What ends it: times, and durations from the start of the clock, such as `expires: 2h`. `undefined` if nothing does. */
  readonly ends: EndsBeforeStart | undefined;
  /** What it has in common with the keys that it replaced, and with those that replaced it. */
  readonly rotation: RotationPosition["rotation"];
}

/** The latest records by the scenario's member `organizations`. Tests start one scenario many times, and the hashes of its keys take time. */
const latestRecords = new WeakMap<object, ScenarioRecords>();

/** The records of a scenario with a seed. If its last start had the same organizations, population and seed, they are those of that start. */
export function scenarioRecords(scenario: Scenario, seed: number, sha256: Hash): ScenarioRecords {
  const { organizations = {}, population } = scenario;
  const latest = latestRecords.get(organizations);
  if (latest?.seed === seed && latest.population === population) return latest;

  const records = buildRecords(scenario, seed, sha256);
  latestRecords.set(organizations, records);
  return records;
}

function buildRecords(scenario: Scenario, seed: number, sha256: Hash): ScenarioRecords {
  const organizations: Organization[] = [];
  for (const [ref, fields] of allOrganizations(scenario)) {
    organizations.push(buildOrganization(ref, fields, seed));
  }
  return {
    seed,
    population: scenario.population,
    organizations,
    keys: buildKeys([...allKeys(scenario)], seed, sha256),
    unknownKeyHash: sha256(unknownSecret(seed)),
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

function buildKeys(scenarioKeys: readonly ScenarioKey[], seed: number, sha256: Hash): UnstartedKey[] {
  const positions = positionsInRotations(scenarioKeys);
  const keys: UnstartedKey[] = [];
  for (const key of scenarioKeys) {
    const position = positions.get(key.ref) as RotationPosition; // each key has one
    keys.push(buildKey(key, position, seed, sha256));
  }
  return keys;
}

function buildKey(key: ScenarioKey, position: RotationPosition, seed: number, sha256: Hash): UnstartedKey {
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

/** Adds a scenario's key to the registry, as it is at the start of the clock (epoch milliseconds). `added`: what `varied` adds to limits. */
export function startKey(
  registry: Registry,
  { record, fields, ends, rotation }: UnstartedKey,
  start: number,
  windows: Windows,
  added: RecordAdditions["limits"],
): void {
  const { this_minute: thisMinute, today, counted_at } = fields.usage ?? {};
  const countedAt = counted_at?.map(requireInstant);
  const usage = startUsage(windows, start, { thisMinute, today, countedAt });

  const limits = raisedLimits(record.limits, rotation, added);
  const areLimitsRaised = limits !== record.limits;
  let key = record;
  if (ends !== undefined) key = { ...key, ...endsFrom(start, ends) };
  // Without a copy, sandboxes of the same scenario share the record: one may have 100,000 keys.
  if (areLimitsRaised) key = { ...key, limits };
  registry.addKey(key, usage);
}
