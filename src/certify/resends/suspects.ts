import { keyVariable } from "../../rules/keys/key-text.js";
import { listed } from "../../schema/words.js";
import { type Reason, runTooLate } from "../checks/judgment.js";
import { isNoticed, type KeyRequest, longestWait } from "../client-runs/client-run.js";
import { noRequestReplaced } from "../client-runs/doubt-of-pass.js";
import type { Runs } from "../client-runs/runs.js";
import {
  controlRun,
  countedRequests,
  lastRequest,
  msIfTooEarly,
  type Reaction,
  reactionIn,
  type SuspectedKind,
  sentAgainAfter,
  sentByOtherProcess,
  type Turn,
  takeTurn,
  type WorkingKey,
} from "./reaction.js";
import { nameOfKey, type ResendKind } from "./resend-kinds.js";
import { findDoubtOfSteadiness, steadyKeysBesides } from "./steady-key.js";

// A suspect is a kind of rejection after which the key came again. That may not be the client's doing. Before a resend is named, runs of
// their own exclude these reasons:
// 1. The suite sends the key more often by itself: plain runs must send it equally often (steady-key.ts).
// 2. The client asks a second time while a response is late: then nothing more may come.
// 3. Some tests poll until they get a 200: three runs reject every other request with the key, since tests may come in another order in each
//    run. One more must follow each rejection.
// 4. A single test polls: eight turns or more reject the requests with the key from the first to the last, with the suspects' kinds of
//    rejection. One more must follow each. Two turns reject another key that always works, if there is one: all tests with the suspects' key
//    may poll.
// 5. With a kind that has a time, the next request of a turn may come in time by chance. Each request that was only followed in time has up
//    to five more turns, one of which must be followed too soon.

/** Makes these runs for suspects of one key that are all timed or all not. Returns why each is no problem; `undefined` if all other reasons are excluded. */
export async function weighSuspects(
  runs: Runs,
  key: WorkingKey,
  suspects: readonly SuspectedKind[],
): Promise<ReadonlyMap<SuspectedKind, Reason | undefined>> {
  const doubts = new Map<SuspectedKind, Reason | undefined>();
  if (suspects.length === 0) return doubts;
  const doubtOfKey = await findDoubtOfSteadiness(runs, key);
  if (doubtOfKey !== undefined) return new Map(suspects.map((suspect) => [suspect, doubtOfKey]));

  const remaining: SuspectedKind[] = [];
  for (const suspect of suspects) {
    const doubt = await findDoubtIfLate(runs, suspect);
    if (doubt === undefined) remaining.push(suspect);
    else doubts.set(suspect, doubt);
  }
  if (remaining.length === 0) return doubts;

  // The remaining suspects are one problem: a turn with the kind of one suspect counts for all, and its reason to doubt, too.
  const doubtByTurns = await findDoubtByTurns(runs, key, remaining);
  for (const suspect of remaining) doubts.set(suspect, doubtByTurns);
  return doubts;
}

/** A response that is late comes so long after the moment at which the client sent again, in milliseconds. */
const marginMs = 500;

/** Whether early requests come only after a rejection, or also if the response is late. A kind without a time has no early requests. */
async function findDoubtIfLate(runs: Runs, suspect: SuspectedKind): Promise<Reason | undefined> {
  const { key, resendKind, resends } = suspect;
  if (!resendKind.isTimed) return undefined;

  // The response comes after each of these early requests. Its seconds are whole, so that kinds share the run.
  const latest = Math.max(...resends.map((request) => msIfTooEarly(request) ?? 0));
  const seconds = Math.ceil((latest + marginMs) / 1000);
  // The client waits for the response, and may then wait as long as after any other one.
  const lateRun = controlRun(key, { kind: "late", seconds }, seconds * 1000 + longestWait);
  const reaction = reactionIn(await runs.makeOnce(lateRun), key, false);
  if (reaction.kind === "not_judged") return reaction.reason;

  const sentAgain = sentAgainAfter(suspect, resends);
  if (reaction.kind !== "nothing_more") {
    return {
      why: `${sentAgain}, but also while a response was only late`,
      whatToDo: "Do not send a request a second time while the first one has no response.",
    };
  }
  if (reaction.run.replacedCount === 0) return noRequestReplaced;
  if (reaction.run.result === "passed") return undefined;
  return {
    why: `${sentAgain}, but the command failed while a response was only late`,
    whatToDo: "Wait longer for a response.",
  };
}

/** So many more turns of a request are taken that was only followed in time. */
const maxMoreTurns = 5;

/** Takes the turns of the suspects, and finds the first one that leaves them in doubt. */
async function findDoubtByTurns(
  runs: Runs,
  key: WorkingKey,
  suspects: readonly SuspectedKind[],
): Promise<Reason | undefined> {
  const kinds = suspects.map(({ resendKind }) => resendKind);
  const firstResends = suspects.map(({ resends }) => resends[0] as KeyRequest); // a suspect has one
  const ids = new Set(firstResends.map(({ id }) => id));
  const idWords = listed([...ids], "and");
  const sentAgain = `${keyVariable(key.ref)} was sent again (${idWords})`;

  // If only some tests ask again, the first of these runs shows it most often: it saves the turns.
  const doubtInAnyOrder = await findDoubtInAnyOrder(runs, key, kinds, sentAgain);
  if (doubtInAnyOrder !== undefined) return doubtInAnyOrder;

  const { ofKey, ofOtherKeys } = planTurns(key, await steadyKeysBesides(runs, key), kinds);
  const [reactions, reactionsOfOtherKeys] = await Promise.all([
    Promise.all(ofKey.map((turn) => takeTurnOfKey(runs, turn))),
    Promise.all(ofOtherKeys.map((turn) => takeTurn(runs, turn))),
  ]);

  const lastInTime = new Map<KeyRequest, Turn>();
  const resent = new Set<KeyRequest>();
  for (const [index, turn] of ofKey.entries()) {
    const reaction = reactions[index] as Reaction; // each turn has one
    const doubt = findDoubtOfTurn(turn, reaction, sentAgain);
    if (doubt !== undefined) return doubt;
    if (reaction.kind === "resent") resent.add(turn.request);
    else lastInTime.set(turn.request, turn);
  }
  for (const [index, turn] of ofOtherKeys.entries()) {
    const reaction = reactionsOfOtherKeys[index] as Reaction; // each turn has one
    const doubt = findDoubtOfOtherKey(key, turn.key, reaction, idWords);
    if (doubt !== undefined) return doubt;
  }
  for (const [request, turn] of lastInTime) {
    const doubt = resent.has(request) ? undefined : await findDoubtByMoreTurns(runs, turn, kinds, sentAgain);
    if (doubt !== undefined) return doubt;
  }
  return undefined;
}

/** So many runs reject every other request. */
const runsInAnyOrder = 3;

/**
 * Whether a test gives up that no turn has met, since tests come in another order in each run. Every other request with the key is rejected:
 * each test that asks again is accepted, and the next test begins with a rejection. So the first test that gives up fails.
 */
async function findDoubtInAnyOrder(
  runs: Runs,
  key: WorkingKey,
  kinds: readonly ResendKind[],
  sentAgain: string,
): Promise<Reason | undefined> {
  const which = { kind: "every_other", key: key.ref } as const;
  for (let place = 0; place < runsInAnyOrder; place++) {
    const { check, rejection, responseWords, clientMayWaitMs } = kindAt(kinds, place);
    const run = await runs.makeAnother({
      purpose: check,
      conditions: { onRequest: { which, gets: rejection } },
      clientMayWaitMs: clientMayWaitMs * key.requests.length,
    });
    if (run.result === "timed_out") return runTooLate;
    if (run.replacedCount === 0) return noRequestReplaced;
    const countMore = countedRequests(run, key.ref).length - key.requests.length;
    if (run.result === "passed" && countMore >= run.replacedCount) continue;
    return {
      why: `${sentAgain}, but not each time when every other request with it got ${responseWords}`,
      whatToDo: turnOffSomePolls,
    };
  }
  return undefined;
}

/** Rejects the request of a turn again, with the kinds that follow, until one more comes too soon. If it never does, that is the doubt. */
async function findDoubtByMoreTurns(
  runs: Runs,
  turn: Turn,
  kinds: readonly ResendKind[],
  sentAgain: string,
): Promise<Reason | undefined> {
  const place = kinds.indexOf(turn.resendKind);
  for (let more = 1; more <= maxMoreTurns; more++) {
    const nextTurn = { ...turn, resendKind: kindAt(kinds, place + more) };
    const reaction = await takeTurnOfKey(runs, nextTurn);
    const doubt = findDoubtOfTurn(nextTurn, reaction, sentAgain);
    if (doubt !== undefined) return doubt;
    if (reaction.kind === "resent") return undefined;
  }
  return {
    why: `${sentAgain}, but in time after its ${placeOf(turn)}`,
    whatToDo:
      "If some calls ask again by themselves, such as a test that polls, let them wait as your client does.",
  };
}

async function takeTurnOfKey(runs: Runs, turn: Turn): Promise<Reaction> {
  const reaction = await takeTurn(runs, turn);
  // A suite that fails at random may fail although one more request came: then the turn is taken once more.
  return reaction.kind === "then_failed" ? takeTurn(runs, turn) : reaction;
}

/** One more request must follow in each turn, and the command must pass: a turn without it is the reason to doubt the suspicion. */
function findDoubtOfTurn(turn: Turn, reaction: Reaction, sentAgain: string): Reason | undefined {
  const when = `when its ${placeOf(turn)} got ${turn.resendKind.responseWords}`;
  switch (reaction.kind) {
    case "not_judged":
      return reaction.reason;
    case "nothing_more":
      return { why: `${sentAgain}, but not ${when}`, whatToDo: turnOffSomePolls };
    case "then_failed":
      return { why: `${sentAgain}, but the command failed ${when}`, whatToDo: turnOffSomePolls };
    case "by_other_process":
      return sentByOtherProcess;
    case "in_time":
    case "resent":
      return undefined;
  }
}

/** If a test uses the last response of another key, and nothing follows its rejection, only tests with the suspects' key may poll. */
function findDoubtOfOtherKey(
  key: WorkingKey,
  otherKey: WorkingKey,
  reaction: Reaction,
  idWords: string,
): Reason | undefined {
  if (reaction.kind === "not_judged") return reaction.reason;
  if (reaction.kind !== "nothing_more" || !isNoticed(reaction.run)) return undefined;
  const [name, otherName] = [nameOfKey(key.ref), nameOfKey(otherKey.ref)];
  return {
    why: `requests with ${name} are sent again (${idWords}), those with ${otherName} are not`,
    whatToDo: turnOffSomePolls,
  };
}

const turnOffSomePolls =
  "If only some tests ask again, such as those that poll or that their runner repeats, turn that off.";

function placeOf({ key, request }: Turn): string {
  return `request ${request.nth} of ${lastRequest(key).nth}`;
}

/** So many turns must all show a request more, of which so many reject another key. */
const minTurns = 8;
const turnsOfOtherKeys = 2;

/**
 * Plans the turns, in their order. Each turn rejects the next request of the suspects' key. After its last request, the first one comes
 * again, with the next kind of rejection. Two turns are for the last requests of other keys, if there are any.
 *
 * Of a key ACTIVE with 3 requests, another key LIVE with 2, and the kinds 401 and 403, these turns come out:
 *
 *     of the key:     ACTIVE 1 with 401, ACTIVE 2 with 403, ACTIVE 3 with 401, ACTIVE 1 with 403, ACTIVE 2 with 401, ACTIVE 3 with 403
 *     of other keys:  LIVE 2 with 401, LIVE 2 with 403
 */
function planTurns(
  key: WorkingKey,
  otherKeys: readonly WorkingKey[],
  kinds: readonly ResendKind[],
): { readonly ofKey: readonly Turn[]; readonly ofOtherKeys: readonly Turn[] } {
  const ofOtherKeys: Turn[] = [];
  for (let place = 0; otherKeys.length > 0 && place < turnsOfOtherKeys; place++) {
    // A single other key has both turns.
    const otherKey = otherKeys[place % otherKeys.length] as WorkingKey; // there is one
    ofOtherKeys.push({ key: otherKey, request: lastRequest(otherKey), resendKind: kindAt(kinds, place) });
  }

  // Each kind has a turn. In each round, all requests have one, and it begins with the next kind.
  const turnCount = Math.max(minTurns - ofOtherKeys.length, kinds.length);
  const requests = spreadOut(key.requests, turnCount);
  const ofKey: Turn[] = [];
  for (let round = 0; ofKey.length < turnCount; round++) {
    for (const [place, request] of requests.entries()) {
      if (ofKey.length < turnCount) ofKey.push({ key, request, resendKind: kindAt(kinds, round + place) });
    }
  }
  return { ofKey, ofOtherKeys };
}

/** All of the requests, or so many of them, from the first to the last, at even distances. */
function spreadOut(requests: readonly KeyRequest[], most: number): readonly KeyRequest[] {
  if (requests.length <= most) return requests;
  const distance = (requests.length - 1) / (most - 1);
  const some: KeyRequest[] = [];
  for (let before = 0; before < most; before++) {
    some.push(requests[Math.round(before * distance)] as KeyRequest); // the last index is that of the last request
  }
  return some;
}

/** After the last kind, the first one comes again. */
function kindAt(kinds: readonly ResendKind[], place: number): ResendKind {
  return kinds[place % kinds.length] as ResendKind; // there is a kind
}
