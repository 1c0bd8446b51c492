import { outcomeRow, type PromisedOutcomeId } from "../../rules/outcomes.js";
import type { ContractDifference } from "../differences/contract-difference.js";
import { type Attempt, completedWith, describeAttempt } from "../sending/attempt.js";
import { repeatAttempt } from "../sending/send-attempt.js";
import type { Session } from "../sending/session.js";
import { type Contrast, findContrasts, findRemaining } from "./contrasts.js";
import { independentPlaces } from "./independent-places.js";
import { placeId } from "./places.js";
import { findVaryingPlaces, tabulateRejections } from "./rejection-table.js";
import { describeContrasts, notesOnRejections } from "./rejection-words.js";
import { countTurnRequests, planTurn, turns } from "./turns.js";
import { findUnjudgedPlaces, type UnjudgedPlace } from "./unjudged-places.js";

// How the 401s of a service are compared: by R14, they must not reveal why a key was rejected.
//
// - A cause is a reason for a 401, such as no key, or a revoked key. Each cause is sent twice, in two rounds.
// - A place is a part of the responses, such as a header or a member of the body. The texts at a place are compared word by
//   word, without the words that vary between the responses to one cause, such as ids.
// - The baseline is the cause that the others are compared with: unknown keys, unless these are the odd ones at a place.
// - A contrast is a place where a cause has other words than its baseline. A contrast can be chance, or come from one node of
//   several. So its cause, now a suspect, and its baseline are sent again, in four turns. A contrast that remains is a
//   difference.
// - A cause without enough 401s is uncompared. A place where words vary in another way than ids and times do is unjudged: it
//   could hide what reveals the cause.

/** Why causes were not compared with the others. */
type Uncompared = ReadonlyMap<PromisedOutcomeId, string>;

/** How the 401s differ, and what of R14 stays open. */
export interface ComparedRejections {
  readonly differences: readonly ContractDifference[];
  readonly notes: readonly string[];
  readonly uncompared: Uncompared;
  readonly unjudged: readonly UnjudgedPlace[];
}

const roundCount = 2;
/**
 * A contrast needs so many 401s of its cause, and of its baseline. A cause is sent once in each round and turn, so all of its
 * requests but one must have got a 401; its baseline is sent more often.
 */
const fewestRejections = roundCount + turns.length - 1;

/** Sends the second round, and suspects in turns. Returns how the 401s of different causes differ (R14). */
export async function compareRejections(session: Session): Promise<ComparedRejections> {
  const uncomparedInRounds = await sendSecondRound(session);
  const suspected = findContrasts(tabulateRejections(session.attempts));
  const { contrasts, uncompared: uncomparedInTurns } = await sendTurns(session, suspected);

  // A contrast that remains is a difference if all turns were sent, and enough of its requests got a 401.
  const proven: Contrast[] = [];
  const uncompared = new Map<PromisedOutcomeId, string>();
  for (const contrast of contrasts) {
    if (uncomparedInTurns.has(contrast.cause)) continue;
    if (hasEnoughRejections(contrast, session.attempts)) proven.push(contrast);
    else uncompared.set(contrast.cause, "too few of the further requests got a 401");
  }
  // A cause has one reason: that of the turns; otherwise that of the rounds; otherwise too few 401s.
  for (const [cause, why] of uncomparedInRounds) uncompared.set(cause, why);
  for (const [cause, why] of uncomparedInTurns) uncompared.set(cause, why);

  const table = tabulateRejections(session.attempts);
  const unjudged = findUnjudgedPlaces(table, contrasts);
  // The other places that vary agree without the words that vary.
  const reportedIds = new Set([...unjudged, ...contrasts].map(({ place }) => placeId(place)));
  const independent = independentPlaces(findVaryingPlaces(table));
  const agreeing = independent.filter(({ place }) => !reportedIds.has(placeId(place)));
  return {
    differences: describeContrasts(proven),
    notes: notesOnRejections({ uncompared, unjudged, varying: agreeing }),
    uncompared,
    unjudged,
  };
}

function hasEnoughRejections({ cause, baseline }: Contrast, attempts: readonly Attempt[]): boolean {
  const rejected = completedWith(attempts, 401);
  const ofCause = rejected.filter(({ outcome }) => outcome === cause);
  const ofBaseline = rejected.filter(({ outcome }) => outcome === baseline);
  return Math.min(ofCause.length, ofBaseline.length) >= fewestRejections;
}

/** Sends each cause that got a 401 again. Returns why causes have no two 401s, or nothing to be compared with. */
async function sendSecondRound(session: Session): Promise<Uncompared> {
  const uncompared = new Map<PromisedOutcomeId, string>();
  const firsts = findFirsts(session.attempts);
  for (const attempt of firsts) {
    if (attempt.response?.status === 401) continue;
    uncompared.set(attempt.outcome, `the first request got ${describeAttempt(attempt)}`);
  }

  // All causes with a 401 are sent again, or none.
  const rejected = completedWith(firsts, 401);
  const room = session.roomFor(rejected.length);
  for (const attempt of rejected) {
    if (room.kind === "no_room") {
      uncompared.set(attempt.outcome, room.why);
      continue;
    }
    const second = await repeatAttempt(session, attempt);
    if (second.kind === "not_sent") {
      uncompared.set(attempt.outcome, second.why);
    } else if (second.attempt.response?.status !== 401) {
      uncompared.set(attempt.outcome, `the second request got ${describeAttempt(second.attempt)}`);
    }
  }

  const [only, ...others] = tabulateRejections(session.attempts).causes;
  if (only !== undefined && others.length === 0) uncompared.set(only, "no other cause has two 401s");
  return uncompared;
}

/** Returns the first request of each cause; a request that a limit was waited for is not its first. */
function findFirsts(attempts: readonly Attempt[]): Attempt[] {
  const firstByCause = new Map<PromisedOutcomeId, Attempt>();
  for (const attempt of attempts) {
    const { outcome, evidence } = attempt;
    if (outcomeRow(outcome).status !== 401 || evidence.kind === "limited_before") continue;
    if (!firstByCause.has(outcome)) firstByCause.set(outcome, attempt);
  }
  return [...firstByCause.values()];
}

interface TurnsResult {
  /** The contrasts that remain after the turns. */
  readonly contrasts: readonly Contrast[];
  /** The causes with a contrast for which not all turns could be sent: without one of them, it can come from a node. */
  readonly uncompared: Uncompared;
}

/** Sends the suspects and their baselines in turns. After each turn, only the contrasts that remain go on. */
async function sendTurns(session: Session, suspected: readonly Contrast[]): Promise<TurnsResult> {
  let contrasts = suspected;
  for (const [index, turn] of turns.entries()) {
    const causes = planTurn(turn, contrasts);
    const room = session.roomFor(causes.length, countTurnRequests(turns.slice(index), contrasts));
    if (room.kind === "no_room") {
      return { contrasts, uncompared: causesBecause(room.why, contrasts) };
    }

    const sentTurn = await sendTurn(session, causes);
    contrasts = findRemaining(contrasts, tabulateRejections(session.attempts));
    if (sentTurn.kind === "broken_off") {
      return { contrasts, uncompared: causesBecause(sentTurn.why, contrasts) };
    }
  }
  return { contrasts, uncompared: new Map() };
}

/** Whether all requests of a turn were sent. */
type SentTurn = { readonly kind: "all_sent" } | { readonly kind: "broken_off"; readonly why: string };

async function sendTurn(session: Session, causes: readonly PromisedOutcomeId[]): Promise<SentTurn> {
  for (const cause of causes) {
    const first = session.attempts.find(({ outcome }) => outcome === cause);
    if (first === undefined) continue;
    const result = await repeatAttempt(session, first);
    if (result.kind === "not_sent") return { kind: "broken_off", why: result.why };
  }
  return { kind: "all_sent" };
}

/** Returns the cause of each contrast with one reason. */
function causesBecause(why: string, contrasts: readonly Contrast[]): Uncompared {
  return new Map(contrasts.map(({ cause }) => [cause, why]));
}
