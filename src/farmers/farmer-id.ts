import { type FarmerLocale, farmerLocales } from "../spec/farmer.js";
import { hexOf, mix32, randomStream } from "../spec/seed.js";

const rounds = 6;
const prefix = "farmer_";

/**
 * The opaque id of the farmer at an index; it differs for each seed and choice of locales.
 *
 * The index is one half of a 64-bit block, and the other half is zeros. The seed scrambles the block reversibly, so an
 * id leads back to its farmer without a list, and a guessed id is valid once in four billion.
 *
 * @example
 * farmerId(1, 0); // "farmer_" and 16 hex digits
 */
export function farmerId(seed: number, index: number, locales?: readonly FarmerLocale[]): string {
  let [left, right] = [0, index >>> 0];
  for (const key of roundKeys(seed, locales)) [left, right] = [right, (left ^ mix32(right ^ key)) >>> 0];
  return prefix + hexOf(left) + hexOf(right);
}

/** The index of the farmer with this id; `undefined` if no farmer of the seed has it. Never throws. */
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

/** A label that identifies a choice of locales; empty for all locales. */
export function choiceOf(locales: readonly FarmerLocale[] = farmerLocales): string {
  return locales.length === farmerLocales.length ? "" : `${locales.join(" ")} `;
}

function roundKeys(seed: number, locales?: readonly FarmerLocale[]): number[] {
  const draw = randomStream(seed, `${choiceOf(locales)}farmer.id`);
  return Array.from({ length: rounds }, draw);
}
