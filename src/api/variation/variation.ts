import type { Assumptions } from "../../domain/assumptions.js";
import type { World } from "../../sandbox/world.js";
import { type Select, selector } from "./chooser.js";
import type { Variant, VariationRow } from "./row.js";
import { variationTable } from "./table.js";

/** How the answer to one request differs from that of `minimal`. */
export interface Variation {
  /** What is assumed for this answer. */
  readonly assumptions: Assumptions;
  readonly requestId: string;
  /** The rows that have a say, with what they chose. */
  readonly chosen: readonly Chosen[];
}

/** A row and what it chose. */
export type Chosen = ReturnType<Select> & { readonly row: VariationRow };

/**
 * The variation of the request of a number; never of what the request was, or why its key is rejected (R14).
 *
 * What the scenario or a change of assumptions gave is fixed: its rows have no say.
 */
export function variationOf(world: World, number: number): Variation {
  return variationFrom(world, number, selector(world.seed, number));
}

/** The same with another way to choose. */
export function variationFrom(
  { assumptions, givenAssumptions, requestIds }: World,
  number: number,
  choose: Select,
): Variation {
  const chosen = variationTable
    .filter(({ fixedBy }) => fixedBy === undefined || givenAssumptions[fixedBy] === undefined)
    .map((row) => ({ row, ...choose(row) }));
  const variants: readonly Variant[] = chosen.map(({ variant }) => variant);
  return {
    assumptions: Object.assign({}, assumptions, ...variants.map(({ assume }) => assume)),
    requestId: variants.reduce((id, { requestId }) => requestId?.(id) ?? id, requestIds.idOf(number)),
    chosen,
  };
}
