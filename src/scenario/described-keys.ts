import type { KeyRecord } from "../rules/key-record.js";
import { environments, makeSecret, parseApiKey } from "../rules/key-text.js";
import { defaultSeed, hexOf, type RandomStream, randomStream } from "../rules/seed.js";
import type { FieldPath } from "../schema/field-path.js";
import { quote } from "../schema/words.js";
import {
  isPopulated,
  populatedNumbers,
  populatedOrganization,
  populatedRef,
  populationOf,
} from "./population.js";
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
export function* writtenKeys({ organizations = {} }: Scenario): Generator<ScenarioKey> {
  for (const [organization, { keys = {} }] of Object.entries(organizations)) {
    for (const [ref, fields] of Object.entries(keys)) {
      yield { ref, organization, fields };
    }
  }
}

/** The organizations of a scenario by ref, in order; a population's are without their keys. */
export function* describedOrganizations(
  scenario: Scenario,
): Generator<readonly [ref: string, fields: ScenarioOrganization]> {
  yield* Object.entries(scenario.organizations ?? {});
  const { organizations, keysEach } = populationOf(scenario);
  for (let number = 1; number <= organizations; number++) {
    yield populatedOrganization(number, keysEach);
  }
}

/** The keys of a scenario in order, its population's after its own. */
export function* describedKeys(scenario: Scenario): Generator<ScenarioKey> {
  yield* writtenKeys(scenario);
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
  if (numbers?.key === undefined || !isPopulated(ref, scenario.population)) return undefined;
  return populatedKey(numbers.organization, numbers.key);
}

/** Whether a key has the prefix of old keys, by its field or by its pinned secret. */
export function isLegacy(fields: Pick<KeyFields, "legacy" | "secret">): boolean {
  if (fields.legacy !== undefined) return fields.legacy;
  if (fields.secret === undefined) return false;
  return parseApiKey(fields.secret)?.legacy ?? false;
}

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

/** A secret or an id, which is pinned in the scenario or derived from the seed. */
interface PinnedOrDerived {
  /** The ref of the key or organization that has it. */
  readonly owner: string;
  readonly field: FieldPath;
  readonly pinned: string | undefined;
  /** Takes time. */
  readonly derive: () => string;
}

/** A problem of a pinned value that another key or organization also has. */
interface DuplicateProblem {
  readonly code: "duplicate_secret" | "duplicate_organization_id";
  readonly field: FieldPath;
  readonly message: string;
  readonly hint: string;
}

/** Finds each pinned secret and id that another key or organization has, pinned or derived from the seed (R12). */
export function sharedValues(scenario: Scenario): DuplicateProblem[] {
  // Only a pinned value can be the same as another one, and to compare derives those of the whole population.
  if (!hasPinnedValue(scenario)) return [];

  const { seed = defaultSeed } = scenario;
  const secrets: PinnedOrDerived[] = [];
  for (const key of describedKeys(scenario)) {
    secrets.push({
      owner: key.ref,
      field: fieldOfKey(key),
      pinned: key.fields.secret,
      derive: () => scenarioSecret(key, seed),
    });
  }
  // The key that requests of stories send as `unknown`: no key of the scenario may have its secret.
  secrets.push({ owner: "unknown", field: [], pinned: undefined, derive: () => unknownSecret(seed) });

  const ids: PinnedOrDerived[] = [];
  for (const [ref, fields] of describedOrganizations(scenario)) {
    const field = ["organizations", ref];
    ids.push({ owner: ref, field, pinned: fields.id, derive: () => organizationIdOf(ref, fields, seed) });
  }

  return [
    ...sharedAmong(secrets, "duplicate_secret", (owner) => `the key ${owner} has the same secret`),
    ...sharedAmong(ids, "duplicate_organization_id", (owner) => `${owner} has the same id`),
  ];
}

function hasPinnedValue(scenario: Scenario): boolean {
  for (const { id } of Object.values(scenario.organizations ?? {})) {
    if (id !== undefined) return true;
  }
  for (const { fields } of writtenKeys(scenario)) {
    if (fields.secret !== undefined) return true;
  }
  return false;
}

function sharedAmong(
  values: readonly PinnedOrDerived[],
  code: DuplicateProblem["code"],
  messageOf: (owner: string) => string,
): DuplicateProblem[] {
  const pinnedValues = values.filter(({ pinned }) => pinned !== undefined);
  if (pinnedValues.length === 0) return [];

  // Derived values first: a pinned one that is the same has to change, wherever it stands.
  const ownerByValue = new Map<string, string>();
  for (const { owner, pinned, derive } of values) {
    if (pinned === undefined) ownerByValue.set(derive(), owner);
  }

  const shared: DuplicateProblem[] = [];
  for (const { owner, field, pinned = "" } of pinnedValues) {
    const earlierOwner = ownerByValue.get(pinned);
    if (earlierOwner === undefined) {
      ownerByValue.set(pinned, owner);
      continue;
    }
    shared.push({
      code,
      field,
      message: messageOf(quote(earlierOwner)),
      hint: "give each its own, or remove it and the seed generates one",
    });
  }
  return shared;
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
