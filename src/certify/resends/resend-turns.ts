import { maxMoreTurns } from "../checks/chance.js";
import { notAllMade, notJudged, type RunEvidence, sufficient } from "../checks/judgment.js";
import { lastNumberOf } from "./replaced-run.js";
import { letPollsWait } from "./resend-words.js";
import { steadyKeysBesides } from "./steady-key.js";
import { type Suspicion, sentAgainBefore, type TurnResult, takeTurn } from "./suspect-turns.js";
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
  readonly result: TurnResult;
}

/** Whether the turns leave no doubt of the suspects. The first turn that is a reason to doubt decides. `kinds`: those of the suspects. */
export async function evidenceOfTurns(suspicion: Suspicion, kinds: SomeKinds): Promise<RunEvidence> {
  const { runs, key } = suspicion;
  const halves = planTurns(key, await steadyKeysBesides(runs, key), kinds);
  const [firstHalf, secondHalf] = halves;

  // Of most suites in which only some tests ask again, the first half shows it: the second half is not taken then.
  const takenTurns: TakenTurn[] = [];
  for (const half of halves) {
    const takenOfHalf = await Promise.all(half.map((turn) => takeAndKeep(suspicion, turn)));
    takenTurns.push(...takenOfHalf);
    for (const { result } of takenOfHalf) {
      if (result.kind === "doubt") return notJudged(result.reason);
    }
    const madeTurns = takenTurns.filter(({ result }) => result.kind !== "not_made");
    if (madeTurns.length < takenTurns.length) {
      return notAllTurnsMade(suspicion, madeTurns.length, firstHalf.length + secondHalf.length);
    }
  }
  return evidenceOfMoreTurns(suspicion, kinds, takenTurns);
}

async function takeAndKeep(suspicion: Suspicion, turn: Turn): Promise<TakenTurn> {
  return { turn, result: await takeTurn(suspicion, turn) };
}

/** Rejects each request again after which the next one only came in time, until it comes too soon once. */
async function evidenceOfMoreTurns(
  suspicion: Suspicion,
  kinds: SomeKinds,
  takenTurns: readonly TakenTurn[],
): Promise<RunEvidence> {
  let madeCount = takenTurns.length;
  for (const lastTurn of lastTurnsOnlyInTime(takenTurns)) {
    let isResent = false;
    for (const turn of turnsAfter(lastTurn, kinds, maxMoreTurns)) {
      const result = await takeTurn(suspicion, turn);
      if (result.kind === "doubt") return notJudged(result.reason);
      if (result.kind === "not_made") return notAllTurnsMade(suspicion, madeCount, madeCount + 1);
      madeCount += 1;
      isResent = result.kind === "resent";
      if (isResent) break;
    }
    if (isResent) continue;

    const ending = `but in time after its request ${lastTurn.nth} of ${lastNumberOf(lastTurn.key)}`;
    return notJudged(sentAgainBefore(suspicion, { ending, fix: letPollsWait }));
  }
  return sufficient;
}

/** The last turn of each request after which, in all of its turns, the next one came in time. Turns of other keys are neither resent nor in time. */
function lastTurnsOnlyInTime(takenTurns: readonly TakenTurn[]): Turn[] {
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

/** Not all turns were made. The runs that rejected the last request count as well: they were made for the same question. */
function notAllTurnsMade({ suspects }: Suspicion, madeCount: number, neededCount: number): RunEvidence {
  const runsBefore = suspects[0]?.requests.length ?? 0;
  return notJudged(notAllMade(runsBefore + madeCount, runsBefore + neededCount));
}
