import { notAllMade, notJudged, type RunEvidence, sufficient } from "../checks/judgment.js";
import type { Runs } from "../client-runs/runs.js";
import { runReplacingLast, type SteadyKey, whatFollowed } from "./replaced-run.js";
import type { Suspect } from "./resend-kinds.js";
import { takeTurns } from "./resend-turns.js";
import { alsoIfLate, failedIfLate, sentAgainBut } from "./resend-words.js";
import { equallyOftenEvidence } from "./steady-key.js";

// A suspect is a kind of rejection after which the key came again. That may not be the client's doing: the suite may send the key more
// often by itself, the client may ask a second time while a response is late, or a single test may poll until it gets a 200. Runs of
// their own exclude each of these before a resend is named: plain runs, runs with a late response, and turns (resend-turns.ts).

/** How much later than an early request a response comes that is only late, in milliseconds. */
const marginMs = 500;

/**
 * Makes the runs that exclude other reasons, for suspects that are all timed or all not. Returns the evidence about each suspect: if it
 * counts, the client sent the requests.
 */
export async function weighSuspects(
  runs: Runs,
  key: SteadyKey,
  suspects: readonly Suspect[],
): Promise<ReadonlyMap<Suspect, RunEvidence>> {
  const evidence = new Map<Suspect, RunEvidence>();
  if (suspects.length === 0) return evidence;

  const equallyOften = await equallyOftenEvidence(runs, key);
  if (equallyOften.kind === "not_judged") {
    for (const suspect of suspects) evidence.set(suspect, equallyOften);
    return evidence;
  }

  for (const suspect of suspects) evidence.set(suspect, await lateEvidence(runs, key, suspect));
  const remaining = suspects.filter((suspect) => evidence.get(suspect)?.kind === "sufficient");
  if (remaining.length === 0) return evidence;

  // These are one problem, with the same other reasons: a turn with one of them counts for all, and all get its reason.
  const inTurn = await takeTurns({ runs, key, suspects: remaining });
  for (const suspect of remaining) evidence.set(suspect, inTurn);
  return evidence;
}

/** Whether early requests come only after a rejection, or also if the response is late. A kind without a time has no early requests. */
async function lateEvidence(runs: Runs, key: SteadyKey, suspect: Suspect): Promise<RunEvidence> {
  const { resendKind, requests } = suspect;
  if (!resendKind.isTimed) return sufficient;

  const latest = Math.max(...requests.map(({ earlyMs = 0 }) => earlyMs));
  // In whole seconds, so that kinds share the run.
  const late = { kind: "late", seconds: Math.ceil((latest + marginMs) / 1000) } as const;
  const request = runReplacingLast(key, late, { kind: "resend_control" });
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
