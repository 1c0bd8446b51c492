import { environments, type KeyRecord, parseApiKey, secretFrom } from "../rules/api-key.js";
import type { FieldPath } from "../rules/schema/shape.js";
import { quote } from "../rules/schema/words.js";
import { defaultSeed, randomStream, uuidFrom } from "../rules/seed.js";
import {
  isPopulated,
  populatedNumbers,
  populatedOrganization,
  populatedRef,
  populationOf,
} from "./population.js";
import type { Scenario } from "./scenario.generated.js";

export type ScenarioOrganization = NonNullable<Scenario["organizations"]>[string];
export type ScenarioKey = NonNullable<ScenarioOrganization["keys"]>[string];

export interface DescribedKey {
  readonly ref: string;
  readonly organization: string;
  readonly fields: ScenarioKey;
}

/** A key that the scenario itself has, with the place of its fields. */
export interface WrittenKey extends DescribedKey {
  readonly path: FieldPath;
}

export function* writtenKeys({ organizations = {} }: Scenario): Generator<WrittenKey> {
  for (const [organization, { keys = {} }] of Object.entries(organizations))
    for (const [ref, fields] of Object.entries(keys))
      yield { ref, organization, path: ["organizations", organization, "keys", ref], fields };
}

/** The organizations of a scenario by ref, in order; a population's are without their keys. */
export function* describedOrganizations(
  scenario: Scenario,
): Generator<readonly [ref: string, fields: ScenarioOrganization]> {
  yield* Object.entries(scenario.organizations ?? {});
  const { organizations, keysEach } = populationOf(scenario);
  for (let number = 1; number <= organizations; number++) {
    yield [populatedRef(number), populatedOrganization(number, keysEach)];
  }
}

/** The keys of a scenario in order, its population's after its own. */
export function* describedKeys(scenario: Scenario): Generator<DescribedKey> {
  yield* writtenKeys(scenario);
  const { organizations, keysEach } = populationOf(scenario);
  for (let number = 1; number <= organizations; number++) {
    for (let key = 1; key <= keysEach; key++) yield populatedKey(number, key);
  }
}

const environmentsInTurn: readonly ScenarioKey[] = environments.map((environment) => ({ environment }));

function populatedKey(number: number, key: number): DescribedKey {
  const organization = populatedRef(number);
  // Test, live, test …: of ten keys, five are active in each environment, the maximum of R32.
  const fields = environmentsInTurn[(key - 1) % environmentsInTurn.length] as ScenarioKey;
  return { ref: `${organization}-key-${key}`, organization, fields };
}

/** The key of a population with this ref. */
export function populatedKeyAt(ref: string, { population }: Scenario): DescribedKey | undefined {
  const { organization, key } = populatedNumbers(ref) ?? {};
  if (organization === undefined || key === undefined || !isPopulated(ref, population)) return undefined;
  return populatedKey(organization, key);
}

export function isLegacy({ legacy, secret = "" }: Pick<ScenarioKey, "legacy" | "secret">): boolean {
  return legacy ?? parseApiKey(secret)?.legacy ?? false;
}

/** Derives a full key from the seed and its ref on every call, so that it is never stored (R35). */
export function deriveSecret(seed: number, key: Pick<KeyRecord, "ref" | "environment" | "legacy">): string {
  return secretFrom(randomStream(seed, "key.secret", key.ref), key);
}

/** Derives a well-formed key that no sandbox contains: a request with it gets `401.unknown`. */
export function unknownSecret(seed: number): string {
  // No ref contains a space, so that this has its own random stream.
  return deriveSecret(seed, { ref: "no such key", environment: "test", legacy: false });
}

export function secretOf({ ref, fields }: DescribedKey, seed: number): string {
  if (fields.secret !== undefined) return fields.secret;
  return deriveSecret(seed, { ref, environment: fields.environment, legacy: fields.legacy ?? false });
}

export function organizationIdOf(ref: string, fields: ScenarioOrganization, seed: number): string {
  return fields.id ?? uuidFrom(randomStream(seed, "organization.id", ref));
}

interface Derivable {
  readonly ref: string;
  readonly path: readonly string[];
  readonly pinned: string | undefined;
  readonly value: () => string;
}

/** Finds each pinned secret and id that another key or organization has, pinned or derived from the seed (R12). */
export function sharedValues(scenario: Scenario) {
  const { seed = defaultSeed } = scenario;
  const isPinned =
    Object.values(scenario.organizations ?? {}).some(({ id }) => id !== undefined) ||
    [...writtenKeys(scenario)].some(({ fields }) => fields.secret !== undefined);
  // Comparing derives those of the whole population.
  if (!isPinned) return [];
  const keys = Array.from(describedKeys(scenario), (one): Derivable => {
    const path = ["organizations", one.organization, "keys", one.ref];
    return { ref: one.ref, path, pinned: one.fields.secret, value: () => secretOf(one, seed) };
  });
  const organizations = Array.from(describedOrganizations(scenario), ([ref, fields]): Derivable => {
    const value = () => organizationIdOf(ref, fields, seed);
    return { ref, path: ["organizations", ref], pinned: fields.id, value };
  });
  keys.push({ ref: "unknown", path: [], pinned: undefined, value: () => unknownSecret(seed) });
  return [
    ...sharedIn(keys, "duplicate_secret", (owner) => `the key ${owner} has the same secret`),
    ...sharedIn(organizations, "duplicate_organization_id", (owner) => `${owner} has the same id`),
  ];
}

function sharedIn<const Code>(values: readonly Derivable[], code: Code, inWords: (owner: string) => string) {
  const pinned = values.filter((one) => one.pinned !== undefined);
  if (pinned.length === 0) return [];
  const owners = new Map<string, string>();
  for (const { ref, value } of values.filter((one) => one.pinned === undefined)) owners.set(value(), ref);
  return pinned.flatMap(({ ref, path, pinned: value = "" }) => {
    const owner = owners.get(value);
    owners.set(value, owner ?? ref);
    const hint = "give each its own, or remove it and the seed generates one";
    return owner === undefined ? [] : [{ code, field: path, message: inWords(quote(owner)), hint }];
  });
}
