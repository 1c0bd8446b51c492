import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { compareTexts, wordsComeAgain } from "./compare-texts.js";
import { findConsequences } from "./consequences.js";
import type { Contrast } from "./contrasts.js";
import { placeId, type ResponsePlace } from "./places.js";
import type { CauseCell, PlaceRow, RejectionTable } from "./rejection-table.js";
import { isAnyWordRepeated } from "./repeated-words.js";

// A cause with a contrast at a place is judged there: it differs. Any other cause can agree with its baseline, or its texts
// vary in a way that could hide what reveals the cause. Then the place is open for the cause, because
//   - the number of words varies, so that nobody can tell which words belong together
//   - there was a contrast, but not in each turn
//   - a word that varies comes again, such as the name of a node: the two causes may agree only because both met both nodes.
//     Ids and times are new in each response, and hide nothing

/** A place where nobody can tell whether the 401s of some causes are alike. */
export interface OpenPlace {
  readonly place: ResponsePlace;
  readonly why: string;
  readonly causes: readonly PromisedOutcomeId[];
}

/** Returns the places that are open for a cause, once for each reason. */
export function findOpenPlaces({ rows }: RejectionTable, contrasts: readonly Contrast[]): OpenPlace[] {
  const openPlaces: OpenPlace[] = [];
  for (const row of rows) openPlaces.push(...findOpenCauses(row, contrasts));

  // A place may be open only because another one varies. The members of the body are such reasons only if they are open
  // themselves: if all members are judged, an open body varies by itself, for example in its spaces.
  const openIds = new Set(openPlaces.map(({ place }) => placeId(place)));
  const rowsThatExplain = rows.filter(({ place }) => place.kind !== "member" || openIds.has(placeId(place)));
  const consequences = findConsequences(rowsThatExplain);
  return openPlaces.filter(({ place }) => !consequences.has(placeId(place)));
}

/** Returns the place of a row once for each reason, with the causes for which it is open. */
function findOpenCauses(row: PlaceRow, contrasts: readonly Contrast[]): OpenPlace[] {
  const id = placeId(row.place);
  const contrastsHere = contrasts.filter(({ place }) => placeId(place) === id);
  const differingCauses = new Set(contrastsHere.map(({ cause }) => cause));

  const whyByCause = new Map<PromisedOutcomeId, string>();
  for (const cell of row.cells) {
    if (cell === row.baseline || differingCauses.has(cell.cause)) continue;
    const judgment = judgeCell(cell, row);
    if (judgment.kind === "open") whyByCause.set(cell.cause, judgment.why);
  }

  // If the place is open for all others, nothing was compared with the baseline: it is open, too.
  const [firstWhy] = whyByCause.values();
  const countOfOthers = row.cells.length - 1;
  if (firstWhy !== undefined && whyByCause.size === countOfOthers) {
    whyByCause.set(row.baseline.cause, firstWhy);
  }

  const openPlaces: OpenPlace[] = [];
  for (const why of new Set(whyByCause.values())) {
    const cells = row.cells.filter(({ cause }) => whyByCause.get(cause) === why);
    openPlaces.push({ place: row.place, why, causes: cells.map(({ cause }) => cause) });
  }
  return openPlaces;
}

type CellJudgment = { readonly kind: "agrees" } | { readonly kind: "open"; readonly why: string };

/** Judges a cause without a contrast. */
function judgeCell(cell: CauseCell, { baseline, textsInOrder }: PlaceRow): CellJudgment {
  const comparison = compareTexts(cell.texts, baseline.texts);
  switch (comparison.kind) {
    case "open":
      return comparison;
    case "differs":
      // A contrast that was not there in each turn.
      return { kind: "open", why: wordsComeAgain };
    case "agrees":
      if (isAnyWordRepeated(textsInOrder, comparison.varying)) return { kind: "open", why: wordsComeAgain };
      return { kind: "agrees" };
  }
}
