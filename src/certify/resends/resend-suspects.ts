import {
  countingEvidence,
  type NotJudged,
  notAllMade,
  notJudged,
  type RunEvidence,
} from "../checks/judgment.js";
import type { Runs } from "../client-runs/runs.js";
import { replacing, type SteadyKey, whatFollowed } from "./replaced-run.js";
import type { Suspect } from "./resend-kinds.js";
import { takeTurns } from "./resend-turns.js";
import { alsoIfLate, failedIfLate, sentAgainBut } from "./resend-words.js";
import { countEvidence } from "./steady-key.js";

// A suspect is a kind of rejection after which the key came again. That may not be the client's doing: the suite may send the key more
// often by itself, the client may ask a second time while a response is late, or a single test may poll until it gets a 200. Runs of
// their own exclude each of these before a resend is named: plain runs, runs with a late response, and turns (resend-turns.ts).

/** How much later than an early request a response comes that is only late, in milliseconds. */
const marginMs = 500;

/** Makes the runs that exclude other reasons. Returns the suspects that have one, and are not judged. */
export async function findDoubts(
  runs: Runs,
  key: SteadyKey,
  suspects: readonly Suspect[],
): Promise<ReadonlyMap<Suspect, NotJudged>> {
  const doubts = new Map<Suspect, NotJudged>();
  if (suspects.length === 0) return doubts;

  const equallyOften = await countEvidence(runs, key);
  if (equallyOften.kind === "not_judged") {
    for (const suspect of suspects) doubts.set(suspect, equallyOften);
    return doubts;
  }

  for (const suspect of suspects) {
    if (!suspect.resendKind.isTimed) continue;
    const onlyLate = await lateEvidence(runs, key, suspect);
    if (onlyLate.kind === "not_judged") doubts.set(suspect, onlyLate);
  }

  // The others are one problem, with the same other reasons: a turn with one of them counts for all, and all get its reason.
  const others = suspects.filter((suspect) => !doubts.has(suspect));
  if (others.length === 0) return doubts;
  const inTurn = await takeTurns({ runs, key, suspects: others });
  if (inTurn.kind === "not_judged") {
    for (const suspect of others) doubts.set(suspect, inTurn);
  }
  return doubts;
}

/** Whether early requests come only after a rejection, or also if the response is late. */
async function lateEvidence(runs: Runs, key: SteadyKey, suspect: Suspect): Promise<RunEvidence> {
  const { resendKind, requests } = suspect;
  const latest = Math.max(...requests.map(({ earlyMs = 0 }) => earlyMs));
  // In whole seconds, so that kinds share the run.
  const late = { kind: "late", seconds: Math.ceil((latest + marginMs) / 1000) } as const;
  const request = replacing(key, key.requestCount, late, { kind: "resend_control" });
  const followed = whatFollowed(await runs.first(request), key);
  switch (followed.kind) {
    case "not_made":
      return notJudged(notAllMade(requests.length, requests.length + 1));
    case "not_judged":
      return followed;
    case "sent_again":
      return notJudged(sentAgainBut(key, resendKind, requests, alsoIfLate));
    case "nothing":
      if (followed.run.result === "passed") return countingEvidence;
      return notJudged(sentAgainBut(key, resendKind, requests, failedIfLate));
  }
}
