import { type FarmerLocale, farmerLocales } from "../rules/farmer-locales.js";
import { hexOf, mix32, pick, type RandomStream, randomStream } from "../rules/seed.js";
import type { Farmer, LivestockType, Parcel } from "../sandbox/population/farmer-shape.js";
import type { FarmerSettings, MadeFarmers } from "../sandbox/population/farmers.js";
import { chance, logNormal, normal, sumOf, unit } from "./exact-math.js";
import { parcelsOf, yearOf } from "./parcels.js";
import { countryOf, type FarmContext, namesOf, resolveLocale } from "./tables.js";

const rounds = 6;
const prefix = "farmer_";

/** The seed scrambles the index and zeros reversibly, so an id leads back to its farmer, and a guessed one is rarely valid. */
export function farmerId(seed: number, index: number, locales?: readonly FarmerLocale[]): string {
  let [left, right] = [0, index >>> 0];
  for (const key of roundKeys(seed, locales)) [left, right] = [right, (left ^ mix32(right ^ key)) >>> 0];
  return prefix + hexOf(left) + hexOf(right);
}

export function indexOfFarmer(
  { seed, locales }: { readonly seed: number; readonly locales?: readonly FarmerLocale[] },
  id: string,
): number | undefined {
  const digits = id.slice(prefix.length);
  if (!id.startsWith(prefix) || !/^[0-9a-f]{16}$/.test(digits)) return undefined;
  let [left, right] = [Number.parseInt(digits.slice(0, 8), 16), Number.parseInt(digits.slice(8), 16)];
  for (const key of roundKeys(seed, locales).reverse())
    [left, right] = [(right ^ mix32(left ^ key)) >>> 0, left];
  return left === 0 ? right : undefined;
}

function choiceOf(locales: readonly FarmerLocale[] = farmerLocales): string {
  return locales.length === farmerLocales.length ? "" : `${locales.join(" ")} `;
}

function roundKeys(seed: number, locales?: readonly FarmerLocale[]): number[] {
  const draw = randomStream(seed, `${choiceOf(locales)}farmer.id`);
  return Array.from({ length: rounds }, draw);
}

/** Only the year of birth is known. In the year of this birthday, a person is 18 or older all year. */
const adultAfterYears = 19;
const oldest = 90;

function personOf({
  draws,
  country,
  start,
}: Pick<FarmContext, "draws" | "country" | "start">): Pick<Farmer, "sex" | "birth_year"> {
  const draw = draws("person");
  const sex = chance(draw, country.womenShare) ? "female" : "male";
  for (;;) {
    const age = Math.round(country.meanAge + 14 * normal(draw));
    if (age >= adultAfterYears && age <= oldest) return { sex, birth_year: yearOf(start) - age };
  }
}

function nameOf(
  { draws, region }: FarmContext,
  { sex, language }: Pick<Farmer, "sex" | "language">,
): Farmer["name"] {
  const draw = draws("name");
  const { [sex]: given, family, familyOfMen = family } = namesOf(region, language);
  return { given_name: pick(draw, given), surname: pickCommon(draw, sex === "male" ? familyOfMen : family) };
}

/** One of the names, which are sorted most common first; the first ones are more likely. */
function pickCommon(draw: RandomStream, names: readonly string[]): string {
  const share = unit(draw);
  return names[Math.floor(share * share * names.length)] as string;
}

function languageOf({ draws, country, region }: FarmContext): string {
  let rest = unit(draws("language"));
  for (const [language, share] of Object.entries(region.languages)) {
    rest -= share;
    if (rest < 0) return language;
  }
  return country.language;
}

/** The number of animals that a farm can feed: a base number, plus more per hectare. */
const capacity: Readonly<Record<LivestockType, readonly [withoutLand: number, perHectare: number]>> = {
  buffaloes: [1, 3],
  cattle: [1, 4],
  chickens: [25, 100],
  ducks: [15, 60],
  goats: [3, 12],
  pigs: [3, 12],
  sheep: [3, 12],
};

/** The animals of the farm: more on more land, though not in proportion, and no more than it can feed. */
function livestockOf({ draws, country }: FarmContext, areaHa: number): Farmer["livestock"] {
  const scale = Math.min(Math.max(Math.sqrt(areaHa / country.farmSize.median), 0.5), 5);
  return country.livestock.flatMap(([type, share, median]) => {
    const draw = draws("livestock", type);
    if (!chance(draw, share)) return [];
    const [withoutLand, perHectare] = capacity[type];
    const max = withoutLand + Math.floor(perHectare * areaHa);
    return [{ type, count: Math.min(max, Math.max(1, Math.round(logNormal(draw, median * scale, 0.6)))) }];
  });
}

export interface FarmerSource {
  readonly seed: number;
  /** The start of the scenario's clock, in milliseconds since 1970; every date depends on it. */
  readonly start: number;
  /** The locales to mix, at least one. Default: all of them. */
  readonly locales?: readonly FarmerLocale[];
}

/** A pure function with the same cost for each index. */
export function farmerAt(source: FarmerSource, index: number): Farmer {
  const { seed, start, locales = farmerLocales } = source;
  if (!Number.isInteger(index) || index < 0 || index > 0xffff_ffff) {
    throw new RangeError(`The index of a farmer is an integer from 0 to 4294967295, not ${index}.`);
  }
  // With another choice of locales, this index is another farmer with another id.
  const who = `${choiceOf(locales)}${index}`;
  const draws = (label: string, ...more: readonly string[]) =>
    randomStream(seed, `farmer.${label}`, who, ...more);
  const locale = pick(draws("locale"), locales);
  const country = countryOf(locale);
  const region = pick(draws("region"), country.regions);
  const id = farmerId(seed, index, locales);
  const person = personOf({ draws, country, start });
  const adultFrom = person.birth_year + adultAfterYears;
  const farm: FarmContext = { start, country, region, id, adultFrom, draws };
  const language = languageOf(farm);
  const parcels = parcelsOf(farm);
  const area = sumOf(parcels, ({ properties }) => properties.area_ha);
  return {
    farmer_id: id,
    synthetic: true,
    name: nameOf(farm, { sex: person.sex, language }),
    ...person,
    language,
    farmer_type: area < 2 ? "small" : area < 20 ? "medium" : "large",
    farm_area_ha: area,
    location: { country_code: country.code, subdivision_code: region.code, subdivision_name: region.name },
    parcels,
    livestock: livestockOf(farm, area),
  };
}

export function makeFarmers({ seed, start, locale }: FarmerSettings): MadeFarmers {
  const locales = locale === undefined ? undefined : resolveLocale(locale);
  const source: FarmerSource = { seed, start, ...(locales !== undefined && { locales }) };
  return {
    at: (index: number) => farmerAt(source, index),
    idOf: (index: number) => farmerId(seed, index, locales),
    indexOf: (id: string) => indexOfFarmer(source, id),
  };
}

type Cell = string | number | boolean | null;

const columns = {
  farmer_id: ({ farmer_id }) => farmer_id,
  synthetic: () => true,
  given_name: ({ name }) => name.given_name,
  surname: ({ name }) => name.surname,
  sex: ({ sex }) => sex,
  birth_year: ({ birth_year }) => birth_year,
  language: ({ language }) => language,
  farmer_type: ({ farmer_type }) => farmer_type,
  farm_area_ha: ({ farm_area_ha }) => farm_area_ha,
  country_code: ({ location }) => location.country_code,
  subdivision_code: ({ location }) => location.subdivision_code,
  subdivision_name: ({ location }) => location.subdivision_name,
  longitude: (farmer) => mainParcel(farmer).geometry.coordinates[0]?.[0]?.[0] ?? 0,
  latitude: (farmer) => mainParcel(farmer).geometry.coordinates[0]?.[0]?.[1] ?? 0,
  parcels: ({ parcels }) => parcels.length,
  irrigated_area_ha: ({ parcels }) =>
    sumOf(parcels, ({ properties }) => (properties.irrigation === "none" ? 0 : properties.area_ha)),
  main_crop_code: (farmer) => mainParcel(farmer).properties["crop:code"],
  main_crop_name: (farmer) => mainParcel(farmer).properties["crop:name"],
  livestock_count: ({ livestock }) => sumOf(livestock, ({ count }) => count),
} satisfies Readonly<Record<string, (farmer: Farmer) => Cell>>;

export const farmerColumns: readonly string[] = Object.keys(columns);

export function farmerRow(farmer: Farmer): Readonly<Record<string, Cell>> {
  return Object.fromEntries(Object.entries(columns).map(([name, cellOf]) => [name, cellOf(farmer)]));
}

function mainParcel({ parcels }: Farmer): Parcel {
  return parcels[0] as Parcel;
}

export function farmerFeatures({ farmer_id, location, parcels }: Farmer): readonly object[] {
  return parcels.map((parcel) => ({
    ...parcel,
    properties: {
      farmer_id,
      "admin:country_code": location.country_code,
      "admin:subdivision_code": location.subdivision_code,
      ...parcel.properties,
    },
  }));
}
