import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import { compareTexts, type TextAtPlace } from "./compare-texts.js";
import { placeId, type ResponsePlace } from "./places.js";
import type { CauseCell, PlaceRow, RejectionTable } from "./rejection-table.js";

/** A place where the 401s of a cause have other words than those of its baseline. */
export interface Contrast {
  readonly place: ResponsePlace;
  readonly cause: PromisedOutcomeId;
  readonly baseline: PromisedOutcomeId;
  /** The texts of both at the place, with `…` for words that vary. */
  readonly textOfCause: TextAtPlace;
  readonly textOfBaseline: TextAtPlace;
  /** Whether one of the two does not have the place. */
  readonly isMissing: boolean;
}

/** Compares each cause with the baseline at each place. */
export function findContrasts({ rows }: RejectionTable): Contrast[] {
  const contrasts: Contrast[] = [];
  for (const row of rows) {
    const baseline = chooseBaseline(row);
    if (baseline === undefined) continue;
    for (const cell of row.cells) {
      if (cell === baseline) continue;
      const contrast = contrastAt(row.place, cell, baseline);
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
function contrastAt(place: ResponsePlace, ofCause: CauseCell, ofBaseline: CauseCell): Contrast | undefined {
  const comparison = compareTexts(ofCause.texts, ofBaseline.texts);
  if (comparison.kind !== "differs") return undefined;
  const { textOfCause, textOfBaseline } = comparison;
  return {
    place,
    cause: ofCause.cause,
    baseline: ofBaseline.cause,
    textOfCause,
    textOfBaseline,
    isMissing: textOfCause === undefined || textOfBaseline === undefined,
  };
}

/**
 * Returns the first cause of a row, unless it is the odd one: all others are alike, and each differs from it. Then the
 * second one is the baseline.
 */
export function chooseBaseline({ cells }: PlaceRow): CauseCell | undefined {
  const [first, second, ...later] = cells;
  // Of two causes, nobody knows which is the odd one.
  if (first === undefined || second === undefined || later.length === 0) return first;

  const isSecondLikeLater = !later.some((cell) => isDifferent(cell, second));
  const isFirstOdd = [second, ...later].every((cell) => isDifferent(cell, first));
  return isSecondLikeLater && isFirstOdd ? second : first;
}

function isDifferent(left: CauseCell, right: CauseCell): boolean {
  return compareTexts(left.texts, right.texts).kind === "differs";
}
