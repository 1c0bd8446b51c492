import { mix32, type RandomStream, randomStream } from "../../domain/seed.js";
import type { Variant, VariationRow } from "./row.js";

/** Chooses a variant of each row, with draws for what the variant itself leaves open. */
export type Select = (row: VariationRow) => { readonly variant: Variant; readonly draw: RandomStream };

/**
 * What is chosen for the answer to the request of a number. It depends on the seed, the number and the row alone.
 *
 * Each row draws for itself, so that a new row changes no other.
 */
export function selector(seed: number, number: number): Select {
  const start = randomStream(seed, "variation", String(number))();
  return (row) => {
    let value = mix32(start ^ saltOf(row.id));
    const variant = row.variants[Math.floor((value / 4_294_967_296) * row.variants.length)] as Variant;
    const draw = () => {
      value = mix32(value + 0x9e3779b9);
      return value;
    };
    return { variant, draw };
  };
}

const salts = new Map<string, number>();

// A stream takes a hundred times as long as a mix, and there are some thirty rows.
function saltOf(id: string): number {
  let salt = salts.get(id);
  if (salt === undefined) {
    salt = randomStream(0, "variation.row", id)();
    salts.set(id, salt);
  }
  return salt;
}
