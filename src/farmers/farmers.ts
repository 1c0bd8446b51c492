import { type FarmerLocale, farmerLocales } from "../spec/farmer.js";
import { pick, randomStream } from "../spec/seed.js";
import { sumOf } from "./exact-math.js";
import type { FarmContext } from "./farm-context.js";
import { choiceOf, farmerId, indexOfFarmer } from "./farmer-id.js";
import type { Farmer } from "./farmer-shape.js";
import { insuranceOf, loansOf } from "./finance.js";
import {
  adultAfterYears,
  cooperativeOf,
  householdOf,
  languageOf,
  livestockOf,
  nameOf,
  personOf,
} from "./household.js";
import { parcelsOf } from "./parcels.js";
import { countryOf, resolveLocale } from "./tables.js";

/** The settings that farmers depend on. */
export interface FarmerSource {
  readonly seed: number;
  /** The start of the scenario's clock, in milliseconds since 1970; every date depends on it. */
  readonly start: number;
  /** The locales to mix, at least one. Default: all of them. */
  readonly locales?: readonly FarmerLocale[];
}

/**
 * The synthetic farmer at an index: a pure function with the same cost for each index.
 *
 * Throws a `RangeError` unless the index is an integer from 0 to 4,294,967,295.
 *
 * @example
 * farmerAt({ seed: 1, start: Date.UTC(2026, 2, 2) }, 0).synthetic; // true
 */
export function farmerAt(source: FarmerSource, index: number): Farmer {
  const { seed, start, locales = farmerLocales } = source;
  if (!Number.isInteger(index) || index < 0 || index > 0xffff_ffff) {
    throw new RangeError(`The index of a farmer is an integer from 0 to 4294967295, not ${index}.`);
  }
  // With another choice of locales, this index is another farmer with other loans and policies.
  const who = `${choiceOf(locales)}${index}`;
  const draws = (label: string, ...more: readonly string[]) =>
    randomStream(seed, `farmer.${label}`, who, ...more);
  const locale = pick(draws("locale"), locales);
  const country = countryOf(locale);
  const region = pick(draws("region"), country.regions);
  const id = farmerId(seed, index, locales);
  const person = personOf({ draws, country, start });
  const adultFrom = person.birth_year + adultAfterYears;
  const farm: FarmContext = { seed, start, country, region, id, adultFrom, draws };
  const language = languageOf(farm);
  const parcels = parcelsOf(farm);
  const area = sumOf(parcels, ({ properties }) => properties.area_ha);
  const cooperative = cooperativeOf(farm);
  const livestock = livestockOf(farm, area);
  const insurance = insuranceOf(farm, parcels, cooperative !== null);
  return {
    farmer_id: id,
    synthetic: true,
    name: nameOf(farm, { sex: person.sex, language }),
    ...person,
    language,
    household: householdOf(farm, person),
    farmer_type: area < 2 ? "small" : area < 20 ? "medium" : "large",
    farm_area_ha: area,
    location: { country_code: country.code, subdivision_code: region.code, subdivision_name: region.name },
    parcels,
    livestock,
    cooperative,
    insurance,
    loans: loansOf(farm, {
      parcels,
      areaHa: area,
      isMember: cooperative !== null,
      hasLivestock: livestock.length > 0,
    }),
  };
}

type FarmerSettings = Omit<FarmerSource, "locales"> & { readonly locale: string | undefined };

/** Creates the farmers of a locale or a language, by default of all locales. Importing this module loads the tables. */
export function makeFarmers({ seed, start, locale }: FarmerSettings) {
  const locales = locale === undefined ? undefined : resolveLocale(locale);
  const source: FarmerSource = { seed, start, ...(locales !== undefined && { locales }) };
  return {
    at: (index: number) => farmerAt(source, index),
    idOf: (index: number) => farmerId(seed, index, locales),
    indexOf: (id: string) => indexOfFarmer(source, id),
  };
}

export type FarmerMaker = typeof makeFarmers;
