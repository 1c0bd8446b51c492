import { type FarmerLocale, farmerLocales } from "../../domain/farmer-locales.js";
import { pick, randomStream } from "../../domain/seed.js";
import { cooperativeOf } from "./cooperatives.js";
import type { Country } from "./countries.js";
import { rounded } from "./exact-math.js";
import type { FarmWorld } from "./farm-world.js";
import type { Farmer, Parcel } from "./farmer.js";
import { choiceOf, farmerId } from "./farmer-id.js";
import { insuranceOf } from "./insurance.js";
import { livestockOf } from "./livestock.js";
import { loansOf } from "./loans.js";
import { localeFacts } from "./locales.js";
import { parcelsOf } from "./parcels.js";
import { grownUpFrom, householdOf, languageOf, nameOf, personOf } from "./person.js";

/** Where farmers come from. */
export interface FarmerSource {
  readonly seed: number;
  /** The start of the scenario's clock, in milliseconds since 1970; every date hangs on it. */
  readonly start: number;
  /**
   * The locales to mix; see `resolveLocale`.
   *
   * Default: all of them.
   */
  readonly locales?: readonly FarmerLocale[];
}

/**
 * The synthetic farmer at an index: a pure function, at the same cost for each index.
 *
 * Throws a `RangeError` for what is no whole number from 0 to 4,294,967,295, and for an empty list of locales.
 *
 * @example
 * farmerAt({ seed: 1, start: Date.UTC(2026, 2, 2) }, 0).synthetic; // true
 */
export function farmerAt(source: FarmerSource, index: number): Farmer {
  const { seed, start, locales = farmerLocales } = source;
  if (!Number.isInteger(index) || index < 0 || index > 0xffff_ffff) {
    throw new RangeError(
      `Failed to make a farmer: the index is ${index}. Give a whole number from 0 to 4294967295.`,
    );
  }
  if (locales.length === 0)
    throw new RangeError("Failed to make a farmer: there is no locale. Give at least one.");
  // With another choice of locales the farmer at this index is somebody else, with other loans and policies.
  const who = `${choiceOf(locales)}${index}`;
  const draws = (label: string, ...more: readonly string[]) =>
    randomStream(seed, `farmer.${label}`, who, ...more);
  const locale = pick(draws("locale"), locales);
  const country: Country = localeFacts[locale].country;
  const region = pick(draws("region"), country.regions);
  const id = farmerId(seed, index, locales);
  const person = personOf({ draws, country, start });
  const world: FarmWorld = {
    seed,
    start,
    locale,
    country,
    region,
    id,
    grownUpFrom: grownUpFrom(person.birth_year),
    draws,
  };
  const parcels = parcelsOf(world);
  const area = rounded(
    parcels.reduce((sum, { properties }) => sum + properties.area_ha, 0),
    4,
  );
  const cooperative = cooperativeOf(world);
  const livestock = livestockOf(world, area);
  const insurance = insuranceOf(world, parcels, cooperative !== null);
  return {
    farmer_id: id,
    synthetic: true,
    name: nameOf(world, person.sex),
    sex: person.sex,
    birth_year: person.birth_year,
    language: languageOf(world),
    household: householdOf(world, person.sex),
    farmer_type: area < 2 ? "small" : area < 20 ? "medium" : "large",
    farm_area_ha: area,
    location: { country_code: country.code, subdivision_code: region.code, subdivision_name: region.name },
    parcels,
    livestock,
    cooperative,
    insurance,
    loans: loansOf(world, {
      seasons: (parcels[0] as Parcel).properties.seasons,
      areaHa: area,
      isMember: cooperative !== null,
      hasLivestock: livestock.length > 0,
    }),
  };
}
