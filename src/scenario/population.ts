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

/** The number of organizations of a population, and the number of keys that each of them has. */
export function populationOf({ population = {} }: Scenario): { organizations: number; keysEach: number } {
  const { organizations = 0, keys_per_organization: keysEach = defaultKeysPerOrganization } = population;
  return { organizations, keysEach };
}

/** The number of keys that a population stands for. */
export function populatedKeys(scenario: Scenario): number {
  const { organizations, keysEach } = populationOf(scenario);
  return organizations * Math.max(1, keysEach);
}

/** The key with this number of each organization. */
export function populatedKey(key: number): Key {
  return keys[(key - 1) % keys.length] as Key;
}

/**
 * Returns the organization with this number, without its keys: every third one an insurer, approved if it has a live key.
 * Draws nothing, so that starting a population with another seed changes no more than names, ids and secrets.
 */
export function populatedOrganization(number: number, keysEach = defaultKeysPerOrganization): Organization {
  return {
    type: number % 3 === 0 ? "insurer" : "bank",
    ...(keysEach > 1 && { live_access: "approved" as const }),
  };
}
