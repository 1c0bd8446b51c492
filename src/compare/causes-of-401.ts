import { outcomeRow, type PromisedOutcomeId } from "../rules/outcomes.js";
import { type Attempt, type CompletedAttempt, completedWith, describeAttempt } from "./attempt.js";
import {
  type Contrast,
  findContrast,
  findContrasts,
  findUnjudgedPlaces,
  findVaryingPlaces,
  type RejectedResponse,
  type RejectionCause,
  type UnjudgedPlace,
} from "./contrasts.js";
import type { ContractDifference } from "./keys-of-outcomes.js";
import { independentPlaces, isChallengeParameter, splitIntoPlaces } from "./places.js";
import { quoted, shownText } from "./response.js";
import type { Session } from "./session.js";

// How the 401s of a service are compared: by R14, they must not reveal why a key was rejected.
//
// A cause is a reason for a 401, such as no key, or a revoked one. Each is sent twice, in two rounds. A place is a part of
// the responses, such as a header or a member of the body. Its text is compared word by word, without the words that vary
// between the responses to one cause, such as ids. The baseline is the cause that the others are compared with: unknown
// keys, unless these are the odd ones at a place. Where a cause has other words than the baseline, there is a contrast.
// It can be chance, or one node of several that differs. So such a cause, now a suspect, and its baseline are sent
// again, in four turns: a contrast that is still there is a difference. A cause without enough 401s is uncompared, and a
// place where words vary in another way than ids and times do is unjudged: it could hide what reveals the cause.

/** Why causes were not compared with the others. */
type Uncompared = ReadonlyMap<PromisedOutcomeId, string>;

interface ComparedRejections {
  readonly differences: readonly ContractDifference[];
  readonly notes: readonly string[];
  readonly uncompared: Uncompared;
  readonly unjudged: readonly UnjudgedPlace[];
}

/**
 * The order of the suspects in each turn. A balancer that gives requests to its nodes in turn must not give a cause the
 * same node each time, so the order changes, and each turn is one request longer than the one before.
 */
const turnOrders = ["forward", "reversed", "reversed", "forward"] as const;
/** One of the turns may fail. */
const fewestResponses = 2 + turnOrders.length - 1;

/** The causes to compare with, the best one first: an unknown key is another one each time, so no node follows it. */
const baselineOutcomes: readonly PromisedOutcomeId[] = ["401.unknown", "401.malformed", "401.missing"];

/** Sends the second round, and suspects in turns. Returns how the 401s of different causes differ (R14). */
export async function compareRejections(session: Session): Promise<ComparedRejections> {
  const withoutTwo = await sendSecondRound(session);
  const suspected = findContrasts(collectCauses(session.attempts));
  const { contrasts, uncompared: withoutTurns } = await sendTurns(session, suspected);

  // A contrast that is left is a difference if enough of its requests got a 401.
  const sure: Contrast[] = [];
  const uncompared = new Map<PromisedOutcomeId, string>();
  for (const contrast of contrasts) {
    if (hasEnoughResponses(contrast)) sure.push(contrast);
    else uncompared.set(contrast.cause.outcome, "too few of the further requests got a 401");
  }
  for (const [outcome, why] of [...withoutTwo, ...withoutTurns]) uncompared.set(outcome, why);

  const causes = collectCauses(session.attempts);
  const unjudged = findUnjudgedPlaces(causes, contrasts);
  return {
    differences: describeContrasts(sure),
    notes: [
      ...notesOnUncompared(uncompared),
      ...notesOnUnjudged(unjudged),
      ...notesOnNewWords(causes, [...unjudged, ...contrasts]),
    ],
    uncompared,
    unjudged,
  };
}

/** Returns the causes with two 401s or more, those to compare with first. */
function collectCauses(attempts: readonly Attempt[]): RejectionCause[] {
  const outcomes = new Set([...baselineOutcomes, ...attempts.map(({ outcome }) => outcome)]);
  const causes: RejectionCause[] = [];
  for (const outcome of outcomes) {
    const responses: RejectedResponse[] = [];
    for (const [number, attempt] of attempts.entries())
      if (attempt.outcome === outcome && isRejected(attempt))
        responses.push({ number, texts: splitIntoPlaces(attempt.response) });
    if (responses.length >= 2) causes.push({ outcome, responses });
  }
  return causes;
}

function isRejected(attempt: Attempt): attempt is CompletedAttempt {
  return attempt.response?.status === 401 && outcomeRow(attempt.outcome).status === 401;
}

function hasEnoughResponses({ cause, baseline }: Contrast): boolean {
  return Math.min(cause.responses.length, baseline.responses.length) >= fewestResponses;
}

/** Sends each cause that got a 401 again. Returns why causes have no two 401s, or nothing to be compared with. */
async function sendSecondRound(session: Session): Promise<Uncompared> {
  const uncompared = new Map<PromisedOutcomeId, string>();
  const firsts = session.attempts.filter(
    ({ nth, outcome }) => nth === 1 && outcomeRow(outcome).status === 401,
  );
  for (const attempt of firsts)
    if (attempt.response?.status !== 401)
      uncompared.set(attempt.outcome, `the first request got ${describeAttempt(attempt)}`);

  // All of them, or none.
  const rejected = completedWith(firsts, 401);
  const noRoom = whyNoRoom(session, rejected.length);
  for (const attempt of rejected) {
    if (noRoom !== undefined) {
      uncompared.set(attempt.outcome, noRoom);
      continue;
    }
    const second = await session.repeat(attempt);
    if (second === undefined) uncompared.set(attempt.outcome, String(session.ended?.why));
    else if (second.response?.status !== 401)
      uncompared.set(attempt.outcome, `the second request got ${describeAttempt(second)}`);
  }

  const [only, ...others] = collectCauses(session.attempts);
  if (only !== undefined && others.length === 0) uncompared.set(only.outcome, "no other cause has two 401s");
  return uncompared;
}

interface TurnsResult {
  /** The contrasts that are still there. */
  readonly contrasts: readonly Contrast[];
  /** The causes whose turns did not have enough requests left. */
  readonly uncompared: Uncompared;
}

/** Sends the suspects and their baselines in turns. After each turn, only the contrasts that are still there go on. */
async function sendTurns(session: Session, suspected: readonly Contrast[]): Promise<TurnsResult> {
  let contrasts = suspected;
  for (const turn of turnOrders.keys()) {
    const outcomes = planTurn(contrasts, turn);
    const noRoom = whyNoRoom(session, outcomes.length, countRequestsFrom(turn, contrasts));
    if (noRoom !== undefined) {
      const uncompared = new Map(contrasts.map(({ cause }) => [cause.outcome, noRoom]));
      return { contrasts, uncompared };
    }

    for (const outcome of outcomes) {
      const first = session.attempts.find((attempt) => attempt.outcome === outcome);
      if (first !== undefined) await session.repeat(first);
    }
    contrasts = findAgain(contrasts, collectCauses(session.attempts));
  }
  return { contrasts, uncompared: new Map() };
}

/** Returns the causes to send in a turn, in their order; none if no contrast is left. */
function planTurn(contrasts: readonly Contrast[], turn: number): PromisedOutcomeId[] {
  const baselines = [...new Set(contrasts.map(({ baseline }) => baseline.outcome))];
  const [usual] = baselines;
  if (usual === undefined) return [];

  const suspects = [...new Set(contrasts.map(({ cause }) => cause.outcome))];
  if (turnOrders[turn] === "reversed") suspects.reverse();

  // With turns of one length, a suspect would get the same one of as many nodes each time.
  const more = Array.from({ length: turn }, () => usual);
  // The baselines come twice in a row: a balancer that alternates gives them different nodes.
  return [...more, ...baselines, ...baselines, ...suspects, ...baselines];
}

/** The number of requests in this turn and all later ones, if all contrasts stay. */
function countRequestsFrom(turn: number, contrasts: readonly Contrast[]): number {
  let count = 0;
  for (let later = turn; later < turnOrders.length; later++) count += planTurn(contrasts, later).length;
  return count;
}

/** Returns the contrasts that are still there, with all responses until now. */
function findAgain(contrasts: readonly Contrast[], causes: readonly RejectionCause[]): Contrast[] {
  const causesByOutcome = new Map(causes.map((cause) => [cause.outcome, cause]));
  const again: Contrast[] = [];
  for (const { at, cause, baseline } of contrasts) {
    const latestCause = causesByOutcome.get(cause.outcome) ?? cause;
    const contrast = findContrast(at, latestCause, causesByOutcome.get(baseline.outcome));
    if (contrast !== undefined) again.push(contrast);
  }
  return again;
}

/** Returns why the next requests cannot be sent; `needed` is their number with all that follow, for the text. */
function whyNoRoom(session: Session, next: number, needed = next): string | undefined {
  const left = session.requestsLeft();
  if (next <= left) return undefined;
  return session.ended?.why ?? `that takes ${needed - left} more of --max-requests`;
}

/** Returns the differences of each cause, without places that differ only because another one does. */
function describeContrasts(contrasts: readonly Contrast[]): ContractDifference[] {
  const differences: ContractDifference[] = [];
  const outcomes = new Set(contrasts.map(({ cause }) => cause.outcome));
  for (const outcome of outcomes) {
    const ofCause = contrasts.filter(({ cause }) => cause.outcome === outcome);
    const places = ofCause.map((contrast) => ({ ...contrast, values: [contrast.found, contrast.expected] }));
    for (const contrast of independentPlaces(places)) differences.push(describeContrast(contrast));
  }
  return differences;
}

function describeContrast({ at, cause, baseline, found, expected }: Contrast): ContractDifference {
  return {
    rules: ["R14"],
    outcome: cause.outcome,
    at: shownText(at),
    expected: `${describeText(at, expected)}, as for ${baseline.outcome}`,
    found: describeText(at, found),
  };
}

/** The text of a place in words; JSON and parameters have quotation marks already. */
function describeText(at: string, text: string | undefined): string {
  if (at.startsWith("$")) return text === undefined ? "nothing" : shownText(text);
  if (isChallengeParameter(at)) return text === undefined ? "no such parameter" : shownText(text);
  return text === undefined ? "no such header" : quoted(text);
}

function notesOnUncompared(uncompared: Uncompared): string[] {
  const notes: string[] = [];
  for (const why of new Set(uncompared.values())) {
    const outcomes = [...uncompared.keys()].filter((outcome) => uncompared.get(outcome) === why);
    notes.push(`Not compared with the other causes of 401 (R14): ${outcomes.join(", ")}, because ${why}.`);
  }
  return notes;
}

function notesOnUnjudged(unjudged: readonly UnjudgedPlace[]): string[] {
  const notes: string[] = [];
  for (const why of new Set(unjudged.map((place) => place.why))) {
    const places = unjudged.filter((place) => place.why === why);
    notes.push(`Not judged between the causes of 401, because ${why}: ${listPlaces(places)}.`);
  }
  return notes;
}

interface NamedPlace {
  readonly at: string;
}

/** A note on the places that agree without words that are new in each response; `told` are those that do not agree. */
function notesOnNewWords(causes: readonly RejectionCause[], told: readonly NamedPlace[]): string[] {
  const toldNames = new Set(told.map(({ at }) => at));
  const places = independentPlaces(findVaryingPlaces(causes)).filter(({ at }) => !toldNames.has(at));
  if (places.length === 0) return [];
  return [
    `Compared between the causes of 401 without the words that are new in each response: ${listPlaces(places)}.`,
  ];
}

function listPlaces(places: readonly NamedPlace[]): string {
  const names = new Set(places.map(({ at }) => shownText(at)));
  return [...names].join(", ");
}
