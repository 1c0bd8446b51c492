import { sureResends } from "../checks/chance.js";
import { type Held, type NotJudged, notAllMade, notJudged } from "../checks/judgment.js";
import { isNoticed, type KeyRequest, type NotMade } from "../client-runs/client-run.js";
import { failuresNeeded, whetherPlainRunsWereMade } from "../client-runs/failure-evidence.js";
import { whetherPassCounts } from "../client-runs/pass-evidence.js";
import type { Runs } from "../client-runs/runs.js";
import { type LastRejection, resultOfRejections } from "./last-rejections.js";
import { whetherOtherRunsAgree } from "./other-runs.js";
import { runReplacingLast, type SteadyKey, whatFollowed } from "./replaced-run.js";
import { type ResendKind, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { commandThenFailed, doubtOfKind, onlyInSomeRuns, sentByOtherProcess } from "./resend-words.js";
import { passesUnnoticed } from "./steady-key-words.js";

/** A kind of rejection that is tried, to find out whether the client sends this key again after it. */
export interface ResendTrial {
  readonly runs: Runs;
  readonly key: SteadyKey;
  readonly resendKind: ResendKind;
  /** In how many runs the next request must come in time before a kind with a time holds. */
  readonly neededWaits: 2 | 3;
}

/** Rejects the last request in run after run, until they show something together. */
export async function resultOfTrial(trial: ResendTrial): Promise<Held | NotJudged | Suspect> {
  const { runs, key, resendKind, neededWaits } = trial;
  const rejections: LastRejection[] = [];
  for (;;) {
    const rejection = await rejectLastRequest(trial);
    if (rejection.kind === "not_judged") return rejection;
    if (rejection.kind === "not_made") {
      // As many as may be enough, or one more than were made.
      const needed = resendKind.isTimed ? neededWaits : sureResends;
      return notJudged(notAllMade(rejections.length, Math.max(needed, rejections.length + 1)));
    }

    rejections.push(rejection);
    const resultSoFar = resultOfRejections(rejections, neededWaits, failuresNeeded(runs.plan));
    switch (resultSoFar.kind) {
      case "one_more_run":
        continue;
      case "held":
        return confirmHeld(trial, rejections);
      case "sometimes":
        return notJudged(doubtOfKind(key, resendKind, requestsOf(rejections), onlyInSomeRuns));
      case "resent":
        return { ...resultSoFar, kind: "suspect", resendKind };
    }
  }
}

/** The requests that followed a rejection, of all runs. */
function requestsOf(rejections: readonly LastRejection[]): KeyRequest[] {
  const requests: KeyRequest[] = [];
  for (const rejection of rejections) {
    if (rejection.kind !== "gave_up") requests.push(rejection.request);
  }
  return requests;
}

/** Rejects the last request with the key, in a run of its own. */
async function rejectLastRequest(trial: ResendTrial): Promise<LastRejection | NotMade | NotJudged> {
  const { runs, key, resendKind } = trial;
  const { check, rejection, isTimed, responseWords } = resendKind;
  const clientMayWaitMs = waitAfterRejection(resendKind);
  const run = await runs.makeAnother(runReplacingLast(key, rejection, check, clientMayWaitMs));

  const followed = whatFollowed(run, key);
  if (followed.kind === "not_made" || followed.kind === "not_judged") return followed;
  if (followed.kind === "nothing") {
    if (isNoticed(followed.run)) return { kind: "gave_up" };
    const evidence = whetherPassCounts(runs.plain, followed.run, "replaced");
    if (evidence.kind === "not_judged") return evidence;
    return notJudged(passesUnnoticed(key, responseWords));
  }

  const { extraRequest, earlyRequest } = followed;
  // A test that failed may send the key again, to find out why.
  if (followed.run.result === "failed") {
    return notJudged(doubtOfKind(key, resendKind, [extraRequest], commandThenFailed));
  }
  if (!isTimed) return { kind: "resent", request: extraRequest };
  if (extraRequest.afterRejection?.kind === "by_other_process") return notJudged(sentByOtherProcess);
  if (earlyRequest !== undefined) return { kind: "resent", request: earlyRequest };
  return { kind: "in_time", request: extraRequest };
}

/** A kind holds only if the failures of its runs count, and no other run shows a resend. */
async function confirmHeld(
  trial: ResendTrial,
  rejections: readonly LastRejection[],
): Promise<Held | NotJudged> {
  const { runs, key, resendKind } = trial;
  if (rejections.some(({ kind }) => kind === "gave_up")) {
    const evidence = await whetherPlainRunsWereMade(runs);
    if (evidence.kind === "not_judged") return evidence;
  }

  if (!resendKind.isTimed) {
    const evidence = await whetherOtherRunsAgree(runs, key, resendKind);
    if (evidence.kind === "not_judged") return evidence;
  }
  return { kind: "held", key: key.ref };
}
