import { faker } from "@faker-js/faker/locale/en";

// Names of existing banks, insurers and brokers, and other words: nobody may take an invented organization for a real one.
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
 * The words that names of organizations are invented from, as JSON. Taken from faker when the project is built rather than
 * when it runs: creating a sandbox is synchronous and works in browsers, and these three short lists are all it needs of a
 * library of many megabytes.
 */
export function nameWords(): string {
  const { city_prefix: townPrefixes, city_suffix: townSuffixes } = faker.definitions.location;
  return `${JSON.stringify({ familyNames: familyNames(), townPrefixes, townSuffixes }, null, 2)}\n`;
}

// Short names are often words or famous; hyphens and apostrophes would make the name of a town unreadable.
function familyNames(): string[] {
  const names = Object.values(faker.definitions.person.last_name ?? {}).flat() as string[];
  return [...new Set(names)].filter((name) => /^[A-Z][a-z]{5,8}$/.test(name) && !unsuitable.has(name)).sort();
}
