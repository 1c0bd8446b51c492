import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import type { CauseCell } from "./baselines.js";
import { compareTexts, type TextAtPlace } from "./compare-texts.js";
import { placeId, type ResponsePlace } from "./places.js";
import type { RejectionTable } from "./rejection-table.js";

/** A place where the 401s of a cause have other words than those of its baseline. */
export interface Contrast {
  readonly place: ResponsePlace;
  readonly cause: PromisedOutcomeId;
  readonly baseline: PromisedOutcomeId;
  /** The texts of both at the place, with `…` for words that vary. */
  readonly textOfCause: TextAtPlace;
  readonly textOfBaseline: TextAtPlace;
}

/** Compares each cause with the baseline at each place. */
export function findContrasts({ rows }: RejectionTable): Contrast[] {
  const contrasts: Contrast[] = [];
  for (const { place, cells, baseline } of rows) {
    for (const cell of cells) {
      if (cell === baseline) continue;
      const contrast = contrastAt(place, cell, baseline);
      if (contrast !== undefined) contrasts.push(contrast);
    }
  }
  return contrasts;
}

/** Returns the contrasts that are still there, with the 401s that came since. The baseline of each stays. */
export function findRemaining(contrasts: readonly Contrast[], { rows }: RejectionTable): Contrast[] {
  const rowsById = new Map(rows.map((row) => [placeId(row.place), row]));
  const remaining: Contrast[] = [];
  for (const { place, cause, baseline } of contrasts) {
    const cells = rowsById.get(placeId(place))?.cells ?? [];
    const cellOfCause = cells.find((cell) => cell.cause === cause);
    const cellOfBaseline = cells.find((cell) => cell.cause === baseline);
    if (cellOfCause === undefined || cellOfBaseline === undefined) continue;
    const contrast = contrastAt(place, cellOfCause, cellOfBaseline);
    if (contrast !== undefined) remaining.push(contrast);
  }
  return remaining;
}

/** Returns the contrast of two causes at a place; `undefined` if they agree, or nobody can tell. */
function contrastAt(place: ResponsePlace, cell: CauseCell, baseline: CauseCell): Contrast | undefined {
  const comparison = compareTexts(cell.texts, baseline.texts);
  if (comparison.kind !== "differs") return undefined;
  const { textOfCause, textOfBaseline } = comparison;
  return { place, cause: cell.cause, baseline: baseline.cause, textOfCause, textOfBaseline };
}
