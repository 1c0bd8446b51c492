import { randomStream } from "../rules/seed.js";

/** A row of variants, on the responses of one status or of all. */
export interface RowChoice {
  readonly row: string;
  readonly status?: number;
}

/** What decides which variants responses have. */
export interface VariantRules {
  readonly seed: number;
  /** The only rows that vary. Default: all. */
  readonly rows?: readonly RowChoice[] | undefined;
  /** How many variants after that of the seed. Default: 0. */
  readonly shift?: number | undefined;
}

/** The number that makes the choices of a row independent of those of other rows. */
export const saltOf = (row: string) => randomStream(0, "variation.row", row)();

/**
 * Returns which of `count` variants a row has on the responses with a status; 0 is what `minimal` does. All its responses
 * have the same one, as those of one service have: as many seeds in a row as the row has variants show them all.
 */
export function chooseVariant(
  { seed, rows, shift = 0 }: VariantRules,
  { id, salt }: { readonly id: string; readonly salt: number },
  status: number,
  count: number,
): number {
  const isVaried = rows?.some((one) => one.row === id && (one.status ?? status) === status) ?? true;
  return isVaried ? ((seed % count) + (salt % count) + shift) % count : 0;
}
