import { keyVariable } from "../../rules/api-key.js";
import { listed } from "../../schema/words.js";
import {
  countingEvidence,
  type NotJudged,
  notAllMade,
  notJudged,
  type Reason,
  type RunEvidence,
} from "../checks/judgment.js";
import { isNoticed, type NotMade } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import { replacing, type SteadyKey, whatFollowed } from "./replaced-run.js";
import { nameOfKey, type ResendKind, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { type Doubt, letPollsWait, sentByOtherProcess, turnOffSomePolls } from "./resend-words.js";
import { steadyKeysBesides } from "./steady-key.js";
import { kindOfTurn, planTurns, type Turn } from "./turn-plan.js";

// The key came again after its last request was rejected. Was it the client, which does so everywhere, or a single test that polls? A turn
// is a run that rejects one of the requests with the key. One more must follow in each turn:
// 1. Eight turns reject the requests from the first to the last, with the suspects' kinds of rejection by turns. Two of them reject
//    another key that always works, if there is one: all tests with the first key may poll.
// 2. With a kind that has a time, the next request may have come in time by chance. Each request that was only followed in time has three
//    more turns, one of which must be followed too soon.

/** How often a request is rejected again after which the next one came in time: a client with jitter comes too soon only sometimes. */
const maxMoreTurns = 3;

/** What all turns have in common. */
interface Turns {
  readonly runs: Runs;
  /** The key of the suspects. */
  readonly key: SteadyKey;
  readonly suspects: readonly Suspect[];
}

/** What followed a turn. Not judged: the turn is a reason to doubt the suspects. */
type TurnResult =
  /** A request that must not come, or one in time, after request `nth` of the suspects' key. */
  | { readonly kind: "resent" | "in_time"; readonly nth: number }
  /** Another key came again as well, or no test uses its response. */
  | { readonly kind: "other_key" }
  | NotMade
  | NotJudged;

/** Rejects requests in turn. The first turn that nothing follows is a reason to doubt all suspects. */
export async function takeTurns(turns: Turns): Promise<RunEvidence> {
  const { runs, key, suspects } = turns;
  const otherKeys = await steadyKeysBesides(runs, key);
  const halves = planTurns(key, otherKeys, suspects);
  const turnCount = halves[0].length + halves[1].length;

  // Of most suites in which only some tests ask again, the first half shows it: the second half is not taken then.
  const results: TurnResult[] = [];
  for (const half of halves) {
    const resultsOfHalf = await Promise.all(half.map((turn) => takeTurn(turns, turn)));
    for (const result of resultsOfHalf) {
      if (result.kind === "not_judged") return result;
    }

    results.push(...resultsOfHalf);
    if (runs.isStopped) {
      const madeCount = results.filter(({ kind }) => kind !== "not_made").length;
      return notAllTaken(turns, madeCount, turnCount);
    }
  }
  return takeMoreTurns(turns, requestsOnlyInTime(results), turnCount);
}

/** The numbers of the requests after which, in each of their turns, the next one came in time. */
function requestsOnlyInTime(results: readonly TurnResult[]): number[] {
  const resent = new Set<number>();
  for (const result of results) {
    if (result.kind === "resent") resent.add(result.nth);
  }

  const onlyInTime = new Set<number>();
  for (const result of results) {
    if (result.kind === "in_time" && !resent.has(result.nth)) onlyInTime.add(result.nth);
  }
  return [...onlyInTime];
}

/** Rejects those requests again that were only followed in time: a client with jitter may have done that by chance. */
async function takeMoreTurns(
  turns: Turns,
  requests: readonly number[],
  turnsBefore: number,
): Promise<RunEvidence> {
  const { key, suspects } = turns;
  let takenCount = turnsBefore;
  for (const nth of requests) {
    let isResent = false;
    for (let more = 0; more < maxMoreTurns && !isResent; more++) {
      const result = await takeTurnOfKey(turns, nth, kindOfTurn(takenCount, key, suspects));
      if (result.kind === "not_judged") return result;
      if (result.kind === "not_made") return notAllTaken(turns, takenCount, takenCount + 1);
      isResent = result.kind === "resent";
      takenCount += 1;
    }
    if (isResent) continue;
    const ending = `but in time after its request ${nth} of ${key.acceptedInPlain}`;
    return notJudged(reasonToDoubt(turns, { ending, fix: letPollsWait }));
  }
  return countingEvidence;
}

function takeTurn(turns: Turns, turn: Turn): Promise<TurnResult> {
  if (turn.kind === "of_key") return takeTurnOfKey(turns, turn.nth, turn.resendKind);
  return takeTurnOfOtherKey(turns, turn.otherKey, turn.resendKind);
}

/** Takes a turn: once more, if the command failed although one more request came. A flaky suite may do that by chance. */
async function takeTurnOfKey(turns: Turns, nth: number, resendKind: ResendKind): Promise<TurnResult> {
  const first = await rejectNth(turns, nth, resendKind);
  if (first.kind !== "failed") return first;
  const second = await rejectNth(turns, nth, resendKind);
  return second.kind === "failed" ? notJudged(second.reason) : second;
}

/** Rejects one request of the suspects' key. `failed`: one more request came, and the command failed. */
async function rejectNth(
  turns: Turns,
  nth: number,
  resendKind: ResendKind,
): Promise<TurnResult | { readonly kind: "failed"; readonly reason: Reason }> {
  const { key, runs } = turns;
  const { check, rejection, isTimed, responseWords } = resendKind;
  const run = await runs.another(replacing(key, nth, rejection, check, waitAfterRejection(resendKind)));

  const followed = whatFollowed(run, key);
  const when = `when its request ${nth} of ${key.acceptedInPlain} got ${responseWords}`;
  switch (followed.kind) {
    case "not_made":
    case "not_judged":
      return followed;
    case "nothing":
      return notJudged(reasonToDoubt(turns, { ending: `but not ${when}`, fix: turnOffSomePolls }));
    case "sent_again": {
      if (followed.run.result !== "passed") {
        const doubt = { ending: `but the command failed ${when}`, fix: turnOffSomePolls };
        return { kind: "failed", reason: reasonToDoubt(turns, doubt) };
      }
      if (!isTimed || followed.early !== undefined) return { kind: "resent", nth };
      return followed.next.isElsewhere ? notJudged(sentByOtherProcess) : { kind: "in_time", nth };
    }
  }
}

/** Rejects the last request of another key: tests that poll may all use the suspects' key. */
async function takeTurnOfOtherKey(
  turns: Turns,
  otherKey: SteadyKey,
  resendKind: ResendKind,
): Promise<TurnResult> {
  const { check, rejection } = resendKind;
  const wait = waitAfterRejection(resendKind);
  const nth = otherKey.acceptedInPlain;
  const run = await turns.runs.another(replacing(otherKey, nth, rejection, check, wait));

  const followed = whatFollowed(run, otherKey);
  switch (followed.kind) {
    case "not_made":
    case "not_judged":
      return followed;
    case "nothing":
      if (isNoticed(followed.run)) return notJudged(otherKeyIsNotSentAgain(turns, otherKey));
      return { kind: "other_key" };
    case "sent_again":
      return { kind: "other_key" };
  }
}

/** As in "SVC_KEY_ACTIVE was sent again (req_1), but not when its request 2 of 4 got a 401". */
function reasonToDoubt({ key, suspects }: Turns, { ending, fix }: Doubt): Reason {
  return { why: `${keyVariable(key.ref)} was sent again (${firstIds(suspects)}), ${ending}`, whatToDo: fix };
}

function otherKeyIsNotSentAgain({ key, suspects }: Turns, otherKey: SteadyKey): Reason {
  return {
    why: `requests with ${nameOfKey(key.ref)} are sent again (${firstIds(suspects)}), those with ${nameOfKey(otherKey.ref)} are not`,
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
