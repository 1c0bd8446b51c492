import type { Assumptions } from "../../domain/assumptions.js";
import { mix32, type RandomStream, randomStream } from "../../domain/seed.js";
import type { World } from "../../sandbox/world.js";
import { type ApiAnswer, utf8Length } from "../messages.js";
import { choiceRows, contextRows, errorRows } from "./answer-rows.js";
import type { Draft, Variant, VariationRow } from "./variant.js";
import { headerRows, textRows } from "./wire-rows.js";

/**
 * Everything that the profile `varied` varies: one row for each thing that the specification leaves open.
 *
 * The rows apply in this order: what is said, how it is written down, what is sent with it.
 */
export const variationTable: readonly VariationRow[] = [
  ...choiceRows,
  ...contextRows,
  ...errorRows,
  ...textRows,
  ...headerRows,
];

/** Selects a variant of each row, with a random stream for what the variant itself leaves open. */
export type Select = (row: VariationRow) => { readonly variant: Variant; readonly random: RandomStream };

/**
 * The selector for the answer to the request of a number. It depends on the seed, the number and the row alone.
 *
 * Each row has its own stream, so that a new row changes no other.
 */
export function selector(seed: number, number: number): Select {
  const start = randomStream(seed, "variation", String(number))();
  return (row) => {
    let value = mix32(start ^ saltOf(row.id));
    const variant = row.variants[Math.floor((value / 4_294_967_296) * row.variants.length)] as Variant;
    const random = () => {
      value = mix32(value + 0x9e3779b9);
      return value;
    };
    return { variant, random };
  };
}

const salts = new Map<string, number>();

// Remembered: a stream takes a hundred times as long as a mix, and there are some thirty rows.
function saltOf(id: string): number {
  let salt = salts.get(id);
  if (salt === undefined) {
    salt = randomStream(0, "variation.row", id)();
    salts.set(id, salt);
  }
  return salt;
}

/** The difference of one answer from that of `minimal`. */
export interface Variation {
  /** The assumptions for this answer. */
  readonly assumptions: Assumptions;
  readonly requestId: string;
  /** The rows that apply, with their selected variants. */
  readonly selected: readonly (ReturnType<Select> & { readonly row: VariationRow })[];
}

/**
 * The variation of the request of a number; never of what the request was, or why its key is rejected (R14).
 *
 * Assumptions that the scenario or a change of assumptions gives are fixed: their rows do not apply.
 */
export function variationOf(
  { assumptions, givenAssumptions, requestIds, seed }: World,
  number: number,
  select: Select = selector(seed, number),
): Variation {
  const selected = variationTable
    .filter(({ fixedBy }) => fixedBy === undefined || givenAssumptions[fixedBy] === undefined)
    .map((row) => ({ row, ...select(row) }));
  const variants: readonly Variant[] = selected.map(({ variant }) => variant);
  return {
    assumptions: Object.assign({}, assumptions, ...variants.map(({ assume }) => assume)),
    requestId: variants.reduce((id, { requestId }) => requestId?.(id) ?? id, requestIds.idOf(number)),
    selected,
  };
}

/**
 * The answer with everything varied that its status leaves open. The answer must be one made from the variation's
 * assumptions; of a success that is not the key's context, the members stay as they are.
 */
export function vary(
  { status, headers, body }: ApiAnswer,
  { selected }: Variation,
  { isContext = false }: { readonly isContext?: boolean } = {},
): ApiAnswer {
  const draft: Draft = { status, body: JSON.parse(body), text: "", headers: pairsOf(headers) };
  for (const { row, variant, random } of selected) {
    if (variant.change === undefined || !row.statuses.includes(status)) continue;
    if (isContext || !contextRows.includes(row)) variant.change(draft, random);
  }
  for (const header of draft.headers) {
    if (header[0].toLowerCase() === "content-length") header[1] = String(utf8Length(draft.text));
  }
  return { status, headers: draft.headers.flat(), body: draft.text };
}

function pairsOf(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] as string, flat[i + 1] as string]);
  return pairs;
}
