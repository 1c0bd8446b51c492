import { type NotJudged, notAllMade, notJudged, type RunEvidence, sufficient } from "../checks/judgment.js";
import type { Runs } from "../client-runs/runs.js";
import { longestWait } from "../client-runs/timeouts.js";
import { runReplacingLast, type SteadyKey, whatFollowed } from "./replaced-run.js";
import type { Suspect } from "./resend-kinds.js";
import { takeTurns } from "./resend-turns.js";
import { alsoIfLate, failedIfLate, sentAgainBut } from "./resend-words.js";
import { steadinessEvidence } from "./steady-key.js";

// A suspect is a kind of rejection after which the key came again. That may not be the client's doing: the suite may send the key more
// often by itself, the client may ask a second time while a response is late, or a single test may poll until it gets a 200. Runs of
// their own exclude each of these before a resend is named: plain runs, runs with a late response, and turns (resend-turns.ts).

/** How much later than an early request a response comes that is only late, in milliseconds. */
const marginMs = 500;

/** A suspect whose requests may have another reason. */
interface DoubtedSuspect {
  readonly suspect: Suspect;
  readonly evidence: NotJudged;
}

/** `proven`: the client sent the requests of these suspects. */
interface WeighedSuspects {
  readonly proven: readonly Suspect[];
  readonly doubted: readonly DoubtedSuspect[];
}

/** Makes the runs that exclude other reasons, for suspects that are all timed or all not. */
export async function weighSuspects(
  runs: Runs,
  key: SteadyKey,
  suspects: readonly Suspect[],
): Promise<WeighedSuspects> {
  if (suspects.length === 0) return { proven: [], doubted: [] };
  const steadiness = await steadinessEvidence(runs, key);
  if (steadiness.kind === "not_judged") return { proven: [], doubted: doubtAll(suspects, steadiness) };

  const remaining: Suspect[] = [];
  const doubted: DoubtedSuspect[] = [];
  for (const suspect of suspects) {
    const evidence = await lateEvidence(runs, key, suspect);
    if (evidence.kind === "not_judged") doubted.push({ suspect, evidence });
    else remaining.push(suspect);
  }
  if (remaining.length === 0) return { proven: [], doubted };

  // The remaining suspects are one problem: a turn with the kind of one suspect counts for all, and its reason to doubt, too.
  const inTurn = await takeTurns({ runs, key, suspects: remaining });
  if (inTurn.kind === "sufficient") return { proven: remaining, doubted };
  return { proven: [], doubted: [...doubted, ...doubtAll(remaining, inTurn)] };
}

function doubtAll(suspects: readonly Suspect[], evidence: NotJudged): DoubtedSuspect[] {
  return suspects.map((suspect) => ({ suspect, evidence }));
}

/** Whether early requests come only after a rejection, or also if the response is late. A kind without a time has no early requests. */
async function lateEvidence(runs: Runs, key: SteadyKey, suspect: Suspect): Promise<RunEvidence> {
  const { resendKind, requests } = suspect;
  if (!resendKind.isTimed) return sufficient;

  const latest = Math.max(...requests.map(({ earlyMs = 0 }) => earlyMs));
  // In whole seconds, so that kinds share the run.
  const seconds = Math.ceil((latest + marginMs) / 1000);
  const late = { kind: "late", seconds } as const;
  // The client waits for the response, and may then wait as long as after any other one.
  const clientMayWaitMs = seconds * 1000 + longestWait;
  const request = runReplacingLast(key, late, { kind: "resend_control" }, clientMayWaitMs);
  const followed = whatFollowed(await runs.makeOnce(request), key);
  switch (followed.kind) {
    case "not_made":
      return notJudged(notAllMade(requests.length, requests.length + 1));
    case "not_judged":
      return followed;
    case "sent_again":
      return notJudged(sentAgainBut(key, resendKind, requests, alsoIfLate));
    case "nothing":
      if (followed.run.result === "passed") return sufficient;
      return notJudged(sentAgainBut(key, resendKind, requests, failedIfLate));
  }
}
