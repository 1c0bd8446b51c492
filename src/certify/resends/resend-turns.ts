import { notJudged, type RunEvidence, sufficient } from "../checks/judgment.js";
import type { Runs } from "../client-runs/runs.js";
import type { SteadyKey } from "./replaced-run.js";
import type { Suspect } from "./resend-kinds.js";
import { letPollsWait } from "./resend-words.js";
import { steadyKeysBesides } from "./steady-key.js";
import { SuspectTurns, type TurnResult } from "./suspect-turns.js";
import { inHalves, planTurns, type SomeKinds, type Turn, turnsAfter } from "./turn-plan.js";

// The key came again after its last request was rejected. Was it the client, which does so everywhere, or a single test that polls? A turn
// is a run that rejects one of the requests with the key. One more must follow in each turn:
// 1. Eight turns or more reject the requests from the first to the last, with the suspects' kinds of rejection by turns. Two of them
//    reject another key that always works, if there is one: all tests with the suspects' key may poll (turn-plan.ts).
// 2. With a kind that has a time, the next request may have come in time by chance. Each request that was only followed in time has up to
//    five more turns, one of which must be followed too soon.

/**
 * How often a request is rejected again after which the next one came in time, since a client with jitter comes too soon only sometimes.
 * With two less, 75 in place of 83 of 300 such clients are named.
 */
const maxMoreTurns = 5;

/** A turn with what followed. */
interface TakenTurn {
  readonly turn: Turn;
  readonly result: TurnResult;
}

/** Whether the turns leave no doubt of the suspects. The first turn that is a reason to doubt decides. `kinds`: those of the suspects. */
export async function evidenceOfTurns(
  runs: Runs,
  key: SteadyKey,
  suspects: readonly Suspect[],
  kinds: SomeKinds,
): Promise<RunEvidence> {
  const plan = planTurns(key, await steadyKeysBesides(runs, key), kinds);
  const turns = new SuspectTurns(runs, key, suspects);

  // Of most suites in which only some tests ask again, the first half shows it: the second half is not taken then.
  const takenTurns: TakenTurn[] = [];
  for (const half of inHalves(plan)) {
    const taken = await Promise.all(half.map((turn) => takeTurn(turns, turn)));
    for (const { result } of taken) {
      if (result.kind === "doubt") return notJudged(result.reason);
    }
    if (taken.some(({ result }) => result.kind === "not_made")) return turns.notAllMade(plan.length);
    takenTurns.push(...taken);
  }

  for (const lastTurn of lastTurnsOnlyInTime(takenTurns)) {
    const evidence = await evidenceOfMoreTurns(turns, lastTurn, kinds);
    if (evidence.kind === "not_judged") return evidence;
  }
  return sufficient;
}

async function takeTurn(turns: SuspectTurns, turn: Turn): Promise<TakenTurn> {
  return { turn, result: await turns.take(turn) };
}

/** The last turn of each request after which, in all of its turns, the next one came in time. */
function lastTurnsOnlyInTime(takenTurns: readonly TakenTurn[]): Turn[] {
  const resent = new Set<number>();
  for (const { turn, result } of takenTurns) {
    if (result.kind === "resent") resent.add(turn.nth);
  }

  const lastTurns = new Map<number, Turn>();
  for (const { turn, result } of takenTurns) {
    if (result.kind === "in_time" && !resent.has(turn.nth)) lastTurns.set(turn.nth, turn);
  }
  return [...lastTurns.values()];
}

/** Rejects the request of this turn again, until the next one comes too soon. */
async function evidenceOfMoreTurns(
  turns: SuspectTurns,
  lastTurn: Turn,
  kinds: SomeKinds,
): Promise<RunEvidence> {
  for (const turn of turnsAfter(lastTurn, kinds, maxMoreTurns)) {
    const result = await turns.take(turn);
    if (result.kind === "resent") return sufficient;
    if (result.kind === "doubt") return notJudged(result.reason);
    if (result.kind === "not_made") return turns.notAllMade(turns.madeCount + 1);
  }
  const { nth, key } = lastTurn;
  const ending = `but in time after its request ${nth} of ${key.usualCount}`;
  return notJudged(turns.reasonToDoubt(ending, letPollsWait));
}
