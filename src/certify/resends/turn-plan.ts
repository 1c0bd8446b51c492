import { minTurns, turnsOfOtherKeys } from "../checks/chance.js";
import { lastReadNumber, type WorkingKey } from "./replaced-run.js";
import type { ResendKind } from "./resend-kinds.js";

/** A run that rejects one request of a key: the nth, from 1, with this kind of rejection. */
export interface Turn {
  readonly key: WorkingKey;
  readonly nth: number;
  readonly resendKind: ResendKind;
}

/** The suspects' kinds of rejection, of which there is at least one. */
export type SomeKinds = readonly [ResendKind, ...ResendKind[]];

/** The turns of the suspects' key, and those of other keys. */
interface TurnPlan {
  readonly ofKey: readonly Turn[];
  readonly ofOtherKeys: readonly Turn[];
}

/**
 * Plans the turns, in their order. Each turn rejects the next request of the suspects' key. After its last request, the first one comes
 * again, with the next kind of rejection. Two turns are for the last requests of other keys, if there are any.
 *
 * Of a key ACTIVE with 3 requests, another key LIVE with 2, and the kinds 401 and 403, these turns come out:
 *
 *     of the key:     ACTIVE 1 with 401, ACTIVE 2 with 403, ACTIVE 3 with 401, ACTIVE 1 with 403, ACTIVE 2 with 401, ACTIVE 3 with 403
 *     of other keys:  LIVE 2 with 401, LIVE 2 with 403
 */
export function planTurns(key: WorkingKey, otherKeys: readonly WorkingKey[], kinds: SomeKinds): TurnPlan {
  const ofOtherKeys: Turn[] = [];
  if (otherKeys.length > 0) {
    for (let place = 0; place < turnsOfOtherKeys; place++) {
      // A single other key has both turns.
      const otherKey = otherKeys[place % otherKeys.length] as WorkingKey; // there is one
      ofOtherKeys.push({ key: otherKey, nth: lastReadNumber(otherKey), resendKind: kindAt(kinds, place) });
    }
  }

  // Each kind has a turn.
  const turnCount = Math.max(minTurns - ofOtherKeys.length, kinds.length);
  return { ofKey: turnsOfKey(key, kinds, turnCount), ofOtherKeys };
}

/** So many turns of one key, in rounds: in each round, all its requests have a turn. Each round begins with the next kind. */
function turnsOfKey(key: WorkingKey, kinds: SomeKinds, turnCount: number): Turn[] {
  const numbers = numbersInTurn(key.numbersOfReadRequests, turnCount);
  const turns: Turn[] = [];
  for (let round = 0; ; round++) {
    for (const [place, nth] of numbers.entries()) {
      if (turns.length === turnCount) return turns;
      turns.push({ key, nth, resendKind: kindAt(kinds, round + place) });
    }
  }
}

/** The numbers of requests that have a turn: all of them, or so many, from the first to the last, at even distances. */
function numbersInTurn(numbersOfReadRequests: readonly number[], most: number): readonly number[] {
  if (numbersOfReadRequests.length <= most) return numbersOfReadRequests;

  const distance = (numbersOfReadRequests.length - 1) / (most - 1);
  const numbers: number[] = [];
  for (let before = 0; before < most; before++) {
    numbers.push(numbersOfReadRequests[Math.round(before * distance)] as number); // the last index is that of the last request
  }
  return numbers;
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
