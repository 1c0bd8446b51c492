import { keyVariable } from "../../rules/keys/key-text.js";
import { isSuccess, outcomeRow } from "../../rules/outcomes.js";
import { isFirstWrongAnswerMade, makeFirstWrongAnswerOnce } from "../answers.js";
import { nameOf } from "../checks/check.js";
import type { Reason } from "../checks/judgment.js";
import type { ClientRun } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import { awaitHeldVariedRuns } from "../varied/varied-runs.js";
import { extraRequestAfterHit, type WorkingKey } from "./replaced-run.js";
import type { ResendKind } from "./resend-kinds.js";

/** The client has given up after a 401 or 403. Finds a run for another check that shows a resend all the same, and returns it as a reason. */
export async function findResendInOtherRuns(
  runs: Runs,
  key: WorkingKey,
  resendKind: ResendKind,
): Promise<Reason | undefined> {
  const resendInVariedRuns = await findResendInVariedRuns(runs, resendKind);
  if (resendInVariedRuns !== undefined) return resendInVariedRuns;
  if (outcomeRow(resendKind.check.outcome).status !== 401) return undefined;
  return findResendAfterWrongAnswer(runs, key, resendKind);
}

/** A varied run that passed shows a resend if more requests got this rejection there than in the plain run. */
async function findResendInVariedRuns(runs: Runs, resendKind: ResendKind): Promise<Reason | undefined> {
  const variedRuns = await awaitHeldVariedRuns(runs);
  const countInPlain = countRejected(runs.plain, resendKind);
  const run = variedRuns.find((variedRun) => countRejected(variedRun, resendKind) > countInPlain);
  if (run === undefined) return undefined;
  const { responseWords, whatToDo } = resendKind;
  const why = `more requests got ${responseWords} in ${nameOf(run.purpose)} than in the plain run`;
  return { why, whatToDo };
}

/** How many requests of a run got the status and code of this rejection. */
function countRejected({ sentKeys }: ClientRun, { check }: ResendKind): number {
  const { status, code } = outcomeRow(check.outcome);
  let count = 0;
  for (const { requests } of sentKeys) {
    for (const request of requests) {
      const outcome = outcomeRow(request.outcome);
      if (outcome.status === status && outcome.code === code) count += 1;
    }
  }
  return count;
}

/**
 * In the run of a wrong answer, the first request with an outcome got a 401 in place of its success. The run shows a resend if the key of that
 * request came again, and the command passed. A first test that polls looks the same.
 */
async function findResendAfterWrongAnswer(
  runs: Runs,
  key: WorkingKey,
  { whatToDo }: ResendKind,
): Promise<Reason | undefined> {
  for (const outcome of runs.outcomesToJudge) {
    if (!isSuccess(outcome) || !isFirstWrongAnswerMade(runs, outcome)) continue;
    const run = await makeFirstWrongAnswerOnce(runs, outcome);
    if (run.result !== "passed") continue;
    const extraRequest = extraRequestAfterHit(run, key);
    if (extraRequest === undefined) continue;
    return {
      why: `in ${nameOf(run.purpose)}, ${keyVariable(key.ref)} was sent again after a 401 (${extraRequest.id}), and the command passed`,
      whatToDo: `${whatToDo} If a test waits until the key works, send the key in another test before it.`,
    };
  }
  return undefined;
}
