import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { type Attempt, type CompletedAttempt, reachedItsOutcome } from "../sending/attempt.js";
import { compareTexts, type TextAtPlace } from "./compare-texts.js";
import type { DifferingPlace } from "./consequences.js";
import { type PlacedText, placeId, type ResponsePlace } from "./places.js";
import { splitResponse } from "./split-response.js";

/** The 401s of a comparison as a table: a row for each place where their texts are not all the same, a column for each cause. */
export interface RejectionTable {
  /** The causes with two 401s or more, in the order in which they are to be baselines. */
  readonly causes: readonly PromisedOutcomeId[];
  readonly rows: readonly PlaceRow[];
}

/** A place with its texts in all 401s. */
export interface PlaceRow extends DifferingPlace {
  /** In the order of the causes of the table. */
  readonly cells: readonly CauseCell[];
  /** The cell that the others are compared with. */
  readonly baseline: CauseCell;
  /** The texts of all cells, in the order of their requests. */
  readonly textsInOrder: readonly TextAtPlace[];
}

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
const baselineCauses: readonly PromisedOutcomeId[] = ["401.unknown", "401.malformed", "401.missing"];

/** A 401 with its texts by the ids of their places. */
interface SplitRejection {
  readonly cause: PromisedOutcomeId;
  readonly textsById: ReadonlyMap<string, PlacedText>;
}

/** Makes the table of all 401s whose cause has two or more. A cause alone has no rows: there is nothing to compare it with. */
export function tabulateRejections(attempts: readonly Attempt[]): RejectionTable {
  const rejected = judged401s(attempts);
  // Each cause once, the baselines first.
  const causes: PromisedOutcomeId[] = [];
  for (const cause of new Set([...baselineCauses, ...rejected.map(({ outcome }) => outcome)])) {
    const attemptsOfCause = rejected.filter(({ outcome }) => outcome === cause);
    if (attemptsOfCause.length >= 2) causes.push(cause);
  }
  if (causes.length < 2) return { causes, rows: [] };

  const rejections: SplitRejection[] = [];
  for (const { outcome, response } of rejected) {
    if (causes.includes(outcome)) rejections.push(splitRejection(outcome, response));
  }
  const rows: PlaceRow[] = [];
  for (const place of collectPlaces(causes, rejections)) {
    const row = rowAt(place, causes, rejections);
    if (row !== undefined) rows.push(row);
  }
  return { causes, rows };
}

/** Returns the 401s of causes of 401, without those that a lock may have sent. */
export function judged401s(attempts: readonly Attempt[]): CompletedAttempt[] {
  return attempts.filter(reachedItsOutcome).filter(({ response }) => response.status === 401);
}

function splitRejection(cause: PromisedOutcomeId, response: CompletedAttempt["response"]): SplitRejection {
  const textsById = new Map<string, PlacedText>();
  for (const placedText of splitResponse(response)) textsById.set(placeId(placedText.place), placedText);
  return { cause, textsById };
}

/** Returns each place once, those of the first cause first. */
function collectPlaces(
  causes: readonly PromisedOutcomeId[],
  rejections: readonly SplitRejection[],
): ResponsePlace[] {
  const placesById = new Map<string, ResponsePlace>();
  for (const cause of causes) {
    for (const rejection of rejections) {
      if (rejection.cause !== cause) continue;
      for (const [id, { place }] of rejection.textsById) placesById.set(id, place);
    }
  }
  return [...placesById.values()];
}

/** Returns the row of a place; `undefined` if all texts there are the same. */
function rowAt(
  place: ResponsePlace,
  causes: readonly PromisedOutcomeId[],
  rejections: readonly SplitRejection[],
): PlaceRow | undefined {
  const id = placeId(place);
  const textsInOrder: TextAtPlace[] = [];
  const textsByCause = new Map<PromisedOutcomeId, TextAtPlace[]>(causes.map((cause) => [cause, []]));
  for (const { cause, textsById } of rejections) {
    const text = textsById.get(id)?.text;
    textsInOrder.push(text);
    textsByCause.get(cause)?.push(text);
  }
  const differentTexts = new Set(textsInOrder);
  if (differentTexts.size === 1) return undefined;

  const cells = [...textsByCause].map(([cause, texts]): CauseCell => ({ cause, texts }));
  const baseline = chooseBaseline(cells);
  if (baseline === undefined) return undefined;
  return { place, isMissingInSome: differentTexts.has(undefined), cells, baseline, textsInOrder };
}

/**
 * Returns the first cell, or the second one if the first one is odd: of the texts `A`, `B` and `B`, the second. `undefined`
 * only without cells.
 */
function chooseBaseline([first, second, ...later]: readonly CauseCell[]): CauseCell | undefined {
  // Of two causes, nobody knows which is the odd one.
  if (first === undefined || second === undefined || later.length === 0) return first;

  const areOthersAlike = !later.some((cell) => isDifferent(cell, second));
  const isFirstOdd = areOthersAlike && [second, ...later].every((cell) => isDifferent(cell, first));
  return isFirstOdd ? second : first;
}

function isDifferent(left: CauseCell, right: CauseCell): boolean {
  return compareTexts(left.texts, right.texts).kind === "differs";
}
