import { failuresWithFewSeeds, plainRunsWithFewSeeds } from "../checks/chance.js";
import { certifyStopped, fixHiddenDependency, type Reason } from "../checks/judgment.js";
import { type CertifyPlan, seedCount, variedSeeds } from "../checks/plan.js";
import { type ClientRun, isBroken, isNotMade } from "./client-run.js";
import { plainRunRequest, type Runs } from "./runs.js";

// A check may hold because a run failed, as it should with a wrong answer. But the run may fail by chance. One rule excludes that:
// - If all seeds are tried, one failure is enough: the varied runs show whether the command fails at random.
// - If not, the run must fail twice, next to plain runs that pass.

/** How often a command must fail under the same conditions before that shows something. */
export function failuresNeeded(plan: CertifyPlan): 1 | 2 {
  return areAllSeedsTried(plan) ? 1 : failuresWithFewSeeds;
}

function areAllSeedsTried(plan: CertifyPlan): boolean {
  return variedSeeds(plan).length >= seedCount;
}

/** Why no check may rest on this failure, of a run that `makeOnce` has made. */
export async function findDoubtOfFailure(runs: Runs, run: ClientRun): Promise<Reason | undefined> {
  if (areAllSeedsTried(runs.plan)) return undefined;

  // The run itself has what it takes to ask for it again, and is the first of these runs.
  const [whyStopped, runsAlike] = await Promise.all([
    makePlainRunsNextToFailures(runs),
    runs.makeUpTo(run, failuresWithFewSeeds),
  ]);
  if (whyStopped !== undefined) return whyStopped;
  if (runsAlike.some(isNotMade)) return certifyStopped;
  if (runsAlike.every(isBroken)) return undefined;
  return { why: "the command fails, but only in some runs", whatToDo: fixHiddenDependency };
}

/**
 * Makes the plain runs next to failures, if they are needed. Returns a reason only if certify was stopped: a plain run that fails is a
 * contradiction, after which no failure counts anyway.
 */
export async function makePlainRunsNextToFailures(runs: Runs): Promise<Reason | undefined> {
  if (areAllSeedsTried(runs.plan)) return undefined;
  const plainRuns = await runs.makeUpTo(plainRunRequest, plainRunsWithFewSeeds);
  return plainRuns.some(isNotMade) ? certifyStopped : undefined;
}
