import { environments, parseApiKey } from "../../rules/keys/key-text.js";
import type { FieldPath } from "../../schema/field-path.js";
import type { Scenario } from "../scenario.generated.js";
import {
  isPopulated,
  populatedNumbers,
  populatedOrganization,
  populatedRef,
  populationOf,
} from "./population.js";

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
  if (numbers?.key === undefined || !isPopulated(ref, scenario.population)) return undefined;
  return populatedKey(numbers.organization, numbers.key);
}

/** Whether a key has the prefix of old keys, by its field or by its pinned secret. */
export function isLegacy(fields: Pick<KeyFields, "legacy" | "secret">): boolean {
  if (fields.legacy !== undefined) return fields.legacy;
  if (fields.secret === undefined) return false;
  return parseApiKey(fields.secret)?.legacy ?? false;
}
