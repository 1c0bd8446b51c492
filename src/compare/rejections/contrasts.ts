import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import { compareTexts, type TextAtPlace } from "./compare-texts.js";
import { placeId, type ResponsePlace } from "./places.js";
import type { CauseCell, PlaceRow, RejectionTable } from "./rejection-table.js";

/** A place where the 401s of a cause have other words than those of its baseline. */
export interface Contrast {
  readonly place: ResponsePlace;
  readonly cause: PromisedOutcomeId;
  readonly baseline: PromisedOutcomeId;
  /** The texts of the two there, with `…` for words that vary. */
  readonly found: TextAtPlace;
  readonly expected: TextAtPlace;
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
      if (cell !== baseline) contrasts.push(...contrastOf(row.place, cell, baseline));
    }
  }
  return contrasts;
}

/** Returns the contrasts that are still there, with the 401s that came since. The baseline of each stays. */
export function findAgain(contrasts: readonly Contrast[], { rows }: RejectionTable): Contrast[] {
  const rowsById = new Map(rows.map((row) => [placeId(row.place), row]));
  const again: Contrast[] = [];
  for (const { place, cause, baseline } of contrasts) {
    const cells = rowsById.get(placeId(place))?.cells ?? [];
    const cellOfCause = cells.find((cell) => cell.cause === cause);
    const cellOfBaseline = cells.find((cell) => cell.cause === baseline);
    if (cellOfCause === undefined || cellOfBaseline === undefined) continue;
    again.push(...contrastOf(place, cellOfCause, cellOfBaseline));
  }
  return again;
}

/** The contrast of two causes at a place; none if they agree, or nobody can tell. */
function contrastOf(place: ResponsePlace, ofCause: CauseCell, ofBaseline: CauseCell): Contrast[] {
  const comparison = compareTexts(ofCause.texts, ofBaseline.texts);
  if (comparison.kind !== "differs") return [];
  const { found, expected } = comparison;
  const isMissing = found === undefined || expected === undefined;
  return [{ place, cause: ofCause.cause, baseline: ofBaseline.cause, found, expected, isMissing }];
}

/**
 * Returns the first cause of a row, unless it is the odd one: all others are alike, and each differs from it. Then the
 * second one is the baseline.
 */
export function chooseBaseline({ cells }: PlaceRow): CauseCell | undefined {
  const [first, second, ...others] = cells;
  // Of two causes, nobody knows which one is the odd one.
  if (first === undefined || second === undefined || others.length === 0) return first;

  const areOthersAlike = others.every((other) => !isDifferent(other, second));
  const isFirstOdd = [second, ...others].every((other) => isDifferent(other, first));
  return areOthersAlike && isFirstOdd ? second : first;
}

function isDifferent(one: CauseCell, other: CauseCell): boolean {
  return compareTexts(one.texts, other.texts).kind === "differs";
}
