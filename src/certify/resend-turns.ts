import { keyVariable } from "../rules/api-key.js";
import { listed } from "../schema/words.js";
import { countingEvidence, type NotJudged, notJudged, type Reason, type RunEvidence } from "./judgment.js";
import { replacing, type SteadyKey, whatFollowed } from "./replaced-run.js";
import { requestOfEachTurn } from "./request-of-each-turn.js";
import { type ResendKind, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { type Doubt, letPollsWait, sentByOtherProcess, turnOffSomePolls } from "./resend-words.js";
import type { Runs } from "./runs.js";

// The key came again after its last request was rejected. Was it the client, which does so everywhere, or a single test that polls? A turn
// is a run that rejects one of the requests with the key. One more must follow in each turn:
// 1. Eight turns reject the requests from the first to the last, with the suspects' kinds of rejection by turns.
// 2. With a kind that has a time, the next request may have come in time by chance. Each request that was only followed in time has three
//    more turns, one of which must be followed too soon.

/** How many requests are rejected in turn before a problem is named. */
const minTurns = 8;

/** How often a request is rejected again after which the next one came in time: a client with jitter comes too soon only sometimes. */
const maxMoreTurns = 3;

/** What all turns have in common. */
interface Turns {
  readonly runs: Runs;
  readonly key: SteadyKey;
  readonly suspects: readonly Suspect[];
}

/** A run that rejects one request with the key, as one of the suspects does. */
interface Turn {
  /** The number of the request with the key, from 1. */
  readonly nth: number;
  readonly resendKind: ResendKind;
}

/** What followed: a request that must not come, one that came in time, or one after which the command failed. */
type TurnResult =
  | { readonly kind: "resent" | "in_time" }
  | { readonly kind: "failed"; readonly reason: Reason }
  | NotJudged;

/** Rejects the requests with the key in turn. The first turn that nothing follows is a reason to doubt all suspects. */
export async function takeTurns(turns: Turns): Promise<RunEvidence> {
  const { key, suspects } = turns;
  const turnCount = Math.max(minTurns, suspects.length);
  const all: Turn[] = [];
  for (const nth of requestOfEachTurn(key.requestCount, turnCount)) all.push(newTurn(turns, all.length, nth));

  // Of most suites in which only some tests ask again, the first half shows it.
  const open = new Set(all.map(({ nth }) => nth));
  const half = Math.ceil(turnCount / 2);
  for (const part of [all.slice(0, half), all.slice(half)]) {
    const results = await Promise.all(part.map((turn) => takeTurn(turns, turn)));
    for (const [at, result] of results.entries()) {
      if (result.kind === "not_judged") return result;
      if (result.kind === "resent") open.delete((part[at] as Turn).nth);
    }
  }
  return takeMoreTurns(turns, open, turnCount);
}

/** The suspects take turns. When all requests have had one, each gets in the next round what the next suspect has. */
function newTurn({ key, suspects }: Turns, turnsBefore: number, nth: number): Turn {
  const round = Math.floor(turnsBefore / key.requestCount);
  const place = turnsBefore % key.requestCount;
  const { resendKind } = suspects[(round + place) % suspects.length] as Suspect; // there is one
  return { nth, resendKind };
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
async function takeTurn(turns: Turns, turn: Turn): Promise<Exclude<TurnResult, { kind: "failed" }>> {
  let result = await rejectRequest(turns, turn);
  if (result.kind === "failed") result = await rejectRequest(turns, turn);
  return result.kind === "failed" ? notJudged(result.reason) : result;
}

async function rejectRequest(turns: Turns, { nth, resendKind }: Turn): Promise<TurnResult> {
  const { runs, key } = turns;
  const { check, rejection, isTimed, responseWords } = resendKind;
  const run = await runs.another(replacing(key, nth, rejection, check, waitAfterRejection(resendKind)));

  const followed = whatFollowed(run, key);
  const when = `when its request ${nth} of ${key.requestCount} got ${responseWords}`;
  switch (followed.kind) {
    case "not_judged":
      return followed;
    case "nothing":
      return notJudged(reasonToDoubt(turns, { ending: `but not ${when}`, fix: turnOffSomePolls }));
    case "sent_again": {
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
  const ids = new Set(suspects.map(({ requests: [first] }) => first?.id ?? ""));
  const why = `${keyVariable(key.ref)} was sent again (${listed([...ids], "and")}), ${ending}`;
  return { why, whatToDo: fix };
}
