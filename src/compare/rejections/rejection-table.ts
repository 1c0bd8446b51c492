import { outcomeRow, type PromisedOutcomeId } from "../../rules/outcomes.js";
import type { Attempt, CompletedAttempt } from "../sending/attempt.js";
import type { TextAtPlace } from "./compare-texts.js";
import { type PlacedText, placeId, type ResponsePlace, splitIntoPlaces } from "./places.js";

/** The 401s of a comparison as a table: a row for each place, a column for each cause. */
export interface RejectionTable {
  /** The causes with two 401s or more, those to compare with first. */
  readonly causes: readonly PromisedOutcomeId[];
  readonly rows: readonly PlaceRow[];
}

/** A place with its texts in all 401s. */
export interface PlaceRow {
  readonly place: ResponsePlace;
  /** In the order of the causes of the table. */
  readonly cells: readonly CauseCell[];
}

/** The texts of a cause at a place. */
export interface CauseCell {
  readonly cause: PromisedOutcomeId;
  /** In the order of the requests of the cause. */
  readonly texts: readonly TextAtPlace[];
  /** The number of each of these requests among all requests of the comparison. */
  readonly requestNumbers: readonly number[];
}

/** The causes to compare with, the best one first: an unknown key is another one each time, so no node follows it. */
const baselineCauses: readonly PromisedOutcomeId[] = ["401.unknown", "401.malformed", "401.missing"];

/** A 401 with its texts by the ids of their places. */
interface SplitRejection {
  readonly requestNumber: number;
  readonly placed: ReadonlyMap<string, PlacedText>;
}

/** Makes the table of all 401s whose cause has two or more. */
export function tabulateRejections(attempts: readonly Attempt[]): RejectionTable {
  const rejectionsByCause = new Map<PromisedOutcomeId, readonly SplitRejection[]>();
  for (const cause of new Set([...baselineCauses, ...attempts.map(({ outcome }) => outcome)])) {
    const rejections = splitRejections(cause, attempts);
    if (rejections.length >= 2) rejectionsByCause.set(cause, rejections);
  }

  const places = new Map<string, ResponsePlace>();
  for (const rejections of rejectionsByCause.values()) {
    for (const { placed } of rejections) for (const [id, { place }] of placed) places.set(id, place);
  }

  const rows: PlaceRow[] = [];
  for (const [id, place] of places) {
    const cells: CauseCell[] = [];
    for (const [cause, rejections] of rejectionsByCause) {
      const texts = rejections.map(({ placed }) => placed.get(id)?.text);
      const requestNumbers = rejections.map(({ requestNumber }) => requestNumber);
      cells.push({ cause, texts, requestNumbers });
    }
    rows.push({ place, cells });
  }
  return { causes: [...rejectionsByCause.keys()], rows };
}

function splitRejections(cause: PromisedOutcomeId, attempts: readonly Attempt[]): SplitRejection[] {
  const rejections: SplitRejection[] = [];
  for (const [requestNumber, attempt] of attempts.entries()) {
    if (attempt.outcome !== cause || !isRejected(attempt)) continue;
    const placed = new Map<string, PlacedText>();
    for (const placedText of splitIntoPlaces(attempt.response)) {
      placed.set(placeId(placedText.place), placedText);
    }
    rejections.push({ requestNumber, placed });
  }
  return rejections;
}

/** Whether a cause of 401 got a 401. */
function isRejected(attempt: Attempt): attempt is CompletedAttempt {
  return attempt.response?.status === 401 && outcomeRow(attempt.outcome).status === 401;
}
