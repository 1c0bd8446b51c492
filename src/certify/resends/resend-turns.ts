import { maxMoreTurns } from "../checks/chance.js";
import { notAllMade, notJudged, type RunEvidence, sufficient } from "../checks/judgment.js";
import { lastReadNumber } from "./replaced-run.js";
import { letPollsWait } from "./resend-words.js";
import { steadyKeysBesides } from "./steady-key.js";
import { doubtOfTurn, type Suspicion, type TurnResult, takeTurn } from "./suspect-turns.js";
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
export async function whetherTurnsAgree(suspicion: Suspicion, kinds: SomeKinds): Promise<RunEvidence> {
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
  return whetherMoreTurnsAgree(suspicion, kinds, takenTurns);
}

async function takeAndKeep(suspicion: Suspicion, turn: Turn): Promise<TakenTurn> {
  return { turn, result: await takeTurn(suspicion, turn) };
}

/** Rejects each request again after which the next one only came in time, until it comes too soon once. */
async function whetherMoreTurnsAgree(
  suspicion: Suspicion,
  kinds: SomeKinds,
  takenTurns: readonly TakenTurn[],
): Promise<RunEvidence> {
  let madeCount = takenTurns.length;
  for (const lastTurn of lastTurnsOnlyInTime(takenTurns)) {
    const { result, inTimeCount } = await turnUntilResent(
      suspicion,
      turnsAfter(lastTurn, kinds, maxMoreTurns),
    );
    madeCount += inTimeCount;
    switch (result.kind) {
      case "resent":
        madeCount += 1;
        continue;
      case "doubt":
        return notJudged(result.reason);
      case "not_made":
        return notAllTurnsMade(suspicion, madeCount, madeCount + 1);
      default: {
        const ending = `but in time after its request ${lastTurn.nth} of ${lastReadNumber(lastTurn.key)}`;
        return notJudged(doubtOfTurn(suspicion, { ending, fix: letPollsWait }));
      }
    }
  }
  return sufficient;
}

/** Takes these turns one after another, until the next request does not come in time. Returns the last result. */
async function turnUntilResent(
  suspicion: Suspicion,
  turns: readonly Turn[],
): Promise<{ readonly result: TurnResult; readonly inTimeCount: number }> {
  let inTimeCount = 0;
  for (const turn of turns) {
    const result = await takeTurn(suspicion, turn);
    if (result.kind !== "in_time") return { result, inTimeCount };
    inTimeCount += 1;
  }
  return { result: { kind: "in_time" }, inTimeCount };
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
