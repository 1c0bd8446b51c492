import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { compareTexts, splitWords, varyingOtherwise, varyingWordsIn } from "./compare-texts.js";
import { type Contrast, chooseBaseline } from "./contrasts.js";
import { type DifferingPlace, independentPlaces } from "./independent-places.js";
import { placeId, type ResponsePlace } from "./places.js";
import type { CauseCell, PlaceRow, RejectionTable } from "./rejection-table.js";
import { nameOfWord } from "./words.js";

/** Where causes could not be compared with their baseline, or the comparison shows nothing. */
export interface UnjudgedPlace {
  readonly place: ResponsePlace;
  readonly why: string;
  readonly causes: readonly PromisedOutcomeId[];
}

/** What comes of a cause at a place where it has no contrast. */
type PlaceJudgment = { readonly kind: "judged" } | { readonly kind: "not_judged"; readonly why: string };

/** A text with a time: several responses can have the same time, but none has an earlier one again. */
const withTime = /\d:\d\d:\d\d|\b\d{10}(?:\d{3})?\b/;

/** Returns the places whose text is not the same in all 401s. */
export function findVaryingPlaces({ rows }: RejectionTable): DifferingPlace[] {
  const varying: DifferingPlace[] = [];
  for (const { place, cells } of rows) {
    const texts = new Set(cells.flatMap((cell) => cell.texts));
    if (texts.size > 1) varying.push({ place, isMissing: texts.has(undefined) });
  }
  return varying;
}

/**
 * Returns the places where a cause could not be compared with its baseline, or where it agrees only without words that
 * vary. Ids and times may vary: no response has those of an earlier one. Where a cause has a contrast, it is judged.
 */
export function findUnjudgedPlaces(table: RejectionTable, contrasts: readonly Contrast[]): UnjudgedPlace[] {
  const varyingPlaces = findVaryingPlaces(table);
  const varyingIds = new Set(varyingPlaces.map(({ place }) => placeId(place)));
  const unjudged: UnjudgedPlace[] = [];
  for (const row of table.rows) {
    const id = placeId(row.place);
    if (!varyingIds.has(id)) continue;
    const contrastsHere = contrasts.filter(({ place }) => placeId(place) === id);
    const differing = new Set(contrastsHere.map(({ cause }) => cause));
    const whys = whysUnjudged(row, differing);

    // All causes with one reason are told together.
    for (const why of new Set(whys.values())) {
      const causes = table.causes.filter((cause) => whys.get(cause) === why);
      unjudged.push({ place: row.place, why, causes });
    }
  }

  // Without those that vary only because another one does. The body's text can vary although its members do not.
  const independent = new Set(independentPlaces(varyingPlaces).map(({ place }) => placeId(place)));
  const isMemberUnjudged = unjudged.some(({ place }) => place.kind === "member");
  return unjudged.filter(({ place }) => {
    return independent.has(placeId(place)) || (place.kind === "body" && !isMemberUnjudged);
  });
}

/** Returns the reasons of the causes that are not judged at a place; `differing` are those with a contrast there. */
function whysUnjudged(
  row: PlaceRow,
  differing: ReadonlySet<PromisedOutcomeId>,
): Map<PromisedOutcomeId, string> {
  const whys = new Map<PromisedOutcomeId, string>();
  const baseline = chooseBaseline(row);
  if (baseline === undefined) return whys;

  const repeated = findRepeatedWords(row);
  for (const cell of row.cells) {
    if (cell === baseline || differing.has(cell.cause)) continue;
    const judgment = judgeWithoutContrast(cell, baseline, repeated);
    if (judgment.kind === "not_judged") whys.set(cell.cause, judgment.why);
  }

  // The baseline itself was judged if one of the others was.
  const [firstWhy] = whys.values();
  if (firstWhy !== undefined && whys.size === row.cells.length - 1) whys.set(baseline.cause, firstWhy);
  return whys;
}

/** Whether a cause without a contrast agrees with its baseline; `repeated` are the names of the words that came again. */
function judgeWithoutContrast(
  cell: CauseCell,
  baseline: CauseCell,
  repeated: ReadonlySet<string>,
): PlaceJudgment {
  const comparison = compareTexts(cell.texts, baseline.texts);
  switch (comparison.kind) {
    case "nobody_can_tell":
      return { kind: "not_judged", why: comparison.why };
    case "differs":
      // A contrast that was not there in each turn.
      return { kind: "not_judged", why: varyingOtherwise };
    case "agrees": {
      // They agree without the words that vary. Such a word shows nothing only if it is new in each response.
      const varying = [...varyingWordsIn(cell.texts), ...varyingWordsIn(baseline.texts)];
      if (varying.some((word) => repeated.has(word))) return { kind: "not_judged", why: varyingOtherwise };
      return { kind: "judged" };
    }
  }
}

/** Returns the names of the words at a place that are not new in each response; a time may be that of the response before. */
function findRepeatedWords(row: PlaceRow): Set<string> {
  const latestByName = new Map<string, string>();
  const seenWords = new Set<string>();
  const repeated = new Set<string>();
  for (const text of textsInOrder(row)) {
    const words = splitWords(text);
    const hasTime = withTime.test(text);
    for (const [index, word] of words.entries()) {
      const name = nameOfWord(index, words);
      const namedWord = `${name}: ${word}`;
      const isSameTime = hasTime && latestByName.get(name) === word;
      if (seenWords.has(namedWord) && !isSameTime) repeated.add(name);
      seenWords.add(namedWord);
      latestByName.set(name, word);
    }
  }
  return repeated;
}

/** Returns the texts at a place in the order of their requests. */
function textsInOrder({ cells }: PlaceRow): string[] {
  const textsByRequest: (string | undefined)[] = [];
  for (const { texts, requestNumbers } of cells) {
    for (const [index, requestNumber] of requestNumbers.entries()) {
      textsByRequest[requestNumber] = texts[index];
    }
  }
  return textsByRequest.filter((text) => text !== undefined);
}
