import type { Country, Region } from "./countries.js";
import type { CropName } from "./crops.js";

/** Where a crop grows. */
export interface GrowingPlace {
  readonly country: Country;
  readonly region: Region;
}

/** What a hectare of a crop gives there in a usual year, in kilograms. */
export function usualYield({ country, region }: GrowingPlace, crop: CropName): number {
  return region.yields?.[crop] ?? country.yields[crop] ?? 0;
}

/** The same on a field with water beside the rain. */
export function wateredYield(place: GrowingPlace, crop: CropName, season: string): number {
  const usual = usualYield(place, crop);
  const growing = place.region.grows.find(([name, when]) => name === crop && when === season);
  // Where nothing grows without water, the usual yield is one with it.
  return growing?.[3] === 1 ? usual : usual * 1.15;
}
