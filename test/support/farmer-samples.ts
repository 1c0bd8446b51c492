import type { FarmerLocale } from "../../src/domain/farmer.js";
import type { Farmer, Parcel, Season } from "../../src/synthetic/farmers/farmer-schema.js";
import { farmerAt } from "../../src/synthetic/farmers/farmers.js";

const start = Date.UTC(2026, 2, 2, 9);
const mixtures: readonly (readonly [seed: number, count: number, ...locales: FarmerLocale[]])[] = [
  [1, 4_000],
  [7, 3_000],
  [42, 1_500, "uk", "tr"],
  [43, 1_500, "es_MX", "pt_BR"],
  [44, 1_500, "en_IN", "vi", "fr_SN"],
];

/** Farmers of several seeds and locales, by the seed. */
export const sampled: ReadonlyMap<number, readonly Farmer[]> = new Map(
  mixtures.map(([seed, count, ...locales]) => [
    seed,
    Array.from({ length: count }, (_, index) =>
      farmerAt({ seed, start, ...(locales.length > 0 && { locales }) }, index),
    ),
  ]),
);

export interface GrownSeason {
  readonly seed: number;
  readonly farmer: Farmer;
  readonly parcel: Parcel;
  readonly season: Season;
}

/** Every season of the sampled farmers. */
export const grownSeasons: readonly GrownSeason[] = [...sampled].flatMap(([seed, farmers]) =>
  farmers.flatMap((farmer) =>
    farmer.parcels.flatMap((parcel) =>
      parcel.properties.seasons.map((season) => ({ seed, farmer, parcel, season })),
    ),
  ),
);

/** The subdivision of a season. */
export const placeOf = ({ farmer }: GrownSeason) => farmer.location.subdivision_code;

/** What a season is about, in a line. */
export const tell = ({ farmer, parcel, season }: GrownSeason) =>
  `${farmer.location.subdivision_code} ${season.crop_name} ${season.planted_on}–${season.harvested_on} ${parcel.properties.irrigation} ${season.loss_cause}`;

/** A word for each of those that a rule finds wrong; few, so that a failure can be read. */
export function faultsOf<Item>(
  items: readonly Item[],
  isRight: (item: Item) => boolean,
  wordFor: (item: Item) => string,
): readonly string[] {
  const wrong = items.filter((item) => !isRight(item));
  return wrong.length === 0 ? [] : [`${wrong.length} of ${items.length}`, ...wrong.slice(0, 3).map(wordFor)];
}
