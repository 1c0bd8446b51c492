import { type Held, type NotJudged, notJudged, type Reason } from "../checks/judgment.js";
import { type ClientRun, isNoticed, type KeyRequest } from "../client-runs/client-run.js";
import { failuresNeeded, makePlainRunsNextToFailures } from "../client-runs/doubt-of-failure.js";
import { findDoubtOfPass } from "../client-runs/doubt-of-pass.js";
import type { Runs } from "../client-runs/runs.js";
import { type ShownByRun, shownByAllRuns } from "./last-rejections.js";
import { findResendInOtherRuns } from "./other-runs.js";
import { runReplacingLast, type WorkingKey, whatFollowed } from "./replaced-run.js";
import { type ResendKind, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { commandThenFailed, doubtOfKind, onlyInSomeRuns, sentByOtherProcess } from "./resend-words.js";
import { passesUnnoticed } from "./steady-key-words.js";

/** A kind of rejection that is tried, to find out whether the client sends this key again after it. */
export interface ResendTrial {
  readonly runs: Runs;
  readonly key: WorkingKey;
  readonly resendKind: ResendKind;
  /** In how many runs the next request must come in time before a kind with a time holds. */
  readonly neededWaits: number;
}

/** Rejects the last request in run after run, until they show something together. */
export async function resultOfTrial(trial: ResendTrial): Promise<Held | NotJudged | Suspect> {
  const { runs, key, resendKind, neededWaits } = trial;
  const { check, rejection } = resendKind;
  const request = runReplacingLast(key, rejection, check, waitAfterRejection(resendKind));
  const shownByRuns: ShownByRun[] = [];
  for (;;) {
    const shownLast = whatRunShows(await runs.makeAnother(request), trial);
    if (shownLast.kind === "not_judged") return shownLast;

    shownByRuns.push(shownLast);
    const shownSoFar = shownByAllRuns(shownByRuns, neededWaits, failuresNeeded(runs.plan));
    switch (shownSoFar.kind) {
      case "one_more_run":
        continue;
      case "held":
        return confirmHeld(trial, shownByRuns);
      case "sometimes":
        return notJudged(doubtOfKind(key, resendKind, requestsThatFollowed(shownByRuns), onlyInSomeRuns));
      case "resent":
        return { ...shownSoFar, kind: "suspect", resendKind };
    }
  }
}

/** The requests that followed a rejection, of all runs. */
function requestsThatFollowed(shownByRuns: readonly ShownByRun[]): KeyRequest[] {
  const requests: KeyRequest[] = [];
  for (const shownOnce of shownByRuns) {
    if (shownOnce.kind !== "gave_up") requests.push(shownOnce.request);
  }
  return requests;
}

/** What a run shows in which the last request with the key was rejected. */
function whatRunShows(run: ClientRun, { runs, key, resendKind }: ResendTrial): ShownByRun | NotJudged {
  const followed = whatFollowed(run, key);
  switch (followed.kind) {
    case "not_judged":
      return followed;
    case "nothing":
      if (isNoticed(run)) return { kind: "gave_up" };
      return notJudged(
        findDoubtOfPass(runs.plain, run, "replaced") ?? passesUnnoticed(key, resendKind.responseWords),
      );
    case "sent_again": {
      const { extraRequest, earlyRequest } = followed;
      // A test that failed may send the key again, to find out why.
      if (run.result === "failed") {
        return notJudged(doubtOfKind(key, resendKind, [extraRequest], commandThenFailed));
      }
      if (!resendKind.isTimed) return { kind: "resent", request: extraRequest };
      if (extraRequest.afterRejection?.kind === "by_other_process") return notJudged(sentByOtherProcess);
      if (earlyRequest !== undefined) return { kind: "resent", request: earlyRequest };
      return { kind: "in_time", request: extraRequest };
    }
  }
}

/** A kind holds only if the failures of its runs count, and no other run shows a resend. */
async function confirmHeld(
  trial: ResendTrial,
  shownByRuns: readonly ShownByRun[],
): Promise<Held | NotJudged> {
  const doubt = await findDoubtOfHeld(trial, shownByRuns);
  return doubt === undefined ? { kind: "held", key: trial.key.ref } : notJudged(doubt);
}

async function findDoubtOfHeld(
  { runs, key, resendKind }: ResendTrial,
  shownByRuns: readonly ShownByRun[],
): Promise<Reason | undefined> {
  if (shownByRuns.some(({ kind }) => kind === "gave_up")) {
    const doubt = await makePlainRunsNextToFailures(runs);
    if (doubt !== undefined) return doubt;
  }
  return resendKind.isTimed ? undefined : findResendInOtherRuns(runs, key, resendKind);
}
