import { type FarmerLocale, farmerLocales } from "../spec/farmer-locales.js";
import type { RandomStream } from "../spec/seed.js";
import type { Lender, LivestockType, Peril } from "./farmer-shape.js";
import cropTable from "./tables/crops.json" with { type: "json" };
import en_GH from "./tables/en_GH.json" with { type: "json" };
import en_IN from "./tables/en_IN.json" with { type: "json" };
import en_NG from "./tables/en_NG.json" with { type: "json" };
import es_MX from "./tables/es_MX.json" with { type: "json" };
import fr_SN from "./tables/fr_SN.json" with { type: "json" };
import id_ID from "./tables/id_ID.json" with { type: "json" };
import nameTable from "./tables/names.json" with { type: "json" };
import pt_BR from "./tables/pt_BR.json" with { type: "json" };
import tr from "./tables/tr.json" with { type: "json" };
import uk from "./tables/uk.json" with { type: "json" };
import vi from "./tables/vi.json" with { type: "json" };

export interface FarmContext {
  readonly seed: number;
  readonly start: number;
  readonly country: Country;
  readonly region: Region;
  readonly id: string;
  /** The first year when the farmer is 18 or older all year. */
  readonly adultFrom: number;
  /** A separate random stream for each part of this farmer, so that a new part changes no other. */
  readonly draws: (label: string, ...more: readonly string[]) => RandomStream;
}

// The tables are in `tables/`, one file for each locale with its country. Bundles contain them, in Node and in
// browsers, and load them with the first farmer. `tables.test.ts` checks that they are consistent.
//
// Sources. ISO 3166-2 codes and names are from ISO's Online Browsing Platform. Centers are in the admin-1 areas of
// Natural Earth (public domain), at most 60% of the way to the nearest border. AGROVOC codes and names (FAO, CC BY) are
// from the extract in cmungall/agrovoc-obo (subset-products.obo; cotton in align-ncbitaxon.tsv). Names are the English
// preferred labels; wheat has AGROVOC's current singular. Names of people, sizes, shares, yields, prices, interest
// rates, months and perils are round figures or lists from general knowledge, unless docs/farmers.md lists a source.
// Transplanting counts as sowing. Frost depends on the region: late frost in spring, first frost in autumn, frost on
// winter crops, and none in the tropics.

/** A day of the year: month times 100 plus day of the month. */
export type YearDay = number;

export type CropName = keyof typeof cropTable;

export interface Crop {
  /** The concept's code in AGROVOC, the last part of http://aims.fao.org/aos/agrovoc/c_…. */
  readonly code: string;
  readonly name: string;
  /** In US dollars, without a date; each country converts them. */
  readonly dollarsPerKg: number;
  /** For a perennial crop that is harvested each year: years until its first harvest, and until it is replanted. */
  readonly stands?: readonly [bearsAfter: number, replantedAfter: number];
}

/** Kilograms per hectare in a usual year, without irrigation unless the crop needs it. */
export type Yields = Partial<Readonly<Record<CropName, number>>>;

/**
 * A crop of a region: its season in the country, its weight, and the share of its fields with irrigation (1 if the crop
 * needs it).
 */
export type Growing = readonly [crop: CropName, season: string, weight: number, watered: number];

/** First and last day of sowing and of harvest; for a perennial crop, only of harvest. */
export type Calendar =
  | readonly [sownFrom: YearDay, sownTo: YearDay, cutFrom: YearDay, cutTo: YearDay]
  | readonly [cutFrom: YearDay, cutTo: YearDay];

type Calendars = Partial<Readonly<Record<CropName, Calendar>>>;

/** A season of a country: its first month (1–12), its length, and the sowing and harvest of its crops. */
export interface GrowingSeason {
  readonly month: number;
  readonly months: number;
  /** Perennial crops grow from the start of the season, which follows the previous harvest. */
  readonly crops: Calendars;
}

/** A peril with its first and last day of the year; a peril may have several rows. */
export type Hazard = readonly [peril: Peril, from: YearDay, to: YearDay];

/** A circle for farms inside a subdivision, away from its borders and the sea. */
export interface Region {
  /** ISO 3166-2. */
  readonly code: string;
  readonly name: string;
  readonly longitude: number;
  readonly latitude: number;
  readonly radiusKm: number;
  readonly farmSize: FarmSize;
  readonly names: Names;
  /** The share of its farmers who speak each language (BCP 47); the others speak the country's language. */
  readonly languages: Readonly<Record<string, number>>;
  readonly grows: readonly Growing[];
  /** Usual yields that differ from the country's. */
  readonly yields?: Yields;
  /** Crops with other times of sowing or harvest than in the rest of the country. */
  readonly calendars?: Calendars;
  readonly hazards: readonly Hazard[];
}

/** Farm area in hectares: half of the farms are below the median. */
interface FarmSize {
  readonly median: number;
  readonly deviation: number;
}

/** A kind of lender, its weight, and its lowest and highest interest rate in percent per year. */
export type Lending = readonly [lender: Lender, weight: number, lowest: number, highest: number];

/** A locale and its country, with the facts that its farms share. */
export interface Country {
  /** BCP 47. */
  readonly language: string;
  /** Names of cooperatives; `{{name}}` is a family name. */
  readonly cooperatives: readonly string[];
  /** ISO 3166-1 alpha-2. */
  readonly code: string;
  /** ISO 4217. */
  readonly currency: string;
  /** Decimal places of the currency. */
  readonly digits: number;
  /** A round figure, without a date. */
  readonly unitsPerDollar: number;
  /** For the whole country; regions differ. */
  readonly farmSize: FarmSize;
  readonly meanAge: number;
  readonly womenShare: number;
  readonly meanHousehold: number;
  readonly insuredShare: number;
  readonly borrowingShare: number;
  readonly lenders: readonly Lending[];
  readonly cooperativeShare: number;
  readonly yields: Yields;
  readonly livestock: readonly (readonly [type: LivestockType, share: number, median: number])[];
  readonly seasons: Readonly<Record<string, GrowingSeason>>;
  /** The parts of the year when rain matters and may fail. */
  readonly droughts: readonly (readonly [YearDay, YearDay])[];
  readonly regions: readonly Region[];
}

/**
 * A country in its file: regions name a mix of crops or list their own, and otherwise only differences from the
 * country.
 */
interface CountryTable extends Omit<Country, "regions"> {
  readonly hazards: readonly Hazard[];
  readonly mixes?: Readonly<Record<string, readonly Growing[]>>;
  readonly regions: readonly (Omit<Region, "grows" | "hazards" | "farmSize" | "names" | "languages"> & {
    readonly grows: string | readonly Growing[];
    readonly farmSize: Partial<FarmSize>;
    /** If its names differ from the country's. */
    readonly names?: keyof typeof nameTable;
    readonly languages?: Region["languages"];
    readonly hazards?: readonly Hazard[];
  })[];
}

const countryTables = { en_GH, en_IN, en_NG, es_MX, fr_SN, id_ID, pt_BR, tr, uk, vi };

const countries = new Map<FarmerLocale, Country>();

/** The country of a locale, created on first use. */
export function countryOf(locale: FarmerLocale): Country {
  const made = countries.get(locale) ?? makeCountry(locale);
  countries.set(locale, made);
  return made;
}

function makeCountry(locale: FarmerLocale): Country {
  const { mixes = {}, hazards, ...table } = countryTables[locale] as unknown as CountryTable;
  const regions = table.regions.map((region) => ({
    ...region,
    farmSize: { ...table.farmSize, ...region.farmSize },
    names: nameTable[region.names ?? (locale as keyof typeof nameTable)],
    languages: region.languages ?? {},
    grows: typeof region.grows === "string" ? (mixes[region.grows] as readonly Growing[]) : region.grows,
    hazards: [...hazards, ...(region.hazards ?? [])],
  }));
  return { ...table, regions };
}

export const crops = cropTable as unknown as Readonly<Record<CropName, Crop>>;

let cropsByCode: ReadonlyMap<string, CropName> | undefined;

/** The crop with this AGROVOC code; `maize` for a code that is not in the table. */
export function cropOfCode(code: string): CropName {
  cropsByCode ??= new Map((Object.keys(crops) as CropName[]).map((name) => [crops[name].code, name]));
  return cropsByCode.get(code) ?? "maize";
}

/** The names of a language's speakers; the region's names for a language without its own list. */
export function namesOf(region: Region, language: string): Names {
  return (nameTable as Readonly<Record<string, Names>>)[language] ?? region.names;
}

/** Common names of a country, a region or a language's speakers. */
export interface Names {
  readonly female: readonly string[];
  readonly male: readonly string[];
  /** Most common first. */
  readonly family: readonly string[];
  /** Only if women and men have different family names. */
  readonly familyOfMen?: readonly string[];
}

/**
 * The locales for a text: the locale with this name, or all locales of a language (`en`: Ghana, India and Nigeria).
 *
 * Accepts `en-GH` and `EN_gh` as `en_GH`. `undefined` for any other text; never throws.
 *
 * @example
 * resolveLocale("en"); // ["en_GH", "en_IN", "en_NG"]
 */
export function resolveLocale(text: string): readonly FarmerLocale[] | undefined {
  const wanted = text.replace("-", "_").toLowerCase();
  const found = farmerLocales.filter((name) => {
    const known = [name, countryTables[name].language.replace("-", "_"), name.split("_")[0] as string];
    return known.some((one) => one.toLowerCase() === wanted);
  });
  return found.length > 0 ? found : undefined;
}
