import type { SteadyKey } from "./replaced-run.js";
import { requestOfEachTurn } from "./request-of-each-turn.js";
import type { ResendKind, Suspect } from "./resend-kinds.js";

// Which requests are rejected in turn, and how. Requests of a key have numbers from 1, turns from 0.

/** How many requests are rejected in turn before a problem is named. Of 360 suites in random order, four accuse 13, six 2, eight none. */
const minTurns = 8;

/** How many of these turns reject another key. */
const turnsOfOtherKeys = 2;

/** A run that rejects one request of the suspects' key, or the last one of another key. */
export type Turn =
  | { readonly kind: "of_key"; readonly nth: number; readonly resendKind: ResendKind }
  | { readonly kind: "of_other_key"; readonly otherKey: SteadyKey; readonly resendKind: ResendKind };

/** The turns in two halves: each has turns of the suspects' key, and at its end a turn of another key, if there is one. */
export function planTurns(
  key: SteadyKey,
  otherKeys: readonly SteadyKey[],
  suspects: readonly Suspect[],
): [readonly Turn[], readonly Turn[]] {
  const [firstOther, secondOther = firstOther] = otherKeys;
  const turnCount = Math.max(minTurns, suspects.length);
  const countOfKey = firstOther === undefined ? turnCount : turnCount - turnsOfOtherKeys;

  const ofKey: Turn[] = [];
  for (const nth of requestOfEachTurn(key.acceptedInPlain, countOfKey)) {
    ofKey.push({ kind: "of_key", nth, resendKind: kindOfTurn(ofKey.length, key, suspects) });
  }
  const middle = Math.ceil(ofKey.length / 2);
  const firstHalf = ofKey.slice(0, middle);
  const secondHalf = ofKey.slice(middle);

  if (firstOther !== undefined && secondOther !== undefined) {
    firstHalf.push({
      kind: "of_other_key",
      otherKey: firstOther,
      resendKind: suspectAt(0, suspects).resendKind,
    });
    secondHalf.push({
      kind: "of_other_key",
      otherKey: secondOther,
      resendKind: suspectAt(1, suspects).resendKind,
    });
  }
  return [firstHalf, secondHalf];
}

/**
 * The kind of rejection of a turn of the suspects' key. The suspects take turns. When all requests had one turn, they begin one suspect
 * later, so that each request gets another kind than before.
 */
export function kindOfTurn(turn: number, key: SteadyKey, suspects: readonly Suspect[]): ResendKind {
  const round = Math.floor(turn / key.acceptedInPlain);
  const place = turn % key.acceptedInPlain;
  return suspectAt(round + place, suspects).resendKind;
}

/** Counts the suspects from 0, and begins again after the last one. */
function suspectAt(place: number, suspects: readonly Suspect[]): Suspect {
  return suspects[place % suspects.length] as Suspect; // there is one
}
