import { expect, test } from "vitest";
import type { Farmer, Parcel, Season } from "../../src/farmers/farmer-shape.js";
import { farmerAt } from "../../src/farmers/farmers.js";
import { type Country, countryOf, type Region } from "../../src/farmers/tables.js";
import { type FarmerLocale, farmerLocales } from "../../src/spec/farmer-locales.js";

export const start = Date.UTC(2026, 2, 2, 9);
export const today = "2026-03-02";

const mixtures: readonly (readonly [seed: number, count: number, ...locales: FarmerLocale[]])[] = [
  [1, 10_000],
  [7, 4_000],
  [42, 1_200, "uk", "tr"],
  [43, 1_200, "es_MX", "pt_BR"],
  [44, 1_200, "en_IN", "vi", "fr_SN"],
];

/** Farmers of several seeds and mixtures of locales, by their seed; made once for all tests. */
export const sampled: ReadonlyMap<number, readonly Farmer[]> = new Map(
  mixtures.map(([seed, count, ...locales]) => [
    seed,
    Array.from({ length: count }, (_, index) =>
      farmerAt({ seed, start, ...(locales.length > 0 && { locales }) }, index),
    ),
  ]),
);

/** The 10,000 farmers of all locales and seed 1, which docs/farmers.md speaks of. */
export const farmers = sampled.get(1) as readonly Farmer[];
export const everyFarmer = [...sampled.values()].flat();
export const parcels = farmers.flatMap((farmer) => farmer.parcels.map((parcel) => ({ farmer, parcel })));

export interface GrownSeason {
  readonly seed: number;
  readonly farmer: Farmer;
  readonly parcel: Parcel;
  readonly season: Season;
  readonly place: string;
  readonly isIrrigated: boolean;
}

export const seasons: readonly GrownSeason[] = [...sampled].flatMap(([seed, group]) =>
  group.flatMap((farmer) =>
    farmer.parcels.flatMap((parcel) =>
      parcel.properties.seasons.map((season) => ({
        seed,
        farmer,
        parcel,
        season,
        place: farmer.location.subdivision_code,
        isIrrigated: parcel.properties.irrigation !== "none",
      })),
    ),
  ),
);

/** From sowing to harvest, or for ever; of a perennial crop, from the season's beginning. */
export function growthOf({ planted_on, season_start, harvested_on }: Season) {
  const sown = planted_on > season_start ? planted_on : season_start;
  return {
    from: Date.parse(sown),
    to: harvested_on === null ? Number.POSITIVE_INFINITY : Date.parse(harvested_on),
  };
}

/** A subdivision, as the weather is asked for it. */
export function siteOf(seed: number, subdivision: string) {
  const country = farmerLocales.map(countryOf).find(({ code }) => subdivision.startsWith(code)) as Country;
  const region = country.regions.find(({ code }) => code === subdivision) as Region;
  return { seed, country, region };
}

/** The value that a share of the items lies below. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * values.length)] as number;
}

export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): [string, Item[]][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Tests that a rule holds for each of many items; names a few of those that break it. */
export function holds<Item>(title: string, items: readonly Item[], isRight: (item: Item) => boolean): void {
  test(title, () => {
    expect(items.length).toBeGreaterThan(40);
    const wrong = items.filter((item) => !isRight(item));
    expect([
      `${wrong.length} wrong`,
      ...wrong.slice(0, 3).map((item) => JSON.stringify(item).slice(0, 300)),
    ]).toEqual(["0 wrong"]);
  });
}
