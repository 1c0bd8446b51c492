import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import type { CauseCell } from "./baselines.js";
import { compareTexts } from "./compare-texts.js";
import { type DifferingPlace, findConsequences } from "./consequences.js";
import type { Contrast } from "./contrasts.js";
import { placeId, type ResponsePlace } from "./places.js";
import type { PlaceRow, RejectionTable } from "./rejection-table.js";
import { isAnyWordRepeated } from "./repeated-words.js";

/**
 * What the 401s of a cause show at a place, next to those of its baseline:
 * - `differs`: there is a contrast in each turn
 * - `agrees`: the words are the same, but for those that are new in each response, such as ids and times, which hide nothing
 * - `open`: nobody can tell, since the texts vary in another way, which could hide what reveals the cause:
 *     - the number of words varies
 *     - there was a contrast, but not in each turn
 *     - a word that varies comes again, such as the name of a node: the two causes may agree only because both met both nodes
 */
type CauseJudgment = "differs" | "agrees" | "open";

/** A place where the 401s are not all the same, with a judgment for each cause. */
interface JudgedPlace extends DifferingPlace {
  readonly judgments: ReadonlyMap<PromisedOutcomeId, CauseJudgment>;
}

/** A place where nobody can tell whether the 401s of some causes are alike. */
export interface OpenPlace {
  readonly place: ResponsePlace;
  readonly causes: readonly PromisedOutcomeId[];
}

/** Judges each cause at each place of the table; `contrasts` are those that were there in each turn. */
export function judgePlaces({ rows }: RejectionTable, contrasts: readonly Contrast[]): JudgedPlace[] {
  return rows.map((row) => {
    const { place, texts } = row;
    const contrastsHere = contrasts.filter((contrast) => placeId(contrast.place) === placeId(place));
    return { place, texts, judgments: judgeCauses(row, contrastsHere) };
  });
}

function judgeCauses(
  row: PlaceRow,
  contrastsHere: readonly Contrast[],
): Map<PromisedOutcomeId, CauseJudgment> {
  const differingCauses = new Set(contrastsHere.map(({ cause }) => cause));
  const judgments = new Map<PromisedOutcomeId, CauseJudgment>();
  for (const cell of row.cells) {
    if (cell === row.baseline) judgments.set(cell.cause, "agrees");
    else if (differingCauses.has(cell.cause)) judgments.set(cell.cause, "differs");
    else judgments.set(cell.cause, judgeWithoutContrast(cell, row));
  }

  // If the place is open for all others, nothing was compared with the baseline: it is open, too.
  const others = row.cells.filter((cell) => cell !== row.baseline);
  const isOpenForOthers = others.every(({ cause }) => judgments.get(cause) === "open");
  if (isOpenForOthers) judgments.set(row.baseline.cause, "open");
  return judgments;
}

function judgeWithoutContrast(cell: CauseCell, { baseline, texts }: PlaceRow): CauseJudgment {
  const comparison = compareTexts(cell.texts, baseline.texts);
  switch (comparison.kind) {
    case "open":
      return "open";
    case "differs":
      // A contrast that was not there in each turn.
      return "open";
    case "agrees":
      return isAnyWordRepeated(texts, comparison.varying) ? "open" : "agrees";
  }
}

/** Returns the places that are open for a cause, without those that are open only because another one is. */
export function listOpenPlaces(judgedPlaces: readonly JudgedPlace[]): OpenPlace[] {
  // The body need not be open: its length varies with each id in it.
  const openPlacesAndBody = judgedPlaces.filter((judged) => judged.place.kind === "body" || isOpen(judged));
  const consequences = findConsequences(openPlacesAndBody);
  const openPlaces: OpenPlace[] = [];
  for (const judged of judgedPlaces) {
    const { place, judgments } = judged;
    if (!isOpen(judged) || consequences.has(placeId(place))) continue;
    const causes = [...judgments.keys()].filter((cause) => judgments.get(cause) === "open");
    openPlaces.push({ place, causes });
  }
  return openPlaces;
}

function isOpen({ judgments }: JudgedPlace): boolean {
  return [...judgments.values()].includes("open");
}

/** Returns the places where all causes agree, without those that vary only because another one does. */
export function listAgreeingPlaces(judgedPlaces: readonly JudgedPlace[]): ResponsePlace[] {
  const consequences = findConsequences(judgedPlaces);
  const agreeing: ResponsePlace[] = [];
  for (const { place, judgments } of judgedPlaces) {
    const isAgreeing = [...judgments.values()].every((judgment) => judgment === "agrees");
    if (isAgreeing && !consequences.has(placeId(place))) agreeing.push(place);
  }
  return agreeing;
}
