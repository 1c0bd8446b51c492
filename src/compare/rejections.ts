import { outcomeRow } from "../rules/outcomes.js";
import type { Unjudged } from "./findings.js";
import type { Deviation } from "./judge.js";
import type { PlannedRequest } from "./keys.js";
import {
  compareTexts,
  describeTexts,
  type ResponsePlace,
  type SplitResponse,
  splitResponse,
  type TextComparison,
  withoutConsequences,
} from "./places.js";
import { shownText } from "./response.js";
import { type Attempt, type CompletedAttempt, groupByRequest, requestName, type Session } from "./session.js";

// The 401s of a service must not reveal why a key was rejected (R14). A cause is a reason for a 401, such as no key, or a revoked
// key. One more is a given key after the other prefix (R15), which is an unknown one. Each cause is compared with unknown keys,
// which are other ones each time, at each place of a response. What differs comes again (`passes.ts`).
//
// Where the 401s of one cause vary in another way than ids and times, the place is not judged for any: it may be that of a node.

const usualCause = "401.unknown";
export const usualRequest: PlannedRequest = { outcome: usualCause };
const whyPlaceIsOpen = "it varies in another way than ids and times";

/** The 401s for one reason, two at least. */
type Cause = readonly [CompletedAttempt, ...CompletedAttempt[]];

/** A place where the 401s of a cause are not those of unknown keys. */
interface ComparedPlace {
  readonly cause: Cause;
  readonly place: ResponsePlace;
  readonly comparison: TextComparison;
  readonly texts: readonly (string | undefined)[];
  readonly usualTexts: readonly (string | undefined)[];
}

const got401 = (attempt: Attempt): attempt is CompletedAttempt =>
  attempt.response?.status === 401 && attempt.whyUnjudged === undefined;

/** Returns the requests of the causes that got a 401, and those of the other prefix; none without an unknown key to compare. */
export function repeatableCauses({ attempts, working }: Session): PlannedRequest[] {
  const requests: PlannedRequest[] = [];
  for (const { outcome, variable } of attempts.filter(isOfCause).filter(got401)) {
    if (!requests.some((request) => request.outcome === outcome)) requests.push({ outcome, variable });
  }
  if (!requests.some(({ outcome }) => outcome === usualCause)) return [];
  if (working !== undefined) {
    const otherPrefix = {
      outcome: usualCause,
      variable: working.request.variable,
      otherPrefix: true,
    } as const;
    requests.push(otherPrefix, otherPrefix);
  }
  return requests;
}

const isOfCause = ({ outcome }: Attempt) => outcomeRow(outcome).status === 401;

/** Compares the causes of 401. A cause without two 401s is left out: what it got is judged alone. */
export function compareRejections(attempts: readonly Attempt[]) {
  const judged = attempts.filter(isOfCause).filter(({ whyUnjudged }) => whyUnjudged === undefined);
  const causes = groupByRequest(judged.filter(got401)).filter(({ length }) => length > 1);
  const usual = causes.find(([first]) => requestName(first) === usualCause);
  const unjudged: Unjudged[] = [];
  for (const [first] of groupByRequest(judged)) {
    const isThere = causes.some((cause) => requestName(cause[0]) === requestName(first));
    let why: string | undefined;
    if (!isThere) why = "it has no two 401s to compare";
    else if (usual === undefined) why = `${usualCause} has no two 401s to compare with`;
    if (why !== undefined) unjudged.push({ outcomes: [first.outcome], rule: "R14", why });
  }
  if (usual === undefined) return { deviations: [], unjudged, notes: [] };

  const compared = comparePlaces(attempts, causes, usual);
  const notes: string[] = [];
  const openPlaces = namesOf(compared, "open");
  const outcomes = [...new Set(causes.map(([{ outcome }]) => outcome))];
  for (const at of openPlaces) unjudged.push({ outcomes, rule: "R14", at, why: whyPlaceIsOpen });
  if (openPlaces.length > 0) {
    notes.push(`Not judged between the causes of 401, because ${whyPlaceIsOpen}: ${openPlaces.join(", ")}.`);
  }
  const varyingPlaces = namesOf(compared, "agrees");
  if (varyingPlaces.length > 0) {
    notes.push(`Compared between the causes of 401 without ids and times: ${varyingPlaces.join(", ")}.`);
  }

  const open = new Set(
    compared.filter(({ comparison }) => comparison === "open").map(({ place }) => place.name),
  );
  const differing = compared.filter(
    ({ place, comparison }) => comparison === "differs" && !open.has(place.name),
  );
  const deviations: Deviation[] = [];
  for (const cause of causes) {
    const ofCause = differing.filter((place) => place.cause === cause);
    for (const place of withoutConsequences(ofCause)) deviations.push(describePlace(place));
  }
  return { deviations, unjudged, notes };
}

/** Compares each cause with the usual one at each place, and returns where not all texts are the same. */
function comparePlaces(
  attempts: readonly Attempt[],
  causes: readonly Cause[],
  usual: Cause,
): ComparedPlace[] {
  const compared: ComparedPlace[] = [];
  const headersOfNodes = findHeadersOfNodes(attempts);
  const usualResponses = usual.map(({ response }) => splitResponse(response));
  for (const cause of causes) {
    const responses = cause.map(({ response }) => splitResponse(response));
    const places = new Map<string, ResponsePlace>();
    for (const textsById of [...usualResponses, ...responses]) {
      for (const [id, { place }] of textsById) places.set(id, place);
    }
    for (const [id, place] of places) {
      const texts = textsAt(id, responses);
      const usualTexts = textsAt(id, usualResponses);
      if (new Set([...texts, ...usualTexts]).size === 1) continue;
      let comparison = compareTexts(texts, usualTexts);
      if (comparison === "differs" && headersOfNodes.has(id)) comparison = "open";
      compared.push({ cause, place, comparison, texts, usualTexts });
    }
  }
  return compared;
}

function textsAt(id: string, responses: readonly SplitResponse[]): (string | undefined)[] {
  return responses.map((textsById) => textsById.get(id)?.text);
}

/** Finds the headers that vary between the 200s, or between the 403s: a service may choose the node that they name by the key. */
function findHeadersOfNodes(attempts: readonly Attempt[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const status of [200, 403]) {
    const responses: SplitResponse[] = [];
    for (const { response } of attempts) {
      if (response?.status === status) responses.push(splitResponse(response));
    }
    for (const [id, { place }] of responses.flatMap((textsById) => [...textsById])) {
      if (place.kind === "header" && new Set(textsAt(id, responses)).size > 1) ids.add(id);
    }
  }
  return ids;
}

function namesOf(compared: readonly ComparedPlace[], comparison: ComparedPlace["comparison"]): string[] {
  const ofComparison = withoutConsequences(compared.filter((one) => one.comparison === comparison));
  return [...new Set(ofComparison.map(({ place }) => shownText(place.name)))];
}

function describePlace({ cause, place, texts, usualTexts }: ComparedPlace): Deviation {
  const { expected, found } = describeTexts(place, texts, usualTexts);
  const isOtherPrefix = cause[0].otherPrefix === true;
  return {
    difference: {
      rules: isOtherPrefix ? ["R14", "R15"] : ["R14"],
      at: shownText(place.name),
      expected: `${expected}, as for ${usualCause}`,
      found: isOtherPrefix ? `${found}, after the other prefix` : found,
    },
    attempts: cause,
    all: cause,
  };
}
