import { notAllMade, notJudged, type RunEvidence, sufficient } from "../checks/judgment.js";
import { type KeyRequest, msTooEarlyOf } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import { longestWait } from "../client-runs/timeouts.js";
import { runReplacingLast, type SteadyKey, whatFollowed } from "./replaced-run.js";
import type { Suspect } from "./resend-kinds.js";
import { whetherTurnsAgree } from "./resend-turns.js";
import { alsoIfLate, doubtOfKind, failedIfLate } from "./resend-words.js";
import { whetherKeyIsSteady } from "./steady-key.js";
import type { SomeKinds } from "./turn-plan.js";

// A suspect is a kind of rejection after which the key came again. That may not be the client's doing: the suite may send the key more
// often by itself, the client may ask a second time while a response is late, or a single test may poll until it gets a 200. Runs of
// their own exclude each of these before a resend is named: plain runs, runs with a late response, and turns (resend-turns.ts).

/** A response that is late comes so long after the moment at which the client sent again, in milliseconds. */
const marginMs = 500;

/** Makes the runs that exclude other reasons, for suspects that are all timed or all not. Returns whether they are enough to name each one. */
export async function weighSuspects(
  runs: Runs,
  key: SteadyKey,
  suspects: readonly Suspect[],
): Promise<ReadonlyMap<Suspect, RunEvidence>> {
  const evidenceBySuspect = new Map<Suspect, RunEvidence>();
  if (suspects.length === 0) return evidenceBySuspect;
  const steadiness = await whetherKeyIsSteady(runs, key);
  if (steadiness.kind === "not_judged") {
    for (const suspect of suspects) evidenceBySuspect.set(suspect, steadiness);
    return evidenceBySuspect;
  }

  const remaining: Suspect[] = [];
  for (const suspect of suspects) {
    const evidence = await whetherOnlyAfterRejection(runs, key, suspect);
    evidenceBySuspect.set(suspect, evidence);
    if (evidence.kind === "sufficient") remaining.push(suspect);
  }
  const [first, ...others] = remaining;
  if (first === undefined) return evidenceBySuspect;

  // The remaining suspects are one problem: a turn with the kind of one suspect counts for all, and its reason to doubt, too.
  const kinds: SomeKinds = [first.resendKind, ...others.map(({ resendKind }) => resendKind)];
  const inTurn = await whetherTurnsAgree({ runs, key, suspects: remaining }, kinds);
  for (const suspect of remaining) evidenceBySuspect.set(suspect, inTurn);
  return evidenceBySuspect;
}

/** Whether early requests come only after a rejection, or also if the response is late. A kind without a time has no early requests. */
async function whetherOnlyAfterRejection(runs: Runs, key: SteadyKey, suspect: Suspect): Promise<RunEvidence> {
  const { resendKind, requests } = suspect;
  if (!resendKind.isTimed) return sufficient;

  const seconds = secondsPast(requests);
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
      return notJudged(doubtOfKind(key, resendKind, requests, alsoIfLate));
    case "nothing":
      if (followed.run.result === "passed") return sufficient;
      return notJudged(doubtOfKind(key, resendKind, requests, failedIfLate));
  }
}

/** The seconds after which the client has sent each of these early requests. They are whole, so that kinds share the run. */
function secondsPast(requests: readonly KeyRequest[]): number {
  const latest = Math.max(...requests.map((request) => msTooEarlyOf(request) ?? 0));
  return Math.ceil((latest + marginMs) / 1000);
}
