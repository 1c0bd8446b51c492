import type { KeyLimits, KeyRecord, KeySettings } from "../rules/key-state.js";
import { environments, makeSecret, parseApiKey } from "../rules/keys/key-text.js";
import { hexOf, type RandomStream, randomStream } from "../rules/seed.js";
import type { FieldPath } from "../schema/shape.js";
import type { Scenario } from "./scenario.generated.js";

export type ScenarioOrganization = NonNullable<Scenario["organizations"]>[string];

/** What a scenario writes of one key; the rest follows from where it stands. */
export type KeyFields = NonNullable<ScenarioOrganization["keys"]>[string];

/** A key that a scenario starts with, listed or of its population. */
export interface ScenarioKey {
  readonly ref: string;
  readonly organization: string;
  readonly fields: KeyFields;
}

/** Where a listed key is in its scenario. */
export function fieldOfKey({ ref, organization }: ScenarioKey): FieldPath {
  return ["organizations", organization, "keys", ref];
}

/** The keys that a scenario lists, in its order. */
export function* listedKeys({ organizations = {} }: Scenario): Generator<ScenarioKey> {
  for (const [organization, { keys = {} }] of Object.entries(organizations)) {
    for (const [ref, fields] of Object.entries(keys)) {
      yield { ref, organization, fields };
    }
  }
}

/** The organizations of a scenario by ref, in order; a population's are without their keys. */
export function* allOrganizations(
  scenario: Scenario,
): Generator<readonly [ref: string, fields: ScenarioOrganization]> {
  yield* Object.entries(scenario.organizations ?? {});
  const { organizations, keysEach } = populationOf(scenario);
  for (let number = 1; number <= organizations; number++) {
    yield populatedOrganization(number, keysEach);
  }
}

/** The keys of a scenario in order, its population's after its own. */
export function* allKeys(scenario: Scenario): Generator<ScenarioKey> {
  yield* listedKeys(scenario);
  const { organizations, keysEach } = populationOf(scenario);
  for (let number = 1; number <= organizations; number++) {
    for (let key = 1; key <= keysEach; key++) yield populatedKey(number, key);
  }
}

/** The fields of the keys of a population: test, live, test … */
const populatedFields: readonly KeyFields[] = environments.map((environment) => ({ environment }));

function populatedKey(number: number, key: number): ScenarioKey {
  const organization = populatedRef(number);
  // Of ten keys, five are active in each environment, the maximum of R32.
  const fields = populatedFields[(key - 1) % populatedFields.length] as KeyFields;
  return { ref: `${organization}-key-${key}`, organization, fields };
}

/** The key of a population with this ref. */
export function populatedKeyAt(ref: string, scenario: Scenario): ScenarioKey | undefined {
  const numbers = populatedNumbers(ref);
  if (numbers?.key === undefined || populatedKind(ref, scenario.population) === undefined) return undefined;
  return populatedKey(numbers.organization, numbers.key);
}

/** Whether a key has the prefix of old keys, by its field or by its pinned secret. */
export function isLegacy(fields: Pick<KeyFields, "legacy" | "secret">): boolean {
  if (fields.legacy !== undefined) return fields.legacy;
  if (fields.secret === undefined) return false;
  return parseApiKey(fields.secret)?.legacy ?? false;
}

const defaultKeysPerOrganization = 1;

/** The ref of an organization of a population, by its number. */
export function populatedRef(organization: number): string {
  return `organization-${organization}`;
}

/** The numbers in a ref of a population; `undefined` for any other ref. */
function populatedNumbers(ref: string): { organization: number; key?: number } | undefined {
  const [, organization, key] = /^organization-([1-9]\d{0,5})(?:-key-([1-9]\d?))?$/.exec(ref) ?? [];
  if (organization === undefined) return undefined;
  if (key === undefined) return { organization: Number(organization) };
  return { organization: Number(organization), key: Number(key) };
}

/** What a population has with this ref: an organization, a key or nothing. */
export function populatedKind(
  ref: string,
  population: Scenario["population"],
): "organization" | "key" | undefined {
  const numbers = populatedNumbers(ref);
  if (numbers === undefined || population === undefined) return undefined;
  const { organizations, keysEach } = populationOf({ population });
  const { organization, key } = numbers;
  if (organization > organizations) return undefined;
  if (key === undefined) return "organization";
  return key <= keysEach ? "key" : undefined;
}

/** How many organizations a population has, and how many keys each of them has. */
export function populationOf(scenario: Pick<Scenario, "population">) {
  const { population = {} } = scenario;
  return {
    organizations: population.organizations ?? 0,
    keysEach: population.keys_per_organization ?? defaultKeysPerOrganization,
  };
}

/** The organization with this number and its ref, without its keys. Draws nothing, so that another seed changes only names, ids and secrets. */
export function populatedOrganization(
  number: number,
  keysEach = defaultKeysPerOrganization,
): readonly [ref: string, fields: ScenarioOrganization] {
  const type = number % 3 === 0 ? "insurer" : "bank";
  // Its second key is a live one.
  const fields: ScenarioOrganization = keysEach > 1 ? { type, live_access: "approved" } : { type };
  return [populatedRef(number), fields];
}

// Secrets and ids that a scenario does not pin are derived from its seed and the refs of their owners.

/** Derives a full key from the seed and its ref on every call, so that it is never stored (R35). */
export function deriveSecret(seed: number, key: Pick<KeyRecord, "ref" | "environment" | "legacy">): string {
  return makeSecret(randomStream(seed, "key.secret", key.ref), key);
}

/** Derives a well-formed key that no sandbox contains: a request with it gets `401.unknown`. */
export function unknownSecret(seed: number): string {
  // No ref contains a space, so that this has its own random stream.
  return deriveSecret(seed, { ref: "no such key", environment: "test", legacy: false });
}

/** The full key of a scenario's key: the one that the scenario pins, or the one that its seed derives. */
export function scenarioSecret(key: ScenarioKey, seed: number): string {
  const { ref, fields } = key;
  if (fields.secret !== undefined) return fields.secret;
  return deriveSecret(seed, { ref, environment: fields.environment, legacy: fields.legacy ?? false });
}

export function organizationIdOf(ref: string, fields: ScenarioOrganization, seed: number): string {
  return fields.id ?? uuidFrom(randomStream(seed, "organization.id", ref));
}

/** A UUID of version 4: random digits, but for digit 12, the version, and two bits of digit 16, the variant. */
function uuidFrom(draw: RandomStream): string {
  const digits = hexOf(draw()) + hexOf(draw()) + hexOf(draw()) + hexOf(draw());
  const variant = "89ab"[Number.parseInt(digits[16] as string, 16) & 3];
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join("-");
}

/** The scopes of a key without its own. */
export const defaultScopes: readonly string[] = ["attestations:read"];

const defaultLimits: KeyLimits = { perMinute: 60, perDay: 1000 };

/** The settings of a key as a scenario writes them, or who creates a key. */
export interface WrittenSettings {
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly limits?:
    | { readonly per_minute?: number | undefined; readonly per_day?: number | undefined }
    | undefined;
}

/** Returns the settings for a key's record. A name that the scenario leaves out is invented by the caller. */
export function readSettings(name: string, { scopes = defaultScopes, limits }: WrittenSettings): KeySettings {
  return { name, scopes, limits: readLimits(limits) };
}

export function readLimits(limits: WrittenSettings["limits"]): KeyLimits {
  // One object for the many keys of a population.
  if (limits === undefined) return defaultLimits;
  const { per_minute = defaultLimits.perMinute, per_day = defaultLimits.perDay } = limits;
  return { perMinute: per_minute, perDay: per_day };
}

/** The endpoints of a scenario by their operation ids, in the order of the file. */
export function writtenEndpoints(scenario: Pick<Scenario, "endpoints">) {
  const written: [name: string, NonNullable<NonNullable<Scenario["endpoints"]>[string]>][] = [];
  for (const [name, endpoint] of Object.entries(scenario.endpoints ?? {})) {
    if (endpoint !== null) written.push([name, endpoint]);
  }
  return written;
}
