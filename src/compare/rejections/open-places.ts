import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { compareTexts, type OpenReason } from "./compare-texts.js";
import { findConsequences } from "./consequences.js";
import type { Contrast } from "./contrasts.js";
import { placeId, type ResponsePlace } from "./places.js";
import type { CauseCell, PlaceRow, RejectionTable } from "./rejection-table.js";
import { isAnyWordRepeated } from "./repeated-words.js";

// A cause with a contrast at a place is judged there: it differs. Any other cause can agree with its baseline, or its texts
// vary in a way that could hide what reveals the cause. Then the place is open for the cause, because
//   - the number of words varies
//   - there was a contrast, but not in each turn
//   - a word that varies comes again, such as the name of a node: the two causes may agree only because both met both nodes.
//     Ids and times are new in each response, and hide nothing

/** A place where nobody can tell whether the 401s of some causes are alike. */
export interface OpenPlace {
  readonly place: ResponsePlace;
  readonly reason: OpenReason;
  readonly causes: readonly PromisedOutcomeId[];
}

/** Returns the places that are open for a cause, once for each reason. */
export function findOpenPlaces({ rows }: RejectionTable, contrasts: readonly Contrast[]): OpenPlace[] {
  const openPlaces: OpenPlace[] = [];
  for (const row of rows) openPlaces.push(...findOpenPlacesOfRow(row, contrasts));

  // A place may be open only because another one is. The body need not be open: its length varies with each id in it.
  const openIds = new Set(openPlaces.map(({ place }) => placeId(place)));
  const openRowsAndBody = rows.filter(({ place }) => place.kind === "body" || openIds.has(placeId(place)));
  const consequences = findConsequences(openRowsAndBody);
  return openPlaces.filter(({ place }) => !consequences.has(placeId(place)));
}

/** Returns the place of a row once for each reason, with the causes for which it is open. */
function findOpenPlacesOfRow(row: PlaceRow, contrasts: readonly Contrast[]): OpenPlace[] {
  const id = placeId(row.place);
  const contrastsHere = contrasts.filter(({ place }) => placeId(place) === id);
  const differingCauses = new Set(contrastsHere.map(({ cause }) => cause));

  const reasonByCause = new Map<PromisedOutcomeId, OpenReason>();
  for (const cell of row.cells) {
    if (cell === row.baseline || differingCauses.has(cell.cause)) continue;
    const judgment = judgeCell(cell, row);
    if (judgment.kind === "open") reasonByCause.set(cell.cause, judgment.reason);
  }

  // If the place is open for all others, nothing was compared with the baseline: it is open, too.
  const [firstReason] = reasonByCause.values();
  const countOfOthers = row.cells.length - 1;
  if (firstReason !== undefined && reasonByCause.size === countOfOthers) {
    reasonByCause.set(row.baseline.cause, firstReason);
  }

  const openPlaces: OpenPlace[] = [];
  for (const reason of new Set(reasonByCause.values())) {
    const cells = row.cells.filter(({ cause }) => reasonByCause.get(cause) === reason);
    openPlaces.push({ place: row.place, reason, causes: cells.map(({ cause }) => cause) });
  }
  return openPlaces;
}

type CellJudgment = { readonly kind: "agrees" } | { readonly kind: "open"; readonly reason: OpenReason };

/** Judges a cause without a contrast. */
function judgeCell(cell: CauseCell, { baseline, textsInOrder }: PlaceRow): CellJudgment {
  const comparison = compareTexts(cell.texts, baseline.texts);
  switch (comparison.kind) {
    case "open":
      return comparison;
    case "differs":
      // A contrast that was not there in each turn.
      return { kind: "open", reason: "varies_otherwise" };
    case "agrees":
      if (isAnyWordRepeated(textsInOrder, comparison.varying)) {
        return { kind: "open", reason: "varies_otherwise" };
      }
      return { kind: "agrees" };
  }
}
