import { outcomeRow, type PromisedOutcomeId } from "../../rules/outcomes.js";
import type { Attempt, CompletedAttempt } from "../sending/attempt.js";
import type { TextAtPlace } from "./compare-texts.js";
import { type DifferingPlace, type PlacedText, placeId, type ResponsePlace } from "./places.js";
import { splitResponse } from "./split-response.js";

/** The 401s of a comparison as a table: a row for each place, a column for each cause. */
export interface RejectionTable {
  /** The causes with two 401s or more, in the order in which they are to be baselines. */
  readonly causes: readonly PromisedOutcomeId[];
  readonly rows: readonly PlaceRow[];
}

/** A place with its texts in all 401s. */
export interface PlaceRow {
  readonly place: ResponsePlace;
  /** In the order of the causes of the table. */
  readonly cells: readonly CauseCell[];
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
  /** The number of its request among all requests of the comparison. */
  readonly requestNumber: number;
  readonly textsById: ReadonlyMap<string, PlacedText>;
}

/** Makes the table of all 401s whose cause has two or more. */
export function tabulateRejections(attempts: readonly Attempt[]): RejectionTable {
  const rejectionsByCause = new Map<PromisedOutcomeId, readonly SplitRejection[]>();
  // Each cause once, the baselines first.
  const causes = new Set([...baselineCauses, ...attempts.map(({ outcome }) => outcome)]);
  for (const cause of causes) {
    const rejections = splitRejections(cause, attempts);
    if (rejections.length >= 2) rejectionsByCause.set(cause, rejections);
  }

  const places = new Map<string, ResponsePlace>();
  for (const rejections of rejectionsByCause.values()) {
    for (const { textsById } of rejections) {
      for (const [id, { place }] of textsById) places.set(id, place);
    }
  }

  const allRejections = [...rejectionsByCause.values()].flat();
  allRejections.sort((left, right) => left.requestNumber - right.requestNumber);
  const rows: PlaceRow[] = [];
  for (const [id, place] of places) {
    const cells: CauseCell[] = [];
    for (const [cause, rejections] of rejectionsByCause) {
      cells.push({ cause, texts: textsAt(id, rejections) });
    }
    rows.push({ place, cells, textsInOrder: textsAt(id, allRejections) });
  }
  return { causes: [...rejectionsByCause.keys()], rows };
}

/** Returns the texts of these 401s at the place with an id. */
function textsAt(id: string, rejections: readonly SplitRejection[]): TextAtPlace[] {
  return rejections.map(({ textsById }) => textsById.get(id)?.text);
}

/** Returns the 401s of a cause, split into their places. */
function splitRejections(cause: PromisedOutcomeId, attempts: readonly Attempt[]): SplitRejection[] {
  const rejections: SplitRejection[] = [];
  for (const [requestNumber, attempt] of attempts.entries()) {
    if (attempt.outcome !== cause || !isRejected(attempt)) continue;
    const textsById = new Map<string, PlacedText>();
    for (const placedText of splitResponse(attempt.response)) {
      textsById.set(placeId(placedText.place), placedText);
    }
    rejections.push({ requestNumber, textsById });
  }
  return rejections;
}

/** Whether a cause of 401 got a 401. */
function isRejected(attempt: Attempt): attempt is CompletedAttempt {
  return attempt.response?.status === 401 && outcomeRow(attempt.outcome).status === 401;
}

/** Returns the places whose text is not the same in all 401s. */
export function findVaryingPlaces({ rows }: RejectionTable): DifferingPlace[] {
  const varying: DifferingPlace[] = [];
  for (const { place, cells } of rows) {
    const texts = new Set(cells.flatMap((cell) => cell.texts));
    if (texts.size > 1) varying.push({ place, isMissing: texts.has(undefined) });
  }
  return varying;
}
