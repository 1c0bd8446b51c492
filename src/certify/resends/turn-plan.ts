import { minTurns, turnsOfOtherKeys } from "../checks/chance.js";
import { lastReadNumber, type SteadyKey } from "./replaced-run.js";
import type { ResendKind } from "./resend-kinds.js";

/** A run that rejects one request of a key: the nth, from 1, with this kind of rejection. */
export interface Turn {
  readonly key: SteadyKey;
  readonly nth: number;
  readonly resendKind: ResendKind;
}

/** The suspects' kinds of rejection, of which there is at least one. */
export type SomeKinds = readonly [ResendKind, ...ResendKind[]];

/** The turns in two halves: if the first half shows a doubt, the second one is not taken. */
type TurnPlan = readonly [firstHalf: readonly Turn[], secondHalf: readonly Turn[]];

/**
 * Plans the turns, in their order. Each turn rejects the next request of the suspects' key. After its last request, the first one comes
 * again, with the next kind of rejection. The last turn of each half is for another key, if there is one.
 *
 * Of a key ACTIVE with 3 requests, another key LIVE with 2, and the kinds 401 and 403, these turns come out:
 *
 *     first half: ACTIVE 1 with 401, ACTIVE 2 with 403, ACTIVE 3 with 401, LIVE 2 with 401
 *     second half: ACTIVE 1 with 403, ACTIVE 2 with 401, ACTIVE 3 with 403, LIVE 2 with 403
 */
export function planTurns(key: SteadyKey, otherKeys: readonly SteadyKey[], kinds: SomeKinds): TurnPlan {
  const turnCount = Math.max(minTurns, kinds.length);
  const [firstOther, secondOther = firstOther] = otherKeys;
  if (firstOther === undefined || secondOther === undefined) {
    return inHalves(turnsOfKey(key, kinds, turnCount));
  }

  const [firstHalf, secondHalf] = inHalves(turnsOfKey(key, kinds, turnCount - turnsOfOtherKeys));
  return [
    [...firstHalf, turnOfLast(firstOther, kindAt(kinds, 0))],
    [...secondHalf, turnOfLast(secondOther, kindAt(kinds, 1))],
  ];
}

/** Splits turns in the middle. Of an odd number, the first half has one more. */
function inHalves(turns: readonly Turn[]): TurnPlan {
  const middle = Math.ceil(turns.length / 2);
  return [turns.slice(0, middle), turns.slice(middle)];
}

/** So many turns of one key, in rounds: in each round, all its requests have a turn. Each round begins with the next kind. */
function turnsOfKey(key: SteadyKey, kinds: SomeKinds, turnCount: number): Turn[] {
  const numbers = numbersInTurn(key.readNumbers, turnCount);
  const turns: Turn[] = [];
  for (let round = 0; ; round++) {
    for (const [place, nth] of numbers.entries()) {
      if (turns.length === turnCount) return turns;
      turns.push({ key, nth, resendKind: kindAt(kinds, round + place) });
    }
  }
}

/** The numbers of requests that have a turn: all of them, or so many, from the first to the last, at even distances. */
function numbersInTurn(readNumbers: readonly number[], most: number): readonly number[] {
  if (readNumbers.length <= most) return readNumbers;

  const distance = (readNumbers.length - 1) / (most - 1);
  const numbers: number[] = [];
  for (let before = 0; before < most; before++) {
    numbers.push(readNumbers[Math.round(before * distance)] as number); // the last index is that of the last request
  }
  return numbers;
}

function turnOfLast(key: SteadyKey, kind: ResendKind): Turn {
  return { key, nth: lastReadNumber(key), resendKind: kind };
}

/** So many more turns of the request of this turn, with the kinds that follow its kind. */
export function turnsAfter(turn: Turn, kinds: SomeKinds, count: number): Turn[] {
  const firstKind = kinds.indexOf(turn.resendKind);
  const turns: Turn[] = [];
  for (let more = 1; more <= count; more++) {
    turns.push({ ...turn, resendKind: kindAt(kinds, firstKind + more) });
  }
  return turns;
}

/** The kind at this place, from 0. After the last kind, the first one comes again. */
function kindAt(kinds: SomeKinds, place: number): ResendKind {
  return kinds[place % kinds.length] ?? kinds[0];
}
