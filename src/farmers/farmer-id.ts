import { farmerLocales } from "../rules/farmer-locales.js";
import { hexOf, mix32, randomStream } from "../rules/seed.js";
import type { FarmerLocale } from "./tables.js";

// The id of a farmer is its index, encrypted with keys from the seed. Ids look random, no two farmers have the same one, and an
// id leads back to its index without a table.
//
// The cipher is a Feistel network: a block of two halves passes several rounds. A round mixes one half into the other, with a
// key of its own, and exchanges them. The same mixing undoes a round, so that the rounds in reverse order decrypt the block.
//
// A block has 64 bits: 32 zeros and the index. A guessed id is rarely valid, because it decrypts to something else than zeros.

const prefix = "farmer_";
const rounds = 6;

/** Encrypts the index of a farmer: `farmer_` and 16 hex digits. */
export function farmerId(seed: number, index: number, locales?: readonly FarmerLocale[]): string {
  let left = 0;
  let right = index >>> 0;
  for (const key of roundKeys(seed, locales)) {
    const mixed = (left ^ mix32(right ^ key)) >>> 0;
    left = right;
    right = mixed;
  }
  return prefix + hexOf(left) + hexOf(right);
}

/** Decrypts the id of a farmer; `undefined` for a text that is no id of this seed and these locales. */
export function indexOfFarmer(
  { seed, locales }: { readonly seed: number; readonly locales?: readonly FarmerLocale[] },
  id: string,
): number | undefined {
  const digits = id.slice(prefix.length);
  if (!id.startsWith(prefix) || !/^[0-9a-f]{16}$/.test(digits)) return undefined;

  let left = Number.parseInt(digits.slice(0, 8), 16);
  let right = Number.parseInt(digits.slice(8), 16);
  for (const key of roundKeys(seed, locales).reverse()) {
    const unmixed = (right ^ mix32(left ^ key)) >>> 0;
    right = left;
    left = unmixed;
  }
  const hasZeros = left === 0;
  return hasZeros ? right : undefined;
}

/** The key of each round. */
function roundKeys(seed: number, locales?: readonly FarmerLocale[]): number[] {
  const draw = randomStream(seed, `${localesLabel(locales)}farmer.id`);
  return Array.from({ length: rounds }, draw);
}

/** The label of random streams that differ with the choice of locales; empty for all of them. */
export function localesLabel(locales: readonly FarmerLocale[] = farmerLocales): string {
  return locales.length === farmerLocales.length ? "" : `${locales.join(" ")} `;
}
