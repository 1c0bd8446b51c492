import { isSuccess, type OutcomeId } from "../../rules/outcomes.js";
import { makeFirstWrongAnswerOnce } from "../answers.js";
import { type NotJudged, notJudged, type Reason, runNotMade, runTooLate } from "../checks/judgment.js";
import { type ClientRun, isNoticed, type RunEnd } from "../client-runs/client-run.js";
import { whetherFailureCounts } from "../client-runs/failure-evidence.js";
import { whetherPassCounts } from "../client-runs/pass-evidence.js";
import type { Runs } from "../client-runs/runs.js";
import { awaitHeldVariedRuns } from "../varied/varied-runs.js";
import { noRequest, responseNotUsed, sentAgainAfter401 } from "./fault-words.js";

// A fault hits the first of the requests that end on one success, with a key that works. A client that survives it shows something only if
// a test uses the response: then the command fails when the response is a 401. If no test does, the faults are tried all the same, since
// a client that does not survive one has a problem.

export type FaultTarget = UsedTarget | UnusedTarget;

/** Requests whose first response a test uses. */
interface UsedTarget {
  readonly kind: "used";
  readonly outcome: OutcomeId;
  /** How many requests end on the outcome without a fault, at most. If more do so after a fault, the client has sent the request again. */
  readonly mostRequests: number;
}

/** Requests of which no test is known to use the first response: a client that survives a fault shows nothing. */
interface UnusedTarget {
  readonly kind: "unused";
  readonly outcome: OutcomeId;
  readonly reason: Reason;
}

/** Finds requests whose response a test uses, or else any that a fault may hit. */
export async function findFaultTarget(runs: Runs): Promise<FaultTarget | NotJudged> {
  const outcomes = outcomesToHit(runs.plain, await awaitHeldVariedRuns(runs));
  const unusedTargets: UnusedTarget[] = [];
  for (const outcome of outcomes) {
    const target = await targetOf(runs, outcome);
    if (target.kind === "used") return target;
    unusedTargets.push(target);
  }

  const [first] = unusedTargets;
  if (first === undefined) return notJudged(noRequest);
  // What says more than that no test uses the response comes first.
  const special = unusedTargets.find(({ reason }) => reason !== responseNotUsed);
  return { ...first, reason: special?.reason ?? responseNotUsed };
}

/** Gives the first request with this outcome a 401 in place of its success, which a test must notice. */
async function targetOf(runs: Runs, outcome: OutcomeId): Promise<FaultTarget> {
  const run = await makeFirstWrongAnswerOnce(runs, outcome);
  if (run.kind === "not_made") return unused(outcome, runNotMade);
  if (run.result === "timed_out") return unused(outcome, runTooLate);

  const countInPlain = countRequests(runs.plain, outcome);
  const count = countRequests(run, outcome);
  if (isNoticed(run)) {
    const evidence = await whetherFailureCounts(runs, run);
    if (evidence.kind === "not_judged") return unused(outcome, evidence.reason);
    return { kind: "used", outcome, mostRequests: Math.max(countInPlain, count) };
  }

  const isSentAgain = run.result === "passed" && count > countInPlain;
  if (isSentAgain) return unused(outcome, sentAgainAfter401);
  const evidence = whetherPassCounts(runs.plain, run, "replaced");
  return unused(outcome, evidence.kind === "not_judged" ? evidence.reason : responseNotUsed);
}

function unused(outcome: OutcomeId, reason: Reason): UnusedTarget {
  return { kind: "unused", outcome, reason };
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
export function countRequests({ sentKeys }: Pick<RunEnd, "sentKeys">, outcome: OutcomeId): number {
  let count = 0;
  for (const { requests } of sentKeys) {
    for (const request of requests) {
      if (request.outcome === outcome) count += 1;
    }
  }
  return count;
}
