import { outcomeRow } from "../rules/outcomes.js";
import { type Attempt, groupByRequest, isJudged, requestName } from "./attempts.js";
import type { Unjudged } from "./findings.js";
import type { Deviation } from "./judge.js";
import type { PlannedRequest } from "./keys.js";
import {
  compareTexts,
  describeText,
  type ResponsePlace,
  type SplitResponse,
  splitResponse,
  type TextComparison,
  type Texts,
  withoutConsequences,
} from "./places.js";
import { shownText, unlike } from "./response.js";

// The 401s of a service must not reveal why a key was rejected (R14). A cause is a reason for a 401, such as no key, or a revoked
// key. Each cause is compared, at each place of a response, with the usual one: unknown keys, which are other ones each time. If
// most causes are alike and only unknown keys are not, it is one of these. A given key after the other prefix is an unknown key,
// too, and must look like one (R15). What differs comes again (`passes.ts`).
//
// Where the 401s of one cause vary in another way than ids and times, the place is not judged for any: it may be that of a node.

export const unknownKey: PlannedRequest = { outcome: "401.unknown" };

/** A cause of which each response is a 401, two at least. */
interface RejectionCause {
  readonly attempts: readonly [Attempt, ...Attempt[]];
  readonly responses: readonly SplitResponse[];
}

/** A place where the 401s of a cause are not all the same as the usual ones. */
interface ComparedPlace {
  readonly cause: RejectionCause;
  readonly usual: RejectionCause;
  readonly place: ResponsePlace;
  readonly comparison: TextComparison;
  readonly texts: Texts;
  readonly usualTexts: Texts;
}

/** Compares the causes of 401 with each other. */
export function compareRejections(attempts: readonly Attempt[]) {
  const { causes, unjudged } = causesToCompare(attempts);
  const unknown = causes.find(({ attempts: [first] }) => requestName(first) === requestName(unknownKey));
  if (unknown === undefined) {
    const outcomes = causes.map(({ attempts: [{ outcome }] }) => outcome);
    const why = `${unknownKey.outcome} has no two 401s to compare with, and no other response`;
    if (outcomes.length > 0) unjudged.push({ at: "R14", why, outcomes });
    return { deviations: [], unjudged, notes: [] };
  }

  const compared = comparePlaces(causes, unknown);
  const openPlaces = namesOf(compared, "open");
  const outcomes = [...new Set(causes.map(({ attempts: [{ outcome }] }) => outcome))];
  const why = "it varies in another way than ids and times";
  for (const at of openPlaces) unjudged.push({ at, why, outcomes });

  const varyingPlaces = namesOf(compared, "agrees");
  const notes: string[] = [];
  if (varyingPlaces.length > 0) {
    notes.push(`Compared between the causes of 401 without ids and times: ${varyingPlaces.join(", ")}.`);
  }
  return { deviations: findDeviations(causes, compared), unjudged, notes };
}

/** Finds the causes to compare, and those that cannot be compared. */
function causesToCompare(attempts: readonly Attempt[]) {
  const causes: RejectionCause[] = [];
  const unjudged: Unjudged[] = [];
  const judged = attempts.filter(
    (attempt) => outcomeRow(attempt.outcome).status === 401 && isJudged(attempt),
  );
  for (const ofRequest of groupByRequest(judged)) {
    const responses: SplitResponse[] = [];
    for (const { response } of ofRequest) {
      if (response?.status === 401) responses.push(splitResponse(response));
    }
    if (responses.length > 1 && responses.length === ofRequest.length) {
      causes.push({ attempts: ofRequest, responses });
      continue;
    }
    const [{ outcome, otherPrefix }] = ofRequest;
    const why = "it needs two 401s, and no other response";
    unjudged.push({ at: otherPrefix ? "R15" : "R14", why, outcomes: [outcome] });
  }
  return { causes, unjudged };
}

/** Compares each cause with the usual one, from which the fewest others differ. */
function comparePlaces(causes: readonly RejectionCause[], unknown: RejectionCause): ComparedPlace[] {
  const ofOtherPrefix: ComparedPlace[] = [];
  const others: RejectionCause[] = [];
  for (const cause of causes) {
    if (cause.attempts[0].otherPrefix) ofOtherPrefix.push(...compareCauses(cause, unknown));
    else if (cause !== unknown) others.push(cause);
  }

  let fewest: ComparedPlace[] | undefined;
  let fewestCauses = Number.POSITIVE_INFINITY;
  for (const usual of [unknown, ...others]) {
    const compared: ComparedPlace[] = [];
    for (const cause of [unknown, ...others]) compared.push(...compareCauses(cause, usual));
    const differing = compared.filter(({ comparison }) => comparison === "differs");
    const { size } = new Set(differing.map(({ cause }) => cause));
    if (size >= fewestCauses) continue;
    fewest = compared;
    fewestCauses = size;
  }
  return [...(fewest ?? []), ...ofOtherPrefix];
}

/** Compares two causes, and returns the places where not all texts are the same. */
function compareCauses(cause: RejectionCause, usual: RejectionCause): ComparedPlace[] {
  const places = new Map<string, ResponsePlace>();
  for (const textsById of [...usual.responses, ...cause.responses]) {
    for (const [id, { place }] of textsById) places.set(id, place);
  }

  const compared: ComparedPlace[] = [];
  for (const [id, place] of places) {
    const texts = textsAt(id, cause.responses);
    const usualTexts = textsAt(id, usual.responses);
    if (new Set([...texts, ...usualTexts]).size === 1) continue;
    const comparison = compareTexts(texts, usualTexts);
    compared.push({ cause, usual, place, comparison, texts, usualTexts });
  }
  return compared;
}

function textsAt(id: string, responses: readonly SplitResponse[]): Texts {
  return responses.map((textsById) => textsById.get(id)?.text);
}

function namesOf(compared: readonly ComparedPlace[], comparison: TextComparison): string[] {
  const ofComparison = withoutConsequences(compared.filter((one) => one.comparison === comparison));
  return [...new Set(ofComparison.map(({ place }) => shownText(place.name)))];
}

/** Returns what differs of each cause, but for the places that are open for one. */
function findDeviations(causes: readonly RejectionCause[], compared: readonly ComparedPlace[]): Deviation[] {
  const open = new Set<string>();
  for (const { place, comparison } of compared) if (comparison === "open") open.add(place.name);

  const deviations: Deviation[] = [];
  for (const cause of causes) {
    const differing = compared.filter((one) => {
      return one.cause === cause && one.comparison === "differs" && !open.has(one.place.name);
    });
    for (const { place, usual, texts, usualTexts } of withoutConsequences(differing)) {
      const expected = describeText(place, usualTexts);
      const found = unlike(describeText(place, texts), expected);
      const isOtherPrefix = cause.attempts[0].otherPrefix === true;
      const difference = {
        rules: isOtherPrefix ? (["R14", "R15"] as const) : (["R14"] as const),
        at: shownText(place.name),
        expected: `${expected}, as for ${usual.attempts[0].outcome}`,
        found: isOtherPrefix ? `${found}, after the other prefix` : found,
      };
      deviations.push({ difference, attempts: cause.attempts, all: cause.attempts });
    }
  }
  return deviations;
}
