import {
  failedResult,
  type Held,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  type NotJudged,
  notAllMade,
  nothingJudged,
  notJudged,
  singleCheck,
} from "../checks/judgment.js";
import { isWanted } from "../checks/plan.js";
import { isNoticed, type KeyRequest, type NotMade } from "../client-runs/client-run.js";
import { failuresNeeded, plainRunEvidence } from "../client-runs/failure-evidence.js";
import { passEvidence } from "../client-runs/pass-evidence.js";
import type { Runs } from "../client-runs/runs.js";
import { type LastRejection, resultOfRejections, sureResends } from "./last-rejections.js";
import { evidenceOfOtherRuns } from "./other-runs.js";
import { runReplacingLast, type SteadyKey, whatFollowed } from "./replaced-run.js";
import { type ResendKind, resendKinds, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { resendProblem } from "./resend-problem.js";
import { weighSuspects } from "./resend-suspects.js";
import { commandThenFailed, onlyInSomeRuns, sentAgainBut, sentByOtherProcess } from "./resend-words.js";
import { findSteadyKey } from "./steady-key.js";
import { passesUnnoticed } from "./steady-key-words.js";

// A resend is a request that must not come: with the same key, after a 401 or 403, or too soon after a 429 or 503. It is found without
// looking into the client: a run rejects the last request with a key that each run sends equally often. A client that does right gives
// up, its test fails, and nothing follows. What follows is one request more than in the plain run.
// 1. Find such a key (steady-key.ts).
// 2. Reject its last request with each kind of rejection, in run after run until they agree: the kind holds, or is a suspect.
// 3. Exclude other reasons for the requests of suspects (resend-suspects.ts). What is left is a problem.

/** In how many runs the next request must come in time before a kind with a time holds: more, if no other such kind would show jitter. */
const sureWaitsOfKind = 2;
const sureWaitsOfSingleKind = 3;

/** A kind of rejection that is tried, to find out whether the client sends this key again after it. */
interface ResendTrial {
  readonly runs: Runs;
  readonly key: SteadyKey;
  readonly resendKind: ResendKind;
  readonly sureWaits: 2 | 3;
}

/** A kind, and what the runs show that reject the last request with it. */
interface TriedKind {
  readonly resendKind: ResendKind;
  readonly result: Held | NotJudged | Suspect;
}

/** Judges each kind of resend. */
export async function judgeResends(runs: Runs): Promise<Judgment> {
  const kinds = resendKinds(runs.outcomesToJudge).filter(({ check }) => isWanted(runs.plan, check));
  if (kinds.length === 0) return nothingJudged;

  const key = await findSteadyKey(runs);
  if (key.kind === "not_judged") return mergeJudgments(kinds.map(({ check }) => singleCheck(check, key)));

  const timed = kinds.filter(({ isTimed }) => isTimed);
  const final = kinds.filter(({ isTimed }) => !isTimed);
  return mergeJudgments(await Promise.all([judgeKinds(runs, key, timed), judgeKinds(runs, key, final)]));
}

/** Judges all timed kinds, or all others. Those of them that fail are one problem together. */
async function judgeKinds(runs: Runs, key: SteadyKey, kinds: readonly ResendKind[]): Promise<Judgment> {
  const sureWaits = kinds.length === 1 ? sureWaitsOfSingleKind : sureWaitsOfKind;
  const triedKinds = await Promise.all(
    kinds.map((resendKind) => tryKind({ runs, key, resendKind, sureWaits })),
  );
  const suspects: Suspect[] = [];
  for (const { result } of triedKinds) {
    if (result.kind === "suspect") suspects.push(result);
  }
  const evidenceBySuspect = await weighSuspects(runs, key, suspects);

  const checks: JudgedCheck[] = [];
  const proven: Suspect[] = [];
  for (const { resendKind, result } of triedKinds) {
    const { check } = resendKind;
    if (result.kind !== "suspect") {
      checks.push({ check, result });
      continue;
    }
    const evidence = evidenceBySuspect.get(result);
    if (evidence?.kind === "not_judged") {
      checks.push({ check, result: evidence });
      continue;
    }
    checks.push({ check, result: failedResult });
    proven.push(result);
  }
  const problems = proven.length === 0 ? [] : [resendProblem(proven, key, runs.plan)];
  return { checks, problems, notes: [] };
}

async function tryKind(trial: ResendTrial): Promise<TriedKind> {
  return { resendKind: trial.resendKind, result: await resultOfTrial(trial) };
}

/** Rejects the last request in run after run, until they show something together. */
async function resultOfTrial(trial: ResendTrial): Promise<Held | NotJudged | Suspect> {
  const { runs, key, resendKind, sureWaits } = trial;
  const rejections: LastRejection[] = [];
  for (;;) {
    const rejection = await rejectLastRequest(trial);
    if (rejection.kind === "not_judged") return rejection;
    if (rejection.kind === "not_made") {
      // As many as may be enough, or one more than were made.
      const needed = resendKind.isTimed ? sureWaits : sureResends;
      return notJudged(notAllMade(rejections.length, Math.max(needed, rejections.length + 1)));
    }

    rejections.push(rejection);
    const shown = resultOfRejections(rejections, sureWaits, failuresNeeded(runs.plan));
    switch (shown.kind) {
      case "one_more_run":
        continue;
      case "held":
        return confirmHeld(trial, rejections);
      case "sometimes":
        return notJudged(sentAgainBut(key, resendKind, requestsOf(rejections), onlyInSomeRuns));
      case "resent":
        return { ...shown, kind: "suspect", resendKind };
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
    const evidence = passEvidence(runs.plain, followed.run, "replaced");
    if (evidence.kind === "not_judged") return evidence;
    return notJudged(passesUnnoticed(key, responseWords));
  }

  const { next, early } = followed;
  // A test that failed may send the key again, to find out why.
  if (followed.run.result === "failed") {
    return notJudged(sentAgainBut(key, resendKind, [next], commandThenFailed));
  }
  if (!isTimed) return { kind: "resent", request: next };
  if (next.isElsewhere) return notJudged(sentByOtherProcess);
  if (early !== undefined) return { kind: "resent", request: early };
  return { kind: "in_time", request: next };
}

/** A kind holds only if the failures of its runs count, and no other run shows a resend. */
async function confirmHeld(
  trial: ResendTrial,
  rejections: readonly LastRejection[],
): Promise<Held | NotJudged> {
  const { runs, key, resendKind } = trial;
  if (rejections.some(({ kind }) => kind === "gave_up")) {
    const evidence = await plainRunEvidence(runs);
    if (evidence.kind === "not_judged") return evidence;
  }

  if (!resendKind.isTimed) {
    const evidence = await evidenceOfOtherRuns(runs, key, resendKind);
    if (evidence.kind === "not_judged") return evidence;
  }
  return { kind: "held", key: key.ref };
}
