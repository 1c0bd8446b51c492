import type { Scenario } from "../scenario.generated.js";

type Population = NonNullable<Scenario["population"]>;

const defaultKeysPerOrganization = 1;

/** The ref of an organization of a population, by its number. */
export function populatedRef(organization: number): string {
  return `organization-${organization}`;
}

/** The numbers in a ref of a population; `undefined` for any other ref. */
export function populatedNumbers(ref: string): { organization: number; key?: number } | undefined {
  const [, organization, key] = /^organization-([1-9]\d{0,5})(?:-key-([1-9]\d?))?$/.exec(ref) ?? [];
  if (organization === undefined) return undefined;
  if (key === undefined) return { organization: Number(organization) };
  return { organization: Number(organization), key: Number(key) };
}

/** Whether a population has an organization or a key with this ref. */
export function isPopulated(ref: string, population: Population | undefined): boolean {
  const numbers = populatedNumbers(ref);
  if (numbers === undefined || population === undefined) return false;
  const { organizations, keysEach } = populationOf({ population });
  const { organization, key = 0 } = numbers;
  return organization <= organizations && key <= keysEach;
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
): readonly [ref: string, fields: NonNullable<Scenario["organizations"]>[string]] {
  const ref = populatedRef(number);
  const type = number % 3 === 0 ? "insurer" : "bank";
  // Its second key is a live one.
  if (keysEach > 1) return [ref, { type, live_access: "approved" }];
  return [ref, { type }];
}
