import { farmerLocales } from "../rules/farmer-values.js";
import { cachedByName } from "../sandbox/cached-by.js";
import type { Farmer } from "../sandbox/farmer-records/farmer-shape.js";
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

// One table for each locale with its country. Their sources are in fixtures/README.md.

export type FarmerLocale = (typeof farmerLocales)[number];
type CropName = keyof typeof cropTable;

export type LivestockType = Farmer["livestock"][number]["type"];

interface Crop {
  /** The concept's code in AGROVOC, the last part of http://aims.fao.org/aos/agrovoc/c_…. */
  readonly code: string;
  readonly name: string;
  /** The years until a perennial crop has its first harvest. */
  readonly bearsAfter?: number;
}

/** Common names. Their table has a list of each country, by its locale, and of the speakers of other languages, by the language. */
interface Names {
  readonly female: readonly string[];
  readonly male: readonly string[];
  /** Most common first. */
  readonly family: readonly string[];
  /** Only if women and men have different family names. */
  readonly familyOfMen?: readonly string[];
}

export interface Region {
  /** ISO 3166-2. */
  readonly code: string;
  readonly name: string;
  /** A circle for farms inside the subdivision, away from its borders and the sea. */
  readonly circle: readonly [longitude: number, latitude: number, radiusKm: number];
  readonly farmSize: FarmSize;
  readonly names: Names;
  /** The share of its farmers who speak each language (BCP 47); the others speak the country's language. */
  readonly languages: Readonly<Record<string, number>>;
  readonly grows: readonly {
    readonly crop: CropName;
    /** How often it is grown, next to the other crops of the region. */
    readonly weight: number;
    /** The share of its fields with irrigation: 1 if the crop needs it. */
    readonly shareIrrigated: number;
  }[];
}

/** Farm area in hectares: half of the farms are below the median. */
interface FarmSize {
  readonly median: number;
  readonly deviation: number;
}

/** A locale and its country, with the facts that its farms share. */
export interface Country {
  /** BCP 47. */
  readonly language: string;
  /** ISO 3166-1 alpha-2. */
  readonly code: string;
  /** The sizes in the whole country; regions differ. */
  readonly farmSize: FarmSize;
  readonly meanAge: number;
  readonly womenShare: number;
  readonly livestock: readonly (readonly [type: LivestockType, share: number, median: number])[];
  readonly regions: readonly Region[];
}

/** A crop in a table: its name, its weight and the share of its fields with irrigation. */
type GrowingRow = readonly [crop: CropName, weight: number, shareIrrigated: number];

/** A region in the table of its country. What it leaves out is that of the country. */
interface RegionTable {
  readonly code: string;
  readonly name: string;
  readonly circle: Region["circle"];
  readonly farmSize: Partial<FarmSize>;
  /** Its list in the table of names, if its names differ from the country's. */
  readonly names?: keyof typeof nameTable;
  readonly languages?: Region["languages"];
  /** The name of a mix of the country, or the region's own crops. */
  readonly grows: string | readonly GrowingRow[];
}

/** A country as its table has it. */
interface CountryTable extends Omit<Country, "regions"> {
  /** The crops of several regions, by name. */
  readonly mixes?: Readonly<Record<string, readonly GrowingRow[]>>;
  readonly regions: readonly RegionTable[];
}

const countryTables = { en_GH, en_IN, en_NG, es_MX, fr_SN, id_ID, pt_BR, tr, uk, vi };

// A sandbox reads few of them, and each for every farmer.
export const countryOf = /* @__PURE__ */ cachedByName((locale: FarmerLocale): Country => {
  const { mixes = {}, ...table } = countryTables[locale] as unknown as CountryTable; // JSON has narrower types
  const regions: Region[] = [];
  for (const region of table.regions) {
    const { grows } = region;
    const rows = typeof grows === "string" ? (mixes[grows] as readonly GrowingRow[]) : grows; // a table has its mixes
    regions.push({
      ...region,
      farmSize: { ...table.farmSize, ...region.farmSize },
      // The list of the region, or else that of the country, which has the name of its locale.
      names: nameTable[region.names ?? (locale as keyof typeof nameTable)],
      languages: region.languages ?? {},
      grows: rows.map(([crop, weight, shareIrrigated]) => ({ crop, weight, shareIrrigated })),
    });
  }
  return { ...table, regions };
});

export const crops = cropTable as unknown as Readonly<Record<CropName, Crop>>; // JSON has no unions of texts

/** The names of those who speak a language in a region: the list of the language, or else that of the region. */
export function namesIn(region: Region, language: string): Names {
  const lists: Readonly<Record<string, Names>> = nameTable;
  return lists[language] ?? region.names;
}

/** Accepts `en-GH` and `EN_gh` as `en_GH`; for a language, all of its locales. */
export function resolveLocale(text: string): readonly FarmerLocale[] | undefined {
  const wanted = text.replace("-", "_").toLowerCase();
  const locales = farmerLocales.filter((locale) => {
    const language = countryTables[locale].language.replace("-", "_");
    const [withoutCountry] = locale.split("_");
    return [locale, language, withoutCountry].some((spelling) => spelling?.toLowerCase() === wanted);
  });
  return locales.length > 0 ? locales : undefined;
}
