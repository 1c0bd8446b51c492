import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { compareTexts, type TextAtPlace } from "./compare-texts.js";

/** The texts of a cause at a place. */
export interface CauseCell {
  readonly cause: PromisedOutcomeId;
  /** In the order of the requests of the cause. */
  readonly texts: readonly TextAtPlace[];
}

/**
 * The causes to compare with, the best one first. An unknown key is another one each time: a balancer that chooses the node by
 * the key gives unknown keys all nodes, and each other key only one.
 */
export const baselineCauses: readonly PromisedOutcomeId[] = ["401.unknown", "401.malformed", "401.missing"];

/**
 * Returns the first cell, or the second one if the first one is odd: of the texts `A`, `B` and `B`, the second. `undefined`
 * only without cells.
 */
export function chooseBaseline([first, second, ...later]: readonly CauseCell[]): CauseCell | undefined {
  // Of two causes, nobody knows which is the odd one.
  if (first === undefined || second === undefined || later.length === 0) return first;

  const areOthersAlike = !later.some((cell) => isDifferent(cell, second));
  const isFirstOdd = areOthersAlike && [second, ...later].every((cell) => isDifferent(cell, first));
  return isFirstOdd ? second : first;
}

function isDifferent(left: CauseCell, right: CauseCell): boolean {
  return compareTexts(left.texts, right.texts).kind === "differs";
}
