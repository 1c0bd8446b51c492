import { africa } from "./countries-africa.js";
import { americas } from "./countries-americas.js";
import { europe } from "./countries-europe.js";
import { southAsia } from "./countries-south-asia.js";
import { southEastAsia } from "./countries-south-east-asia.js";
import type { CropName } from "./crops.js";

/**
 * What may stand on a field of a region: crop, season of the country, weight, and the share of its fields that get water
 * beside the rain: 1 where nothing grows without it.
 */
export type Growing = readonly [crop: CropName, season: string, weight: number, watered: number];

/** A circle well inside a subdivision, away from its borders and from the sea, in which farms may lie. */
export interface Region {
  /** ISO 3166-2. */
  readonly code: string;
  readonly name: string;
  readonly longitude: number;
  readonly latitude: number;
  readonly radiusKm: number;
  /** A language of the region beside the country's own, BCP 47. */
  readonly language?: string;
  readonly grows: readonly Growing[];
  /** Where a usual harvest is not that of the country, in kilograms a hectare. */
  readonly yields?: Yields;
}

export type Yields = Partial<Readonly<Record<CropName, number>>>;

/** ISO 3166-1 alpha-2. */
export type CountryCode = "BR" | "GH" | "ID" | "IN" | "MX" | "NG" | "SN" | "TR" | "UA" | "VN";

/** What the farms of a country have in common. */
export interface Country {
  readonly code: CountryCode;
  /** ISO 4217. */
  readonly currency: string;
  /** Digits of the currency after the point. */
  readonly digits: number;
  /** A round figure, of no particular day. */
  readonly unitsPerDollar: number;
  /** Of the farm's area in hectares: half of the farms are below the median. */
  readonly farmSize: { readonly median: number; readonly deviation: number };
  readonly meanAge: number;
  readonly womenShare: number;
  readonly meanHousehold: number;
  readonly insuredShare: number;
  readonly borrowingShare: number;
  readonly cooperativeShare: number;
  /** In kilograms a hectare, in a usual year; without irrigation where the crop grows without it. */
  readonly yields: Yields;
  readonly livestock: readonly (readonly [type: LivestockType, share: number, median: number])[];
  readonly regions: readonly Region[];
}

export const livestockTypes = ["buffaloes", "cattle", "chickens", "ducks", "goats", "pigs", "sheep"] as const;
export type LivestockType = (typeof livestockTypes)[number];

// ISO 3166-2 codes and names as in ISO's Online Browsing Platform; centres lie in the admin-1 areas of Natural Earth
// (public domain), at most six tenths of the way to the nearest border. Sizes, shares, yields and months are round
// figures from general knowledge, chosen to look right; no source was copied, and they are no statistics of any country.
export const countries: Readonly<Record<CountryCode, Country>> = {
  ...africa,
  ...americas,
  ...europe,
  ...southAsia,
  ...southEastAsia,
};
