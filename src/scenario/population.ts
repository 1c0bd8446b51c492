import type { Scenario } from "./scenario.generated.js";

type Population = NonNullable<Scenario["population"]>;

const defaultKeysPerOrganization = 1;

export function populatedRef(organization: number): string {
  return `organization-${organization}`;
}

/** The numbers in a ref of a population; `undefined` for any other ref. */
export function populatedNumbers(ref: string): { organization: number; key?: number } | undefined {
  const [, organization, key] = /^organization-([1-9]\d{0,5})(?:-key-([1-9]\d?))?$/.exec(ref) ?? [];
  if (organization === undefined) return undefined;
  return { organization: Number(organization), ...(key !== undefined && { key: Number(key) }) };
}

export function isPopulated(ref: string, population: Population | undefined): boolean {
  const numbers = populatedNumbers(ref);
  if (numbers === undefined || population === undefined) return false;
  const { organizations, keysEach } = populationOf({ population });
  return numbers.organization <= organizations && (numbers.key ?? 0) <= keysEach;
}

export function populationOf({ population = {} }: Pick<Scenario, "population">) {
  const { organizations = 0, keys_per_organization: keysEach = defaultKeysPerOrganization } = population;
  return { organizations, keysEach };
}

/** The organization with this number, without its keys. Draws nothing, so that another seed changes only names, ids and secrets. */
export function populatedOrganization(
  number: number,
  keysEach = defaultKeysPerOrganization,
): NonNullable<Scenario["organizations"]>[string] {
  return {
    type: number % 3 === 0 ? "insurer" : "bank",
    ...(keysEach > 1 && { live_access: "approved" as const }),
  };
}
