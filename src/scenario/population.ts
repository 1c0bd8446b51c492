import { environments } from "../domain/api-key.js";
import type { Scenario } from "./scenario.generated.js";

/** The part of a scenario about organizations, keys and farmers by their number. */
type Population = NonNullable<Scenario["population"]>;

type Organization = NonNullable<Scenario["organizations"]>[string];
type Key = NonNullable<Organization["keys"]>[string];

/** The number of keys of each organization of a population that does not say. */
export const defaultKeysPerOrganization = 1;

/** Test, live, test …: of ten keys, five are active in each environment, which is all that R32 allows. */
const keys: readonly Key[] = environments.map((environment) => ({ environment }));

/** The ref of the organization with a number, counted from 1. */
export function populatedRef(organization: number): string {
  return `organization-${organization}`;
}

/** The ref of a key of that organization, counted from 1. */
export function populatedKeyRef(organization: number, key: number): string {
  return `${populatedRef(organization)}-key-${key}`;
}

/** A ref as a population gives it, taken apart; `undefined` for any other. */
export function populatedNumbers(ref: string): { organization: number; key?: number } | undefined {
  const [, organization, key] = /^organization-([1-9]\d{0,5})(?:-key-([1-9]\d?))?$/.exec(ref) ?? [];
  if (organization === undefined) return undefined;
  return { organization: Number(organization), ...(key !== undefined && { key: Number(key) }) };
}

/** Whether the organization or the key with this ref is one of the population. */
export function isPopulated(ref: string, population: Population | undefined): boolean {
  const numbers = populatedNumbers(ref);
  if (numbers === undefined || population === undefined) return false;
  const { organizations = 0, keys_per_organization: keysEach = defaultKeysPerOrganization } = population;
  return numbers.organization <= organizations && (numbers.key ?? 0) <= keysEach;
}

/** The number of keys that a population stands for. */
export function populatedKeys({ population = {} }: Scenario): number {
  const { organizations = 0, keys_per_organization: keysEach = defaultKeysPerOrganization } = population;
  return organizations * Math.max(1, keysEach);
}

/** Returns the organization with this number: every third one an insurer, approved if it has a live key. Draws nothing. */
export function populatedOrganization(number: number, keysEach = defaultKeysPerOrganization): Organization {
  return {
    type: number % 3 === 0 ? "insurer" : "bank",
    ...(keysEach > 1 && { live_access: "approved" as const }),
    keys: Object.fromEntries(
      Array.from({ length: keysEach }, (_, index) => [
        populatedKeyRef(number, index + 1),
        keys[index % keys.length] as Key,
      ]),
    ),
  };
}

/**
 * The scenario with the organizations of its population written out behind its own, and no longer in `population`.
 *
 * Nothing in them depends on the seed, so that starting the result with another one is starting the scenario with it.
 * Does not change the scenario.
 */
export function expandPopulation(scenario: Scenario): Scenario {
  if (scenario.population === undefined) return scenario;
  const {
    organizations: count = 0,
    keys_per_organization: keysEach = defaultKeysPerOrganization,
    ...farmers
  } = scenario.population;
  const organizations = { ...scenario.organizations };
  for (let number = 1; number <= count; number++) {
    organizations[populatedRef(number)] = populatedOrganization(number, keysEach);
  }
  return { ...scenario, organizations, population: farmers };
}
