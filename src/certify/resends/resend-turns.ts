import { keyVariable } from "../../rules/api-key.js";
import { listed } from "../../schema/words.js";
import { isNoticed } from "../answers.js";
import {
  countingEvidence,
  type NotJudged,
  notAllMade,
  notJudged,
  type Reason,
  type RunEvidence,
} from "../checks/judgment.js";
import type { NotMade } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import { replacing, type SteadyKey, whatFollowed } from "./replaced-run.js";
import { requestOfEachTurn } from "./request-of-each-turn.js";
import { nameOfKey, type ResendKind, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { type Doubt, letPollsWait, sentByOtherProcess, turnOffSomePolls } from "./resend-words.js";
import { otherSteadyKeys } from "./steady-key.js";

// The key came again after its last request was rejected. Was it the client, which does so everywhere, or a single test that polls? A turn
// is a run that rejects one of the requests with the key. One more must follow in each turn:
// 1. Eight turns reject the requests from the first to the last, with the suspects' kinds of rejection by turns. Two of them reject
//    another key that always works, if there is one: all tests with the first key may poll.
// 2. With a kind that has a time, the next request may have come in time by chance. Each request that was only followed in time has three
//    more turns, one of which must be followed too soon.

/** How many requests are rejected in turn before a problem is named. Of 360 suites in random order, four accuse 13, six 2, eight none. */
const minTurns = 8;

/** How many of these turns reject another key. */
const maxTurnsOfOtherKeys = 2;

/** How often a request is rejected again after which the next one came in time: a client with jitter comes too soon only sometimes. */
const maxMoreTurns = 3;

/** What all turns have in common. */
interface Turns {
  readonly runs: Runs;
  /** The key of the suspects. */
  readonly key: SteadyKey;
  readonly suspects: readonly Suspect[];
}

/** A run that rejects one request with a key, as one of the suspects does. */
interface Turn {
  readonly key: SteadyKey;
  /** The number of the request with the key, from 1. */
  readonly nth: number;
  readonly resendKind: ResendKind;
}

/**
 * What followed: a request that must not come, one that came in time, or one after which the command failed. `nothing_shown`: no test uses
 * the response of another key.
 */
type TurnResult =
  | { readonly kind: "resent" | "in_time" | "nothing_shown" }
  | { readonly kind: "failed"; readonly reason: Reason }
  | NotMade
  | NotJudged;

/** A turn that was taken, and what followed. */
interface TakenTurn {
  readonly turn: Turn;
  readonly result: Exclude<TurnResult, { kind: "failed" }>;
}

/** Rejects requests in turn. The first turn that nothing follows is a reason to doubt all suspects. */
export async function takeTurns(turns: Turns): Promise<RunEvidence> {
  const planned = await planTurns(turns);
  const half = Math.ceil(planned.length / 2);

  // Of most suites in which only some tests ask again, the first half shows it: the second half is not taken then.
  const taken: TakenTurn[] = [];
  for (const part of [planned.slice(0, half), planned.slice(half)]) {
    const takenPart = await takeInParallel(turns, part);
    for (const { result } of takenPart) {
      if (result.kind === "not_judged") return result;
    }

    taken.push(...takenPart);
    if (turns.runs.isStopped) {
      const made = taken.filter(({ result }) => result.kind !== "not_made");
      return notAllTaken(turns, made.length, planned.length);
    }
  }
  return takeMoreTurns(turns, requestsOnlyInTime(turns, taken), planned.length);
}

function takeInParallel(turns: Turns, part: readonly Turn[]): Promise<TakenTurn[]> {
  return Promise.all(part.map(async (turn) => ({ turn, result: await takeTurn(turns, turn) })));
}

/** The numbers of the requests with the suspects' key after which, in each of their turns, the next one came in time. */
function requestsOnlyInTime({ key }: Turns, taken: readonly TakenTurn[]): Set<number> {
  const ofKey = taken.filter(({ turn }) => turn.key === key);
  const requests = new Set<number>();
  for (const { turn } of ofKey) requests.add(turn.nth);
  for (const { turn, result } of ofKey) {
    if (result.kind === "resent") requests.delete(turn.nth);
  }
  return requests;
}

/** The turns of the suspects' key in two halves, with a turn of another key at the end of each half, if there is such a key. */
async function planTurns(turns: Turns): Promise<Turn[]> {
  const { runs, key, suspects } = turns;
  const turnCount = Math.max(minTurns, suspects.length);
  const otherKeys = await otherSteadyKeys(runs, key);
  const ofOthers = turnsOfOtherKeys(turns, otherKeys);

  const ofKey: Turn[] = [];
  for (const nth of requestOfEachTurn(key.requestCount, turnCount - ofOthers.length)) {
    ofKey.push(newTurn(turns, ofKey.length, nth));
  }
  const half = Math.ceil(ofKey.length / 2);
  return [...ofKey.slice(0, half), ...ofOthers.slice(0, 1), ...ofKey.slice(half), ...ofOthers.slice(1)];
}

/** The turns that reject the last request with another key, each with the next key and the next suspect's kind; none without such a key. */
function turnsOfOtherKeys({ suspects }: Turns, otherKeys: readonly SteadyKey[]): Turn[] {
  if (otherKeys.length === 0) return [];
  const turnsOfOthers: Turn[] = [];
  for (let at = 0; at < maxTurnsOfOtherKeys; at++) {
    const key = otherKeys[at % otherKeys.length] as SteadyKey; // there is one
    const { resendKind } = suspects[at % suspects.length] as Suspect; // there is one
    turnsOfOthers.push({ key, nth: key.requestCount, resendKind });
  }
  return turnsOfOthers;
}

/** A turn of the suspects' key. A round has a turn for each request; in the next round, each request gets the next suspect's kind. */
function newTurn({ key, suspects }: Turns, turnsBefore: number, nth: number): Turn {
  const round = Math.floor(turnsBefore / key.requestCount);
  const place = turnsBefore % key.requestCount;
  const { resendKind } = suspects[(round + place) % suspects.length] as Suspect; // there is one
  return { key, nth, resendKind };
}

/** Rejects those requests again that were only followed in time: a client with jitter may have done that by chance. */
async function takeMoreTurns(
  turns: Turns,
  requests: Iterable<number>,
  turnsBefore: number,
): Promise<RunEvidence> {
  let taken = turnsBefore;
  for (const nth of requests) {
    let isResent = false;
    for (let more = 0; more < maxMoreTurns && !isResent; more++) {
      const result = await takeTurn(turns, newTurn(turns, taken, nth));
      if (result.kind === "not_judged") return result;
      if (result.kind === "not_made") return notAllTaken(turns, taken, taken + 1);
      isResent = result.kind === "resent";
      taken += 1;
    }
    if (isResent) continue;
    const ending = `but in time after its request ${nth} of ${turns.key.requestCount}`;
    return notJudged(reasonToDoubt(turns, { ending, fix: letPollsWait }));
  }
  return countingEvidence;
}

/** Takes a turn: once more, if the command failed although one more request came. A flaky suite may do that by chance. */
async function takeTurn(turns: Turns, turn: Turn): Promise<TakenTurn["result"]> {
  let result = await rejectRequest(turns, turn);
  if (result.kind === "failed") result = await rejectRequest(turns, turn);
  return result.kind === "failed" ? notJudged(result.reason) : result;
}

async function rejectRequest(turns: Turns, { key, nth, resendKind }: Turn): Promise<TurnResult> {
  const { check, rejection, isTimed, responseWords } = resendKind;
  const wait = waitAfterRejection(resendKind);
  const run = await turns.runs.another(replacing(key, nth, rejection, check, wait));

  const followed = whatFollowed(run, key);
  const isOther = key !== turns.key;
  const when = `when its request ${nth} of ${key.requestCount} got ${responseWords}`;
  switch (followed.kind) {
    case "not_made":
    case "not_judged":
      return followed;
    case "nothing":
      if (!isOther) {
        return notJudged(reasonToDoubt(turns, { ending: `but not ${when}`, fix: turnOffSomePolls }));
      }
      return isNoticed(followed.run) ? notJudged(othersAreNot(turns, key)) : { kind: "nothing_shown" };
    case "sent_again": {
      if (isOther) return { kind: "resent" };
      if (followed.run.result !== "passed") {
        const doubt = { ending: `but the command failed ${when}`, fix: turnOffSomePolls };
        return { kind: "failed", reason: reasonToDoubt(turns, doubt) };
      }
      if (!isTimed || followed.early !== undefined) return { kind: "resent" };
      return followed.next.isElsewhere ? notJudged(sentByOtherProcess) : { kind: "in_time" };
    }
  }
}

/** As in "SVC_KEY_ACTIVE was sent again (req_1), but not when its request 2 of 4 got a 401". */
function reasonToDoubt({ key, suspects }: Turns, { ending, fix }: Doubt): Reason {
  return { why: `${keyVariable(key.ref)} was sent again (${firstIds(suspects)}), ${ending}`, whatToDo: fix };
}

/** Tests that poll may all use one key, and the others another one. */
function othersAreNot({ key, suspects }: Turns, other: SteadyKey): Reason {
  return {
    why: `requests with ${nameOfKey(key.ref)} are sent again (${firstIds(suspects)}), those with ${nameOfKey(other.ref)} are not`,
    whatToDo: turnOffSomePolls,
  };
}

function firstIds(suspects: readonly Suspect[]): string {
  const ids = new Set(suspects.map(({ requests: [first] }) => first?.id ?? ""));
  return listed([...ids], "and");
}

/** The runs that rejected the last request count as well: they were made for the same question. */
function notAllTaken({ suspects }: Turns, made: number, needed: number): NotJudged {
  const before = suspects[0]?.requests.length ?? 0;
  return notJudged(notAllMade(before + made, before + needed));
}
