import type { FaultOutcomeId } from "../../rules/fault-effects.js";
import { faultOutcomeIds } from "../../rules/outcomes.js";
import type { Check } from "../checks/check.js";
import {
  failedResult,
  type JudgedCheck,
  type Judgment,
  nothingJudged,
  notJudged,
} from "../checks/judgment.js";
import { type CertifyPlan, isWanted } from "../checks/plan.js";
import { repeatFailures } from "../client-runs/repeat-failures.js";
import type { Runs } from "../client-runs/runs.js";
import { problemsOfFaults } from "./fault-problems.js";
import { findFaultTarget } from "./fault-target.js";
import { tryFault } from "./fault-trial.js";
import { noRequest } from "./fault-words.js";

/** The faults that break most clients; `--faults` tries the others as well. */
const defaultFaults: readonly FaultOutcomeId[] = [
  "fault.hang",
  "fault.status",
  "fault.truncate",
  "fault.malformed",
];

/** Hits one request with each kind of fault, in a run of its own, which the client must survive. */
export async function judgeFaults(runs: Runs): Promise<Judgment> {
  const wanted = wantedFaults(runs.plan);
  if (wanted.length === 0) return nothingJudged;
  const target = await findFaultTarget(runs);
  if (target === undefined) {
    const result = notJudged(noRequest);
    return { ...nothingJudged, checks: wanted.map((fault) => ({ check: checkOf(fault), result })) };
  }

  const triedFaults = await Promise.all(wanted.map((fault) => tryFault(runs, target, fault)));
  const notSurvived = triedFaults.filter((tried) => tried.kind === "not_survived");
  const failedRuns = notSurvived.map(({ run }) => run);
  const doubt = await repeatFailures(runs, failedRuns);
  const resultOfNotSurvived = doubt === undefined ? failedResult : notJudged(doubt);
  const problems = doubt === undefined ? problemsOfFaults(notSurvived, target, runs.plan) : [];

  const checks: JudgedCheck[] = [];
  for (const triedFault of triedFaults) {
    const result = triedFault.kind === "decided" ? triedFault.result : resultOfNotSurvived;
    checks.push({ check: checkOf(triedFault.fault), result });
  }
  return { checks, problems, notes: [] };
}

function checkOf(outcome: FaultOutcomeId): Check {
  return { kind: "fault", outcome };
}

/** The faults that the plan asks for. */
function wantedFaults(plan: Pick<CertifyPlan, "only" | "hasAllFaults">): FaultOutcomeId[] {
  return faultOutcomeIds.filter((outcome) => {
    if (!isWanted(plan, checkOf(outcome))) return false;
    return plan.hasAllFaults || plan.only?.includes(outcome) || defaultFaults.includes(outcome);
  });
}
