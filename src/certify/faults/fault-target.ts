import { isSuccess, type OutcomeId } from "../../rules/outcomes.js";
import { makeFirstWrongAnswerOnce } from "../answers.js";
import type { Reason } from "../checks/judgment.js";
import { type ClientRun, isNoticed } from "../client-runs/client-run.js";
import { findDoubtOfFailure } from "../client-runs/doubt-of-failure.js";
import { findDoubtOfPass } from "../client-runs/doubt-of-pass.js";
import type { Runs } from "../client-runs/runs.js";
import { awaitHeldVariedRuns } from "../varied/varied-runs.js";
import { responseNotUsed, sentAgainAfter401 } from "./fault-words.js";

// A fault hits the first of the requests that end on one success, with a key that works. A client that survives it shows something only if
// a test uses the response: then the command fails when the response is a 401. If no test does, the faults are tried all the same, since
// a client that does not survive one has a problem.

/** The requests of which a fault hits the first one. */
export interface FaultTarget {
  readonly outcome: OutcomeId;
  /** How many requests end on the outcome without a fault: in the plain run, or in the run with a 401, whichever has more. If more come after a fault, the client has sent the request again. */
  readonly requestsWithoutFault: number;
  /** Why no test is known to use the first response: a client that survives a fault shows nothing then. One that does not still has a problem. */
  readonly whyNotUsed: Reason | undefined;
}

/** Finds requests whose response a test uses, or else any that a fault may hit; `undefined` if there are none. */
export async function findFaultTarget(runs: Runs): Promise<FaultTarget | undefined> {
  const targets: FaultTarget[] = [];
  for (const outcome of outcomesToHit(runs.plain, await awaitHeldVariedRuns(runs))) {
    const target = await targetOf(runs, outcome);
    if (target.whyNotUsed === undefined) return target;
    targets.push(target);
  }
  return targets[0];
}

/** Gives the first request with this outcome a 401 in place of its success, which a test must notice. */
async function targetOf(runs: Runs, outcome: OutcomeId): Promise<FaultTarget> {
  const run = await makeFirstWrongAnswerOnce(runs, outcome);
  const countInPlain = countRequests(runs.plain, outcome);
  const count = countRequests(run, outcome);
  const isSentAgain = run.result === "passed" && count > countInPlain;

  let whyNotUsed: Reason | undefined;
  if (isNoticed(run)) whyNotUsed = await findDoubtOfFailure(runs, run);
  else if (isSentAgain) whyNotUsed = sentAgainAfter401;
  else whyNotUsed = findDoubtOfPass(runs.plain, run, "replaced") ?? responseNotUsed;
  return { outcome, requestsWithoutFault: Math.max(countInPlain, count), whyNotUsed };
}

/** The successes of requests that a fault may hit: first those that come equally often in each run. */
function outcomesToHit(plain: ClientRun, variedRuns: readonly ClientRun[]): OutcomeId[] {
  const steady = new Set<OutcomeId>();
  const unsteady = new Set<OutcomeId>();
  for (const { requests } of plain.sentKeys) {
    for (const { outcome, canTakeFault } of requests) {
      if (!canTakeFault || !isSuccess(outcome)) continue;
      const countInPlain = countRequests(plain, outcome);
      const isSteady = variedRuns.every((run) => countRequests(run, outcome) === countInPlain);
      if (isSteady) steady.add(outcome);
      else unsteady.add(outcome);
    }
  }
  return [...steady, ...unsteady];
}

/** The number of a run's requests with this outcome. */
export function countRequests({ sentKeys }: Pick<ClientRun, "sentKeys">, outcome: OutcomeId): number {
  let count = 0;
  for (const { requests } of sentKeys) {
    for (const request of requests) {
      if (request.outcome === outcome) count += 1;
    }
  }
  return count;
}
