import type { SteadyKey } from "./replaced-run.js";
import type { ResendKind } from "./resend-kinds.js";

/** A run that rejects one request of a key: the nth, from 1, with this kind of rejection. */
export interface Turn {
  readonly key: SteadyKey;
  readonly nth: number;
  readonly resendKind: ResendKind;
}

/** The suspects' kinds of rejection, of which there is at least one. */
export type SomeKinds = readonly [ResendKind, ...ResendKind[]];

/** How many requests are rejected in turn before a problem is named. With two less, 14 in place of 8 of 300 suites in which most tests poll are accused. */
const minTurns = 8;

/** How many of these turns reject another key. Without them, 3 of 150 suites in which only the tests with one key poll are accused. */
const turnsOfOtherKeys = 2;

/**
 * Plans the turns, in their order. Each turn rejects the next request of the suspects' key. After its last request, the first one comes
 * again, with the next kind of rejection. The last turn of each half is for another key, if there is one.
 *
 * Of a key ACTIVE with 3 requests, another key LIVE with 2, and the kinds 401 and 403, these turns come out:
 *
 *     { key: ACTIVE, nth: 1, resendKind: 401 }      { key: ACTIVE, nth: 1, resendKind: 403 }
 *     { key: ACTIVE, nth: 2, resendKind: 403 }      { key: ACTIVE, nth: 2, resendKind: 401 }
 *     { key: ACTIVE, nth: 3, resendKind: 401 }      { key: ACTIVE, nth: 3, resendKind: 403 }
 *     { key: LIVE,   nth: 2, resendKind: 401 }      { key: LIVE,   nth: 2, resendKind: 403 }
 */
export function planTurns(key: SteadyKey, otherKeys: readonly SteadyKey[], kinds: SomeKinds): Turn[] {
  const turnCount = Math.max(minTurns, kinds.length);
  const [firstOther, secondOther = firstOther] = otherKeys;
  if (firstOther === undefined || secondOther === undefined) return turnsOfKey(key, kinds, turnCount);

  const [firstHalf, secondHalf] = inHalves(turnsOfKey(key, kinds, turnCount - turnsOfOtherKeys));
  const [firstKind, secondKind = firstKind] = kinds;
  return [
    ...firstHalf,
    turnOfLast(firstOther, firstKind),
    ...secondHalf,
    turnOfLast(secondOther, secondKind),
  ];
}

/** Splits turns in the middle. Of an odd number, the first half has one more. */
export function inHalves(turns: readonly Turn[]): [readonly Turn[], readonly Turn[]] {
  const middle = Math.ceil(turns.length / 2);
  return [turns.slice(0, middle), turns.slice(middle)];
}

/** So many turns of one key, in rounds: in each round, all its requests have a turn, and each has another kind than in the round before. */
function turnsOfKey(key: SteadyKey, kinds: SomeKinds, turnCount: number): Turn[] {
  const turns: Turn[] = [];
  let [firstKindOfRound] = kinds;
  for (;;) {
    let kind = firstKindOfRound;
    for (const nth of requestsToReject(key.usualCount, turnCount)) {
      if (turns.length === turnCount) return turns;
      turns.push({ key, nth, resendKind: kind });
      kind = kindAfter(kind, kinds);
    }
    firstKindOfRound = kindAfter(firstKindOfRound, kinds);
  }
}

/** The numbers of the requests that are rejected: all of them, or so many, from the first to the last, at even distances. */
function requestsToReject(requestCount: number, most: number): number[] {
  const numbers: number[] = [];
  if (requestCount <= most) {
    for (let nth = 1; nth <= requestCount; nth++) numbers.push(nth);
    return numbers;
  }

  const distance = (requestCount - 1) / (most - 1);
  for (let before = 0; before < most; before++) numbers.push(1 + Math.round(before * distance));
  return numbers;
}

function turnOfLast(key: SteadyKey, kind: ResendKind): Turn {
  return { key, nth: key.usualCount, resendKind: kind };
}

/** So many more turns of the request of this turn, with the kinds that follow its kind. */
export function turnsAfter(turn: Turn, kinds: SomeKinds, count: number): Turn[] {
  const turns: Turn[] = [];
  let { resendKind } = turn;
  while (turns.length < count) {
    resendKind = kindAfter(resendKind, kinds);
    turns.push({ ...turn, resendKind });
  }
  return turns;
}

/** The next kind; after the last one, the first one comes again. */
function kindAfter(kind: ResendKind, kinds: SomeKinds): ResendKind {
  const next = kinds[kinds.indexOf(kind) + 1];
  return next ?? kinds[0];
}
