import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { type Attempt, type CompletedAttempt, reachedItsOutcome } from "../sending/attempt.js";
import { baselineCauses, type CauseCell, chooseBaseline } from "./baselines.js";
import type { TextAtPlace } from "./compare-texts.js";
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
  readonly texts: readonly TextAtPlace[];
}

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
  const texts: TextAtPlace[] = [];
  const textsByCause = new Map<PromisedOutcomeId, TextAtPlace[]>(causes.map((cause) => [cause, []]));
  for (const { cause, textsById } of rejections) {
    const text = textsById.get(id)?.text;
    texts.push(text);
    textsByCause.get(cause)?.push(text);
  }
  if (new Set(texts).size === 1) return undefined;

  const cells = [...textsByCause].map(([cause, textsOfCause]): CauseCell => {
    return { cause, texts: textsOfCause };
  });
  const baseline = chooseBaseline(cells);
  if (baseline === undefined) return undefined;
  return { place, cells, baseline, texts };
}
