import type { OrganizationType } from "../domain/organization.js";
import { type SeededFaker, seededFaker } from "./seeded-faker.js";

const patterns: Record<OrganizationType, readonly string[]> = {
  bank: [
    "{{town}} Savings Bank",
    "{{town}} Cooperative Bank",
    "{{town}} Agricultural Bank",
    "{{town}} Mutual Savings Bank",
    "{{town}} Rural Credit Bank",
    "{{town}} Land Bank",
    "{{town}} Harvest Bank",
    "{{town}} Farmers Credit Union",
    "Agricultural Bank of {{town}}",
    "Cooperative Bank of {{town}}",
    "Farmers Savings Bank of {{town}}",
    "Growers Bank of {{town}}",
    "Smallholders Bank of {{town}}",
    "{{family}} & {{partner}} Bank",
    "{{family}} & {{partner}} Farm Credit Bank",
  ],
  insurer: [
    "{{town}} Mutual Insurance",
    "{{town}} Crop Insurance",
    "{{town}} Agricultural Insurance",
    "{{town}} Farm Insurance",
    "{{town}} Hail Insurance",
    "{{town}} Livestock Insurance",
    "{{town}} Cooperative Assurance",
    "{{town}} Mutual Assurance Society",
    "Farmers Mutual Insurance of {{town}}",
    "Growers Mutual Assurance of {{town}}",
    "Rural Insurance Society of {{town}}",
    "{{family}} & {{partner}} Insurance",
    "{{family}} & {{partner}} Assurance",
  ],
};

// Faker's family names that existing banks, insurers, brokers or places of the trade bear, or that read as something
// else than a name. An invented organization must not be taken for one that exists.
const unsuitable = new Set(
  `Abbott Anderson Armstrong Bailey Barrows Bartell Barton Becker Bernhard Botsford Carroll Carter Casper Champlin
  Collier Collins Crooks Cummings Daniel Dickens Dickinson Dietrich Douglas Fisher Gibson Glover Goldner
  Goodwin Graham Grimes Hackett Hamill Hammes Hansen Harber Harris Hartmann Harvey Heller Herman Hermann Herzog Howell
  Hudson Jacobi Jacobs Jacobson Jenkins Johnson Johnston Keebler Kessler Kohler Larson Legros Littel Little Lockman
  Marvin Miller Mitchell Mueller Muller Murphy Murray Nicolas Parisian Parker Pfeffer Reilly Renner Reynolds Ritchie
  Roberts Rodriguez Sanford Schaefer Schmidt Schmitt Schneider Schroeder Schultz Schuster Shields Spencer Stanton
  Stokes Thompson Turner Walker Walter Waters Wilkinson Willms`.split(/\s+/),
);

/**
 * Invents the name of a bank or an insurer.
 *
 * Towns are made up as well, since a bank named after a real town may exist.
 *
 * @example
 * inventOrganizationName(1, "harvest-bank", "bank"); // the same name in every process
 */
export function inventOrganizationName(seed: number, ref: string, type: OrganizationType): string {
  const faker = seededFaker(seed, "organization.name", ref);
  const family = inventFamily(faker);
  return faker.helpers.mustache(faker.helpers.arrayElement(patterns[type]), {
    family,
    partner: () => inventFamily(faker, family),
    town: () => inventTown(faker, family),
  });
}

// Short names are often words or famous; hyphens and apostrophes would make the name of a town unreadable.
function inventFamily(faker: SeededFaker, except?: string): string {
  for (;;) {
    const family = faker.person.lastName();
    if (/^[A-Z][a-z]{5,8}$/.test(family) && !unsuitable.has(family) && family !== except) return family;
  }
}

function inventTown(faker: SeededFaker, family: string): string {
  const { city_prefix: prefixes, city_suffix: suffixes } = faker.definitions.location;
  if (faker.datatype.boolean(0.25)) return `${faker.helpers.arrayElement(prefixes)} ${family}`;
  // The same letter on both sides of the seam reads badly: "Dibbertton".
  const joinable = suffixes.filter((suffix) => suffix[0] !== family.at(-1));
  return `${family}${faker.helpers.arrayElement(joinable)}`;
}
