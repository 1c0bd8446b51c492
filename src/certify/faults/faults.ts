import { exampleOfFault } from "../../api/example-faults.js";
import { type FaultOutcomeId, faultKindRow, isFault } from "../../rules/fault-effects.js";
import { faultOutcomeIds, outcomeRow } from "../../rules/outcomes.js";
import {
  type Finding,
  failedResult,
  heldResult,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  nothingJudged,
  notJudged,
  type ResultOfCheck,
  runNotMade,
  singleCheck,
} from "../checks/judgment.js";
import { type CertifyPlan, isWanted } from "../checks/plan.js";
import { type ClientRun, hasFailed, type KeyRequest, type NotMade } from "../client-runs/client-run.js";
import { passEvidence } from "../client-runs/pass-evidence.js";
import { repeatFailures } from "../client-runs/repeat-failures.js";
import type { Runs } from "../client-runs/runs.js";
import { longestWait } from "../client-runs/timeouts.js";
import { type NotSurvived, problemsOfFaults } from "./fault-problems.js";
import { type FaultTarget, findFaultTarget } from "./fault-target.js";
import { followsOwnFailure, nothingFollowed } from "./fault-words.js";

/** The faults that break most clients; `--faults` tries the others as well. */
const defaultFaults: readonly FaultOutcomeId[] = [
  "fault.hang",
  "fault.status",
  "fault.truncate",
  "fault.malformed",
];

/** A fault whose run decides the result of its check. */
interface Decided {
  readonly kind: "decided";
  readonly fault: FaultOutcomeId;
  readonly result: ResultOfCheck;
}

/** Hits one request with each kind of fault, in a run of its own, which the client must survive. */
export async function judgeFaults(runs: Runs): Promise<Judgment> {
  const wanted = wantedFaults(runs.plan);
  if (wanted.length === 0) return nothingJudged;
  const target = await findFaultTarget(runs);
  if (target.kind === "not_judged") {
    return mergeJudgments(wanted.map((outcome) => singleCheck({ kind: "fault", outcome }, target)));
  }

  const triedFaults = await Promise.all(wanted.map((fault) => tryFault(runs, target, fault)));
  const notSurvived = triedFaults.filter((tried) => tried.kind === "not_survived");
  const failedRuns = notSurvived.map(({ run }) => run);
  const repeated = await repeatFailures(runs, failedRuns);

  // If the repetitions contradict a failure, the faults are told as failed here: after a contradiction, `certify` withdraws all that failed.
  let resultOfNotSurvived: ResultOfCheck = failedResult;
  let problems: readonly Finding[] = problemsOfFaults(notSurvived, target, runs.plan);
  if (repeated.kind === "not_judged") {
    resultOfNotSurvived = repeated;
    problems = [];
  }
  const checks: JudgedCheck[] = [];
  for (const tried of triedFaults) {
    const check = { kind: "fault", outcome: tried.fault } as const;
    checks.push({ check, result: tried.kind === "decided" ? tried.result : resultOfNotSurvived });
  }
  return { checks, problems, notes: [] };
}

/** The faults that the plan asks for. */
function wantedFaults(plan: Pick<CertifyPlan, "only" | "hasAllFaults">): FaultOutcomeId[] {
  return faultOutcomeIds.filter((outcome) => {
    if (!isWanted(plan, { kind: "fault", outcome })) return false;
    return plan.hasAllFaults || plan.only?.includes(outcome) || defaultFaults.includes(outcome);
  });
}

/** Hits the first request of the target with this fault. */
async function tryFault(
  runs: Runs,
  target: FaultTarget,
  fault: FaultOutcomeId,
): Promise<Decided | NotSurvived> {
  const run = await makeRunOfFault(runs, target, fault);
  if (run.kind === "not_made") return { kind: "decided", fault, result: notJudged(runNotMade) };

  const isBroken = hasFailed(run) && run.replacedCount > 0;
  if (!isBroken) return { kind: "decided", fault, result: resultOfSurviving(runs, target, fault, run) };
  if (runs.plan.allow.includes(fault)) return { kind: "decided", fault, result: { kind: "allowed" } };
  if (isAfterOwnFailure(run)) return { kind: "decided", fault, result: notJudged(followsOwnFailure) };
  return { kind: "not_survived", fault, run };
}

function makeRunOfFault(
  runs: Runs,
  target: FaultTarget,
  fault: FaultOutcomeId,
): Promise<ClientRun | NotMade> {
  const which = { kind: "first", outcome: target.outcome } as const;
  const gets = { kind: "fault", effect: exampleOfFault(fault, { asPage: true }) } as const;
  return runs.makeOnce({
    purpose: { kind: "fault", outcome: fault },
    conditions: { onRequest: { which, gets } },
    clientMayWaitMs: longestWait,
  });
}

/** Whether a run that the fault did not break shows that the client survives it. */
function resultOfSurviving(
  runs: Runs,
  target: FaultTarget,
  fault: FaultOutcomeId,
  run: ClientRun,
): ResultOfCheck {
  const evidence = passEvidence(runs.plain, run, "replaced");
  if (evidence.kind === "not_judged") return evidence;
  if (target.kind === "unused") return notJudged(target.reason);

  // If no request with its key follows the one that was hit, the client may have given up; a delayed response still comes.
  const isLast = run.sentKeys.some(({ requests }) => requests.at(-1)?.isReplaced);
  if (isLast && !faultKindRow(fault).onlyDelays) return notJudged(nothingFollowed);
  return heldResult;
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
