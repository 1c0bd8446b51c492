import type { Country } from "./countries.js";
import { type CropName, crops } from "./crops.js";
import { rounded } from "./exact-math.js";
import type { Money } from "./farmer.js";
import { type GrowingPlace, usualYield } from "./yields.js";

/** The amount in the country's currency, rounded to its digits. */
export function moneyOf(country: Country, amount: number): Money {
  return { amount: rounded(amount, country.digits), currency: country.currency };
}

/** The number with its two first digits only, as people choose sums. */
export function roundSum(amount: number): number {
  let step = 1;
  while (amount / step >= 100) step *= 10;
  return Math.round(amount / step) * step;
}

/** What a hectare of a crop is insured for: six tenths of what a usual harvest is worth. */
export function insuredValuePerHectare(place: GrowingPlace, crop: CropName): number {
  return roundSum(usualYield(place, crop) * crops[crop].dollarsPerKg * place.country.unitsPerDollar * 0.6);
}
