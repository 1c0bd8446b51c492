import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import { nameOfWord } from "../response/words.js";
import { compareTexts, splitWords, varyingOtherwise, varyingWordsIn } from "./compare-texts.js";
import { type Contrast, chooseBaseline } from "./contrasts.js";
import { type DifferingPlace, independentPlaces } from "./independent-places.js";
import { placeId, type ResponsePlace } from "./places.js";
import type { CauseCell, PlaceRow, RejectionTable } from "./rejection-table.js";

// A place is unjudged for a cause if its texts there vary in a way that could hide what reveals the cause. Each cause without
// a contrast at the place is compared with its baseline once more:
//   nobody can tell   unjudged: for example, the number of words varies
//   differs           unjudged: the contrast was there at the end, but not in each turn
//   agrees            judged, if each word that was left out is new in each response, as ids and times are. The name of a
//                     node comes again: two causes may agree only because both met both nodes. Then it is unjudged.

/** Where causes could not be compared with their baseline, or the comparison shows nothing. */
export interface UnjudgedPlace {
  readonly place: ResponsePlace;
  readonly why: string;
  readonly causes: readonly PromisedOutcomeId[];
}

/** What comes of a cause at a place where it has no contrast. */
type PlaceJudgment = { readonly kind: "judged" } | { readonly kind: "not_judged"; readonly why: string };

/**
 * A text with a time, as in `09:00:05` or in seconds or milliseconds since 1970, `1772442000`: responses that follow one
 * another can have the same time, but none has an earlier one again.
 */
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

/** Returns the places that are unjudged for a cause, each with its reasons. Where a cause has a contrast, it is judged. */
export function findUnjudgedPlaces(table: RejectionTable, contrasts: readonly Contrast[]): UnjudgedPlace[] {
  const varyingPlaces = findVaryingPlaces(table);
  const varyingIds = new Set(varyingPlaces.map(({ place }) => placeId(place)));
  const unjudged: UnjudgedPlace[] = [];
  for (const row of table.rows) {
    const id = placeId(row.place);
    if (!varyingIds.has(id)) continue;
    const contrastsHere = contrasts.filter(({ place }) => placeId(place) === id);
    unjudged.push(...unjudgedAt(row, contrastsHere));
  }
  return withoutDependent(unjudged, varyingPlaces);
}

/** Returns a place once for each reason, with all causes that have this reason. */
function unjudgedAt(row: PlaceRow, contrastsHere: readonly Contrast[]): UnjudgedPlace[] {
  const differing = new Set(contrastsHere.map(({ cause }) => cause));
  const whys = whysUnjudged(row, differing);
  const unjudged: UnjudgedPlace[] = [];
  for (const why of new Set(whys.values())) {
    const cells = row.cells.filter(({ cause }) => whys.get(cause) === why);
    unjudged.push({ place: row.place, why, causes: cells.map(({ cause }) => cause) });
  }
  return unjudged;
}

/** Leaves out the unjudged places that vary only because another place does. */
function withoutDependent(
  unjudged: readonly UnjudgedPlace[],
  varyingPlaces: readonly DifferingPlace[],
): UnjudgedPlace[] {
  const independentIds = new Set(independentPlaces(varyingPlaces).map(({ place }) => placeId(place)));
  // The body depends on its members. But if these are judged, an unjudged body varies by itself, for example in its spaces.
  const isMemberUnjudged = unjudged.some(({ place }) => place.kind === "member");
  return unjudged.filter(({ place }) => {
    if (place.kind === "body" && !isMemberUnjudged) return true;
    return independentIds.has(placeId(place));
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

  // The baseline was judged if one of the other causes was compared with it.
  const [firstWhy] = whys.values();
  const isNoOtherJudged = whys.size === row.cells.length - 1;
  if (firstWhy !== undefined && isNoOtherJudged) whys.set(baseline.cause, firstWhy);
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

/**
 * Returns the names of the words at a place that are not new in each response. For `id a`, `id b`, `id a`, that is the name
 * of the third word, and also of `id` and the space. A time may be that of the response before.
 */
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
      const isTimeOfResponseBefore = hasTime && latestByName.get(name) === word;
      if (seenWords.has(namedWord) && !isTimeOfResponseBefore) repeated.add(name);
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
