import { farmerLocales } from "../rules/farmer-values.js";
import { hexOf, mix32, pick, randomStream } from "../rules/seed.js";
import type { FarmerMaker } from "../sandbox/farmer-records/farmer-list.js";
import type { Farmer, Parcel } from "../sandbox/farmer-records/farmer-shape.js";
import * as exact from "./exact-math.js";
import { drawParcels, type FarmContext } from "./parcels.js";
import { countryOf, type FarmerLocale, type LivestockType, namesIn, resolveLocale } from "./tables.js";

/** Only the year of birth is known. In the year of this birthday, a person is 18 or older all year. */
const adultAfterYears = 19;
const oldest = 90;

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

interface FarmerSource {
  readonly seed: number;
  /** The start of the scenario's clock, in milliseconds since 1970; every date depends on it. */
  readonly start: number;
  /** The locales to mix, at least one. Default: all of them. */
  readonly locales?: readonly FarmerLocale[];
}

export const makeFarmers: FarmerMaker = ({ seed, start, locale }) => {
  const locales = locale === undefined ? undefined : resolveLocale(locale);
  const source: FarmerSource = { seed, start, ...(locales !== undefined && { locales }) };
  return {
    at: (index: number) => farmerAt(source, index),
    idOf: (index: number) => farmerId(seed, index, locales),
    indexOf: (id: string) => indexOfFarmer(source, id),
  };
};

/** The farmer with an index: a pure function with the same cost for each index. */
export function farmerAt(source: FarmerSource, index: number): Farmer {
  const { seed, start, locales = farmerLocales } = source;
  if (!Number.isInteger(index) || index < 0 || index > 0xffff_ffff) {
    throw new RangeError(`The index of a farmer is an integer from 0 to 4294967295, not ${index}.`);
  }

  // With another choice of locales, this index is another farmer with another id.
  const farmerLabel = `${localesLabel(locales)}${index}`;
  const streamFor = (label: string, ...sublabels: readonly string[]) =>
    randomStream(seed, `farmer.${label}`, farmerLabel, ...sublabels);

  const locale = pick(streamFor("locale"), locales);
  const country = countryOf(locale);
  const region = pick(streamFor("region"), country.regions);
  const id = farmerId(seed, index, locales);
  const person = drawPerson({ streamFor, country, start });
  const adultFrom = person.birth_year + adultAfterYears;

  const farm: FarmContext = { start, country, region, id, adultFrom, streamFor };
  const language = drawLanguage(farm);
  const parcels = drawParcels(farm);
  const area = sumOf(parcels, ({ properties }: Parcel) => properties.area_ha);
  let farmerType: Farmer["farmer_type"] = "large";
  if (area < 20) farmerType = "medium";
  if (area < 2) farmerType = "small";
  return {
    farmer_id: id,
    synthetic: true,
    name: drawName(farm, person.sex, language),
    ...person,
    language,
    farmer_type: farmerType,
    farm_area_ha: area,
    location: { country_code: country.code, subdivision_code: region.code, subdivision_name: region.name },
    parcels,
    livestock: drawLivestock(farm, area),
  };
}

function drawPerson(
  farm: Pick<FarmContext, "streamFor" | "country" | "start">,
): Pick<Farmer, "sex" | "birth_year"> {
  const { country } = farm;
  const draw = farm.streamFor("person");
  const sex = exact.happens(draw, country.womenShare) ? "female" : "male";
  const currentYear = new Date(farm.start).getUTCFullYear();
  // Until an age is in the range, which nearly all are.
  for (;;) {
    const age = Math.round(country.meanAge + 14 * exact.normal(draw));
    if (age >= adultAfterYears && age <= oldest) return { sex, birth_year: currentYear - age };
  }
}

function drawLanguage({ streamFor, country, region }: FarmContext): string {
  // The shares take up parts of the whole; the country's language has what is left.
  let rest = exact.fraction(streamFor("language"));
  for (const [language, share] of Object.entries(region.languages)) {
    rest -= share;
    if (rest < 0) return language;
  }
  return country.language;
}

function drawName(farm: FarmContext, sex: Farmer["sex"], language: string): Farmer["name"] {
  const draw = farm.streamFor("name");
  const names = namesIn(farm.region, language);
  const { family, familyOfMen = family } = names;
  const given_name = pick(draw, names[sex]);
  // Most common first: the first ones are more likely.
  const surnames = sex === "male" ? familyOfMen : family;
  const share = exact.fraction(draw);
  return { given_name, surname: surnames[Math.floor(share * share * surnames.length)] as string };
}

/** Draws the animals of the farm: more on more land, though not in proportion, and no more than it can feed. */
function drawLivestock({ streamFor, country }: FarmContext, areaHa: number): Farmer["livestock"] {
  const scale = exact.clamped(0.5, Math.sqrt(areaHa / country.farmSize.median), 5);
  const livestock: { type: LivestockType; count: number }[] = [];
  for (const [type, share, median] of country.livestock) {
    const draw = streamFor("livestock", type);
    if (!exact.happens(draw, share)) continue;
    const [withoutLand, perHectare] = capacity[type];
    const most = withoutLand + Math.floor(perHectare * areaHa);
    const wanted = Math.round(exact.logNormal(draw, median * scale, 0.6));
    livestock.push({ type, count: exact.clamped(1, wanted, most) });
  }
  return livestock;
}

/** The sum of amounts, rounded to five decimal places, as areas in hectares are. */
export function sumOf<Item>(items: readonly Item[], amountOf: (item: Item) => number): number {
  let sum = 0;
  for (const item of items) sum += amountOf(item);
  return exact.rounded(sum, 5);
}

// An id has 16 hex digits: eight for the index, counted from a number of the seed, and eight that check them. So no two farmers have
// the same id, an id leads back to its index without a table, and a guessed one is rarely valid.

const prefix = "farmer_";
const digitsOfIndex = 8;

/** What the ids of a seed and a choice of locales depend on, besides the index. */
function idNumbers(seed: number, locales?: readonly FarmerLocale[]) {
  const draw = randomStream(seed, `${localesLabel(locales)}farmer.id`);
  return { first: draw(), salt: draw() };
}

function farmerId(seed: number, index: number, locales?: readonly FarmerLocale[]): string {
  const { first, salt } = idNumbers(seed, locales);
  const number = (first + index) >>> 0;
  return prefix + hexOf(number) + hexOf(mix32(number ^ salt));
}

/** The index of a farmer by its id; `undefined` for a text that is no id of this seed and these locales. */
function indexOfFarmer(
  { seed, locales }: Pick<FarmerSource, "seed" | "locales">,
  id: string,
): number | undefined {
  const { first } = idNumbers(seed, locales);
  const number = Number.parseInt(id.slice(prefix.length, prefix.length + digitsOfIndex), 16);
  const index = (number - first) >>> 0;
  return farmerId(seed, index, locales) === id ? index : undefined;
}

/** The label of random streams that differ with the choice of locales; empty for all of them. */
function localesLabel(locales: readonly FarmerLocale[] = farmerLocales): string {
  return locales.length === farmerLocales.length ? "" : `${locales.join(" ")} `;
}
