import { type FaultOutcomeId, faultKindRow, isFault } from "../../rules/fault-effects.js";
import { outcomeRow } from "../../rules/outcomes.js";
import { exampleOfFault } from "../../sandbox/faults.js";
import { heldUnless, notJudged, type Reason, type ResultOfCheck } from "../checks/judgment.js";
import { type ClientRun, isBroken, type KeyRequest } from "../client-runs/client-run.js";
import { findDoubtOfPass } from "../client-runs/doubt-of-pass.js";
import type { Runs } from "../client-runs/runs.js";
import { longestWait } from "../client-runs/timeouts.js";
import type { FaultTarget } from "./fault-target.js";
import { followsOwnFailure, nothingFollowed } from "./fault-words.js";

/** A fault whose run decides the result of its check. */
interface DecidedFault {
  readonly kind: "decided";
  readonly fault: FaultOutcomeId;
  readonly result: ResultOfCheck;
}

/** A fault that the client did not survive: a problem, if the failure comes again. */
export interface NotSurvived {
  readonly kind: "not_survived";
  readonly fault: FaultOutcomeId;
  readonly run: ClientRun;
}

/** Hits the first request of the target with this fault. */
export async function tryFault(
  runs: Runs,
  target: FaultTarget,
  fault: FaultOutcomeId,
): Promise<DecidedFault | NotSurvived> {
  const run = await makeRunOfFault(runs, target, fault);
  const hasBrokenCommand = isBroken(run) && run.replacedCount > 0;
  if (!hasBrokenCommand) {
    return { kind: "decided", fault, result: heldUnless(findDoubtOfSurviving(runs, target, fault, run)) };
  }
  if (runs.plan.allow.includes(fault)) return { kind: "decided", fault, result: { kind: "allowed" } };
  if (isAfterOwnFailure(run)) return { kind: "decided", fault, result: notJudged(followsOwnFailure) };
  return { kind: "not_survived", fault, run };
}

function makeRunOfFault(runs: Runs, target: FaultTarget, fault: FaultOutcomeId): Promise<ClientRun> {
  const which = { kind: "first", outcome: target.outcome } as const;
  const gets = { kind: "fault", effect: exampleOfFault(fault, { asPage: true }) } as const;
  return runs.makeOnce({
    purpose: { kind: "fault", outcome: fault },
    conditions: { onRequest: { which, gets } },
    clientMayWaitMs: longestWait,
  });
}

/** Why a run that the fault did not break does not show that the client survives it. */
function findDoubtOfSurviving(
  runs: Runs,
  target: FaultTarget,
  fault: FaultOutcomeId,
  run: ClientRun,
): Reason | undefined {
  const doubt = findDoubtOfPass(runs.plain, run, "replaced") ?? target.whyNotUsed;
  if (doubt !== undefined) return doubt;

  // If no request with its key follows the one that was hit, the client may have given up; a delayed response still comes.
  const isLast = run.sentKeys.some(({ requests }) => requests.at(-1)?.isReplaced);
  return isLast && !faultKindRow(fault).onlyDelays ? nothingFollowed : undefined;
}

/** Whether a fault or a limit of the client's own tests came right before the request that was hit: a client may give up then. */
function isAfterOwnFailure({ sentKeys }: ClientRun): boolean {
  for (const { requests } of sentKeys) {
    const index = requests.findIndex(({ isReplaced }) => isReplaced);
    if (index < 1) continue;
    const before = requests[index - 1] as KeyRequest; // an index of 1 or more has one before it
    if (isFault(before.outcome) || outcomeRow(before.outcome).status === 429) return true;
  }
  return false;
}
