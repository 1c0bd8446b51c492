import { keyVariable } from "../../rules/key-text.js";
import { listed } from "../../schema/words.js";
import {
  type NotJudged,
  notAllMade,
  notJudged,
  type Reason,
  type RunEvidence,
  sufficient,
} from "../checks/judgment.js";
import { type ClientRun, isNoticed, type NotMade } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import { runReplacingNth, type SteadyKey, whatFollowed } from "./replaced-run.js";
import { nameOfKey, type ResendKind, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { type Doubt, letPollsWait, sentByOtherProcess, turnOffSomePolls } from "./resend-words.js";
import { steadyKeysBesides } from "./steady-key.js";
import { inHalves, planTurns, type SomeKinds, type Turn, turnsAfter } from "./turn-plan.js";

// The key came again after its last request was rejected. Was it the client, which does so everywhere, or a single test that polls? A turn
// is a run that rejects one of the requests with the key. One more must follow in each turn:
// 1. Eight turns or more reject the requests from the first to the last, with the suspects' kinds of rejection by turns. Two of them
//    reject another key that always works, if there is one: all tests with the suspects' key may poll (turn-plan.ts).
// 2. With a kind that has a time, the next request may have come in time by chance. Each request that was only followed in time has up to
//    five more turns, one of which must be followed too soon.

/**
 * How often a request is rejected again after which the next one came in time: a client with jitter comes too soon only sometimes. Of 300
 * whose jitter is 10 to 50% around the time, 3 names 75, 5 names 83 with 0.1 runs more in the mean, and 8 names 87. Of 150 that wait at
 * least as long as they are asked, nobody is accused.
 */
const maxMoreTurns = 5;

/** What all turns have in common. */
interface Turns {
  readonly runs: Runs;
  /** The key of the suspects. */
  readonly key: SteadyKey;
  readonly suspects: readonly Suspect[];
}

/** What followed a turn. Not judged: the turn is a reason to doubt the suspects. */
type TurnResult =
  /** A request that must not come, or one in time. */
  | { readonly kind: "resent" | "in_time" }
  /** Another key came again as well, or no test uses its response. */
  | { readonly kind: "other_key" }
  | NotMade
  | NotJudged;

/** A turn with what followed. */
interface TakenTurn {
  readonly turn: Turn;
  readonly result: TurnResult;
}

/** Rejects requests in turn. The first turn that nothing follows is a reason to doubt all suspects. */
export async function takeTurns(turns: Turns): Promise<RunEvidence> {
  const { runs, key, suspects } = turns;
  const otherKeys = await steadyKeysBesides(runs, key);
  const plan = planTurns(key, otherKeys, kindsOf(suspects));

  // Of most suites in which only some tests ask again, the first half shows it: the second half is not taken then.
  const takenTurns: TakenTurn[] = [];
  for (const half of inHalves(plan)) {
    const takenInHalf = await Promise.all(half.map((turn) => takeTurn(turns, turn)));
    for (const { result } of takenInHalf) {
      if (result.kind === "not_judged") return result;
    }

    takenTurns.push(...takenInHalf);
    if (runs.isStopped) {
      const madeCount = takenTurns.filter(({ result }) => result.kind !== "not_made").length;
      return notAllTaken(turns, madeCount, plan.length);
    }
  }
  return takeMoreTurns(turns, lastTurnsOnlyInTime(takenTurns), plan.length);
}

function kindsOf(suspects: readonly Suspect[]): SomeKinds {
  return suspects.map(({ resendKind }) => resendKind) as [ResendKind, ...ResendKind[]]; // there is a suspect
}

/** The last turn of each request after which, in all of its turns, the next one came in time. */
function lastTurnsOnlyInTime(taken: readonly TakenTurn[]): Turn[] {
  const resent = new Set<number>();
  for (const { turn, result } of taken) {
    if (result.kind === "resent") resent.add(turn.nth);
  }

  const lastTurns = new Map<number, Turn>();
  for (const { turn, result } of taken) {
    if (result.kind === "in_time" && !resent.has(turn.nth)) lastTurns.set(turn.nth, turn);
  }
  return [...lastTurns.values()];
}

/** Rejects those requests again that were only followed in time: a client with jitter may have done that by chance. */
async function takeMoreTurns(
  turns: Turns,
  lastTurns: readonly Turn[],
  countBefore: number,
): Promise<RunEvidence> {
  const { key, suspects } = turns;
  let takenCount = countBefore;
  for (const lastTurn of lastTurns) {
    let isResent = false;
    for (const turn of turnsAfter(lastTurn, kindsOf(suspects), maxMoreTurns)) {
      const { result } = await takeTurn(turns, turn);
      if (result.kind === "not_judged") return result;
      if (result.kind === "not_made") return notAllTaken(turns, takenCount, takenCount + 1);
      takenCount += 1;
      isResent = result.kind === "resent";
      if (isResent) break;
    }
    if (isResent) continue;
    const ending = `but in time after its request ${lastTurn.nth} of ${key.usualCount}`;
    return notJudged(reasonToDoubt(turns, { ending, fix: letPollsWait }));
  }
  return sufficient;
}

async function takeTurn(turns: Turns, turn: Turn): Promise<TakenTurn> {
  const isOfSuspects = turn.key.ref === turns.key.ref;
  const result = isOfSuspects ? await takeTurnOfKey(turns, turn) : await takeTurnOfOtherKey(turns, turn);
  return { turn, result };
}

/** Takes a turn: once more, if the command failed although one more request came. A flaky suite may do that by chance. */
async function takeTurnOfKey(turns: Turns, turn: Turn): Promise<TurnResult> {
  const first = await rejectRequest(turns, turn);
  if (first.kind !== "failed") return first;
  const second = await rejectRequest(turns, turn);
  return second.kind === "failed" ? notJudged(second.reason) : second;
}

/** Rejects one request of the suspects' key. `failed`: one more request came, and the command failed. */
async function rejectRequest(
  turns: Turns,
  turn: Turn,
): Promise<TurnResult | { readonly kind: "failed"; readonly reason: Reason }> {
  const { key, nth, kind } = turn;
  const followed = whatFollowed(await makeRunOfTurn(turns, turn), key);
  const when = `when its request ${nth} of ${key.usualCount} got ${kind.responseWords}`;
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
      if (!kind.isTimed || followed.early !== undefined) return { kind: "resent" };
      return followed.next.isElsewhere ? notJudged(sentByOtherProcess) : { kind: "in_time" };
    }
  }
}

/** Rejects the last request of another key: tests that poll may all use the suspects' key. */
async function takeTurnOfOtherKey(turns: Turns, turn: Turn): Promise<TurnResult> {
  const followed = whatFollowed(await makeRunOfTurn(turns, turn), turn.key);
  switch (followed.kind) {
    case "not_made":
    case "not_judged":
      return followed;
    case "nothing":
      if (isNoticed(followed.run)) return notJudged(otherKeyIsNotSentAgain(turns, turn.key));
      return { kind: "other_key" };
    case "sent_again":
      return { kind: "other_key" };
  }
}

function makeRunOfTurn({ runs }: Turns, { key, nth, kind }: Turn): Promise<ClientRun | NotMade> {
  const { rejection, check } = kind;
  return runs.makeAnother(runReplacingNth(key, nth, rejection, check, waitAfterRejection(kind)));
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
