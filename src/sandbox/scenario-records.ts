import type { KeyRecord } from "../rules/key-state.js";
import { type Organization, readAccess } from "../rules/organization.js";
import { defaultSeed, pick, type RandomStream, randomStream } from "../rules/seed.js";
import { endsOf, positionsInRotations, type RotationPosition } from "../scenario/key-ends.js";
import {
  allKeys,
  allOrganizations,
  isLegacy,
  organizationIdOf,
  readSettings,
  type ScenarioKey,
  type ScenarioOrganization,
  scenarioSecret,
} from "../scenario/keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import patterns from "./name-patterns.json" with { type: "json" };
import words from "./name-words.generated.json" with { type: "json" };
import type { Platform } from "./platform.js";
import { Registry } from "./registry.js";
import { startUsage } from "./usage.js";

/** The organizations and keys of a scenario at the start of the clock (epoch milliseconds). */
export function startRecords(scenario: Scenario, sha256: Platform["sha256"], start: number): Registry {
  const { seed = defaultSeed } = scenario;
  const organizations: Organization[] = [];
  for (const [ref, fields] of allOrganizations(scenario)) {
    organizations.push(buildOrganization(ref, fields, seed));
  }

  const registry = new Registry(organizations);
  const keys = [...allKeys(scenario)];
  const positions = positionsInRotations(keys);
  for (const key of keys) {
    const position = positions.get(key.ref) as RotationPosition; // each key has one
    const { this_minute: thisMinute, today } = key.fields.usage ?? {};
    const record: KeyRecord = {
      ...buildKey(key, position, seed),
      ...endsOf(key.fields, start),
      sha256: sha256(scenarioSecret(key, seed)),
    };
    registry.addKey(record, startUsage(start, { thisMinute, today }));
  }
  return registry;
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

/** The record of a key without its hash, and without the times that count from the start of the clock. */
function buildKey(
  { ref, organization, fields }: ScenarioKey,
  { replaces, rotation }: RotationPosition,
  seed: number,
): Omit<KeyRecord, "sha256"> {
  const name = rotation.writtenSettings.name ?? inventKeyName(seed, rotation.oldestRef);
  return {
    ref,
    organization,
    ...readSettings(name, rotation.writtenSettings),
    environment: fields.environment,
    legacy: isLegacy(fields),
    ...(fields.replaced_by !== undefined && { replacedBy: fields.replaced_by }),
    ...(replaces !== undefined && { replaces }),
  };
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
