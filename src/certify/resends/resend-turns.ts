import { maxMoreTurns } from "../checks/chance.js";
import type { Reason } from "../checks/judgment.js";
import { lastReadNumber } from "./replaced-run.js";
import { letPollsWait } from "./resend-words.js";
import { steadyKeysBesides } from "./steady-key.js";
import {
  findDoubtByOtherKey,
  type ResultOfTurn,
  type SuspectsOfKey,
  sentAgainBut,
  takeTurn,
} from "./suspect-turns.js";
import { planTurns, type SomeKinds, type Turn, turnsAfter } from "./turn-plan.js";

// The key came again after its last request was rejected. Was it the client, which does so everywhere, or a single test that polls? A turn
// is a run that rejects one of the requests with the key. One more must follow in each turn:
// 1. Eight turns or more reject the requests from the first to the last, with the suspects' kinds of rejection by turns. Two of them
//    reject another key that always works, if there is one: all tests with the suspects' key may poll (turn-plan.ts).
// 2. With a kind that has a time, the next request may have come in time by chance. Each request that was only followed in time has up to
//    five more turns, one of which must be followed too soon.

/** A turn with what it has shown. */
interface TakenTurn {
  readonly turn: Turn;
  readonly result: ResultOfTurn;
}

/** What the planned turns show together: a doubt; or none, and the last turn of each request that was only followed in time. */
type ShownByTurns =
  | { readonly kind: "doubt"; readonly reason: Reason }
  | { readonly kind: "no_doubt"; readonly turnsInTime: readonly Turn[] };

/** Takes the turns of the suspects, and finds the first one that leaves them in doubt. `kinds`: those of the suspects. */
export async function findDoubtByTurns(
  suspected: SuspectsOfKey,
  kinds: SomeKinds,
): Promise<Reason | undefined> {
  const shownByPlannedTurns = await takePlannedTurns(suspected, kinds);
  if (shownByPlannedTurns.kind === "doubt") return shownByPlannedTurns.reason;

  for (const turn of shownByPlannedTurns.turnsInTime) {
    const doubt = await repeatTurnInTime(suspected, turn, kinds);
    if (doubt !== undefined) return doubt;
  }
  return undefined;
}

/** The first step of the head. */
async function takePlannedTurns(suspected: SuspectsOfKey, kinds: SomeKinds): Promise<ShownByTurns> {
  const { runs, key } = suspected;
  const { ofKey, ofOtherKeys } = planTurns(key, await steadyKeysBesides(runs, key), kinds);
  const [takenTurns, doubtsByOtherKeys] = await Promise.all([
    Promise.all(ofKey.map((turn) => takeTurnAndKeep(suspected, turn))),
    Promise.all(ofOtherKeys.map((turn) => findDoubtByOtherKey(suspected, turn))),
  ]);

  for (const { result } of takenTurns) {
    if (result.kind === "doubt") return result;
  }
  for (const doubt of doubtsByOtherKeys) {
    if (doubt !== undefined) return { kind: "doubt", reason: doubt };
  }
  return { kind: "no_doubt", turnsInTime: lastTurnsInTime(takenTurns) };
}

async function takeTurnAndKeep(suspected: SuspectsOfKey, turn: Turn): Promise<TakenTurn> {
  return { turn, result: await takeTurn(suspected, turn) };
}

/** The last turn of each request after which, in all of its turns, the next one came in time. */
function lastTurnsInTime(takenTurns: readonly TakenTurn[]): Turn[] {
  const resentNumbers = new Set<number>();
  for (const { turn, result } of takenTurns) {
    if (result.kind === "resent") resentNumbers.add(turn.nth);
  }

  const lastTurns = new Map<number, Turn>();
  for (const { turn, result } of takenTurns) {
    if (result.kind === "in_time" && !resentNumbers.has(turn.nth)) lastTurns.set(turn.nth, turn);
  }
  return [...lastTurns.values()];
}

/** The second step of the head: rejects the request of this turn again until the next one comes too soon. If it never does, that is the doubt. */
async function repeatTurnInTime(
  suspected: SuspectsOfKey,
  turn: Turn,
  kinds: SomeKinds,
): Promise<Reason | undefined> {
  for (const nextTurn of turnsAfter(turn, kinds, maxMoreTurns)) {
    const result = await takeTurn(suspected, nextTurn);
    if (result.kind === "doubt") return result.reason;
    if (result.kind === "resent") return undefined;
  }
  const ending = `but in time after its request ${turn.nth} of ${lastReadNumber(turn.key)}`;
  return sentAgainBut(suspected, { ending, fix: letPollsWait });
}
