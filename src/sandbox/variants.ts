import { randomStream } from "../rules/seed.js";

/** A row of variants on the responses with a status; without `status`, on all responses. */
export interface RowChoice {
  readonly row: string;
  readonly status?: number;
}

/** A variant of a row of the variation table, on the responses of one status. */
export interface VariedPoint {
  readonly row: string;
  readonly variant: string;
  readonly status: number;
}

/** What decides which variants responses have. */
export interface VariantRules {
  readonly seed: number;
  readonly rows?: readonly RowChoice[] | undefined;
  /** How many variants after that of the seed. Default: 0. */
  readonly shift?: number | undefined;
}

/** Something open, with the variants that it can have. */
export interface RowOfVariants<Variant> {
  readonly id: string;
  /** Its own random number: see `saltOf`. */
  readonly salt: number;
  /** The first one is what `minimal` does. */
  readonly variants: readonly [Variant, ...Variant[]];
}

/** A random number that only the id of a row decides: with it, rows choose their variants independently of each other. */
export function saltOf(rowId: string): number {
  return randomStream(0, "variation.row", rowId)();
}

/**
 * The variant of a row in all responses with a status, as if one service had sent them.
 *
 * Seeds go through the variants in turn: with the variants a, b and c, the seeds 0 to 4 may have b, c, a, b and c. The salt of
 * the row decides where they begin. A shift goes on from there: by 1, the seed 0 has c.
 */
export function variantOn<Variant>(
  status: number,
  row: RowOfVariants<Variant>,
  rules: VariantRules,
): Variant {
  const { variants } = row;
  const { seed, shift = 0, rows } = rules;
  if (rows !== undefined) {
    const isVaried = rows.some((choice) => choice.row === row.id && (choice.status ?? status) === status);
    if (!isVaried) return variants[0];
  }

  const count = variants.length;
  // Two remainders, because a seed may be the largest integer: its sum with a salt would lose digits.
  const begin = row.salt % count;
  const stepsOfSeed = seed % count;
  const index = (begin + stepsOfSeed + shift) % count;
  return variants[index] as Variant; // the index is below the count
}
