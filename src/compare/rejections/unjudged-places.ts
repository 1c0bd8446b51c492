import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import { compareTexts, varyingOtherwise, varyingPositionsIn } from "./compare-texts.js";
import { type Contrast, chooseBaseline } from "./contrasts.js";
import { independentPlaces } from "./independent-places.js";
import { type DifferingPlace, placeId, type ResponsePlace } from "./places.js";
import { type CauseCell, findVaryingPlaces, type PlaceRow, type RejectionTable } from "./rejection-table.js";
import { findRepeatedPositions } from "./repeated-words.js";

// A cause with a contrast at a place is judged there: it differs. Any other cause can agree with its baseline, or its texts
// vary in a way that could hide what reveals the cause. Then the place is unjudged for the cause, because
//   - the number of words varies, so that nobody can tell which words belong together
//   - there was a contrast, but not in each turn
//   - a word that varies comes again, such as the name of a node: the two causes may agree only because both met both nodes.
//     Ids and times are new in each response, and hide nothing

/** Where causes could not be compared with their baseline, or the comparison shows nothing. */
export interface UnjudgedPlace {
  readonly place: ResponsePlace;
  readonly why: string;
  readonly causes: readonly PromisedOutcomeId[];
}

/** Why causes are unjudged at a place. */
type Reasons = ReadonlyMap<PromisedOutcomeId, string>;

/** Returns the places that are unjudged for a cause, once for each reason. */
export function findUnjudgedPlaces(table: RejectionTable, contrasts: readonly Contrast[]): UnjudgedPlace[] {
  const varyingPlaces = findVaryingPlaces(table);
  const varyingIds = new Set(varyingPlaces.map(({ place }) => placeId(place)));
  const unjudged: UnjudgedPlace[] = [];
  for (const row of table.rows) {
    const id = placeId(row.place);
    if (!varyingIds.has(id)) continue;
    const contrastsHere = contrasts.filter(({ place }) => placeId(place) === id);
    const differing = new Set(contrastsHere.map(({ cause }) => cause));
    unjudged.push(...groupByReason(row, findReasons(row, differing)));
  }
  return onlyIndependent(unjudged, varyingPlaces);
}

/** Returns a place once for each reason, with all causes that have this reason. */
function groupByReason({ place, cells }: PlaceRow, reasons: Reasons): UnjudgedPlace[] {
  const unjudged: UnjudgedPlace[] = [];
  for (const why of new Set(reasons.values())) {
    const ofReason = cells.filter(({ cause }) => reasons.get(cause) === why);
    unjudged.push({ place, why, causes: ofReason.map(({ cause }) => cause) });
  }
  return unjudged;
}

/** Leaves out the unjudged places that vary only because another place does. */
function onlyIndependent(
  unjudged: readonly UnjudgedPlace[],
  varyingPlaces: readonly DifferingPlace[],
): UnjudgedPlace[] {
  // If all members are judged, an unjudged body does not vary because of them, but by itself, for example in its spaces.
  const isMemberUnjudged = unjudged.some(({ place }) => place.kind === "member");
  const withoutJudged = varyingPlaces.filter(({ place }) => place.kind !== "member" || isMemberUnjudged);
  const independentIds = new Set(independentPlaces(withoutJudged).map(({ place }) => placeId(place)));
  return unjudged.filter(({ place }) => independentIds.has(placeId(place)));
}

/** Returns why causes are unjudged at a place; `differing` are those with a contrast there. */
function findReasons(row: PlaceRow, differing: ReadonlySet<PromisedOutcomeId>): Reasons {
  const reasons = new Map<PromisedOutcomeId, string>();
  const baseline = chooseBaseline(row);
  if (baseline === undefined) return reasons;

  const repeated = findRepeatedPositions(row);
  for (const cell of row.cells) {
    if (cell === baseline || differing.has(cell.cause)) continue;
    const judgment = judgeCause(cell, baseline, repeated);
    if (judgment.kind === "unjudged") reasons.set(cell.cause, judgment.why);
  }

  // The baseline is judged if one of the other causes could be compared with it. Otherwise, it has the reason of the first.
  const [firstReason] = reasons.values();
  const countOfOthers = row.cells.length - 1;
  if (firstReason !== undefined && reasons.size === countOfOthers) reasons.set(baseline.cause, firstReason);
  return reasons;
}

type CauseJudgment = { readonly kind: "agrees" } | { readonly kind: "unjudged"; readonly why: string };

/** Judges a cause without a contrast; `repeated` are the positions where words came again at this place. */
function judgeCause(cell: CauseCell, baseline: CauseCell, repeated: ReadonlySet<string>): CauseJudgment {
  const comparison = compareTexts(cell.texts, baseline.texts);
  switch (comparison.kind) {
    case "unjudged":
      return { kind: "unjudged", why: comparison.why };
    case "differs":
      // A contrast that was not there in each turn.
      return { kind: "unjudged", why: varyingOtherwise };
    case "agrees": {
      // They agree without the words that vary.
      const varying = [...varyingPositionsIn(cell.texts), ...varyingPositionsIn(baseline.texts)];
      const isAnyRepeated = varying.some((position) => repeated.has(position));
      return isAnyRepeated ? { kind: "unjudged", why: varyingOtherwise } : { kind: "agrees" };
    }
  }
}
