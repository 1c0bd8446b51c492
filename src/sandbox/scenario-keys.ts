import type { KeyLimits, KeyRecord } from "../rules/api-key.js";
import { type Organization, readAccess } from "../rules/organization.js";
import { pick, type RandomStream, randomStream } from "../rules/seed.js";
import { instantOf } from "../rules/time-input.js";
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

// Not `cachedBy`: of each scenario, only the latest seed's. By its organizations, which are immutable and shared by its copies.
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
  const earlier = owner && recordsOfScenario.get(owner);
  if (earlier?.seed === seed && earlier.population === population) return earlier;
  const records = recordsOf(scenario, seed, sha256);
  if (owner !== undefined) recordsOfScenario.set(owner, records);
  return records;
}

function recordsOf(scenario: Scenario, seed: number, sha256: Hash): ScenarioRecords {
  return {
    seed,
    population: scenario.population,
    organizations: Array.from(describedOrganizations(scenario), ([ref, fields]) =>
      buildOrganization(ref, fields, seed),
    ),
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
  const rotated = new Map<string, { readonly replaces: string | undefined; readonly shared: Shared }>();
  for (const chain of rotationsIn(described)) {
    const shared = sharedBy(chain);
    for (const [index, { ref }] of chain.entries()) {
      rotated.set(ref, { replaces: chain[index - 1]?.ref, shared });
    }
  }
  return described.map((one) => {
    const { ref, organization, fields } = one;
    const { replaces, shared } = rotated.get(ref) ?? { replaces: undefined, shared: sharedBy([one]) };
    const record = {
      ref,
      organization,
      ...readSettings(shared.settings, () => inventKeyName(seed, shared.first)),
      environment: fields.environment,
      legacy: isLegacy(fields),
      // A key that was created before a snapshot has only its hash.
      sha256: fields.sha256 ?? sha256(secretOf(one, seed)),
      ...(fields.replaced_by !== undefined && { replacedBy: fields.replaced_by }),
      ...(replaces !== undefined && { replaces }),
    };
    return { record, fields, ends: readEnds(fields), shared };
  });
}

/** Returns the state of a scenario's key at the start of the clock (epoch milliseconds), from where its durations count. */
export function startKey(
  { record, fields, ends, shared }: ScenarioKeyRecord,
  start: number,
  windows: Windows,
  sandbox: ProfileSettings,
): UsedKey {
  const { this_minute: thisMinute, today, counted_at: times } = fields.usage ?? {};
  const usage = startUsage(windows, start, { thisMinute, today, countedAt: times?.map(instantOf) });
  const ended = ends === undefined ? record : { ...record, ...endsFrom(start, ends) };
  if (profileOf(sandbox) !== "varied") return { key: ended, usage };
  const varying = {
    scopes: withGrantedScopes(sandbox, record.scopes),
    limits: variedLimits(sandbox, shared, record.limits),
  };
  return { key: { ...ended, ...varying }, usage };
}

/** Raises the limits that the scenario leaves open; keys at a limit stay there. */
function variedLimits(sandbox: ProfileSettings, { settings, used }: Shared, limits: KeyLimits): KeyLimits {
  const { per_minute: perMinute, per_day: perDay } = settings.limits ?? {};
  if (perDay !== undefined || used.perDay >= limits.perDay) return limits;
  const more = addedLimitsOf(sandbox);
  const isOpen = perMinute === undefined && used.perMinute < limits.perMinute;
  return {
    perMinute: limits.perMinute + (isOpen ? more.perMinute : 0),
    perDay: limits.perDay + more.perDay,
  };
}

/** What the keys of a rotation share: every setting that one of them has (R37). */
interface Shared {
  readonly first: string;
  readonly settings: WrittenSettings;
  /** The most requests that one of them starts with. */
  readonly used: KeyLimits;
}

function sharedBy(chain: readonly [DescribedKey, ...DescribedKey[]]): Shared {
  const usages = chain.map(({ fields }) => fields.usage ?? {});
  const used = {
    perMinute: Math.max(...usages.map(({ this_minute = 0 }) => this_minute)),
    perDay: Math.max(...usages.map(({ this_minute = 0, today = this_minute }) => today)),
  };
  return { first: chain[0].ref, settings: sharedSettings(chain.map(({ fields }) => fields)), used };
}

/** Returns the rotations with at least two keys, oldest key first. No key replaces two, so a circle has no first key. */
function rotationsIn(described: readonly DescribedKey[]): [DescribedKey, ...DescribedKey[]][] {
  const replaced = described.filter(({ fields }) => fields.replaced_by !== undefined);
  const replacedBy = new Map(replaced.map((one) => [one.fields.replaced_by, one]));
  return described
    .filter(({ ref, fields }) => fields.replaced_by === undefined && replacedBy.has(ref))
    .map((last) => {
      const chain: [DescribedKey, ...DescribedKey[]] = [last];
      for (let old = replacedBy.get(last.ref); old !== undefined; old = replacedBy.get(old.ref))
        chain.unshift(old);
      return chain;
    });
}

/** Returns the settings of keys that share them (R37): the first value of each, and of each limit. */
function sharedSettings(settings: readonly WrittenSettings[]): WrittenSettings {
  const limits = settings.flatMap(({ limits: ofKey = [] }) => ofKey);
  return {
    name: settings.find(({ name }) => name !== undefined)?.name,
    scopes: settings.find(({ scopes }) => scopes !== undefined)?.scopes,
    // Assigned from the last to the first, which stays.
    limits: limits.length === 0 ? undefined : Object.assign({}, ...limits.reverse()),
  };
}

/** Towns are also invented, because a bank named after a real town may exist. */
export function inventOrganizationName(seed: number, ref: string, type: Organization["type"]): string {
  const draw = randomStream(seed, "organization.name", ref);
  const family = pick(draw, words.familyNames);
  const parts: Record<string, () => string> = {
    family: () => family,
    partner: () =>
      pick(
        draw,
        words.familyNames.filter((name) => name !== family),
      ),
    town: () => inventTown(draw, family),
  };
  return pick(draw, patterns.organizations[type]).replace(
    /\{\{(\w+)\}\}/g,
    (_match, part: string) => parts[part]?.() ?? "",
  );
}

function inventTown(draw: RandomStream, family: string): string {
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
  const qualified = pick(draw, [true, false, false]);
  return qualified ? `${system}, ${pick(draw, installations)}` : system;
}
