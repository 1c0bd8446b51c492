import { failuresWithFewSeeds, plainRunsWithFewSeeds } from "../checks/chance.js";
import {
  fixHiddenDependency,
  notAllMade,
  notJudged,
  type RunEvidence,
  sufficient,
} from "../checks/judgment.js";
import { type CertifyPlan, seedCount, variedSeeds } from "../checks/plan.js";
import { type ClientRun, hasFailed } from "./client-run.js";
import { plainRunRequest, type Runs } from "./runs.js";

// A check may hold because a run failed, as it should with a wrong answer. But the run may fail by chance. If all seeds are tried, the varied
// runs show whether the command fails at random. If not, the run must fail twice, next to plain runs that pass.

/** How often a command must fail under the same conditions before that shows something. */
export function failuresNeeded(plan: CertifyPlan): 1 | 2 {
  return areAllSeedsTried(plan) ? 1 : failuresWithFewSeeds;
}

function areAllSeedsTried(plan: CertifyPlan): boolean {
  return variedSeeds(plan).length >= seedCount;
}

/** Whether a check may rest on this failure, of a run that `makeOnce` has made. */
export async function whetherFailureCounts(runs: Runs, run: ClientRun): Promise<RunEvidence> {
  if (areAllSeedsTried(runs.plan)) return sufficient;

  const [plainRunsMade, second] = await Promise.all([whetherPlainRunsWereMade(runs), runs.makeSecond(run)]);
  if (second.kind === "not_made") return notJudged(notAllMade(1, failuresWithFewSeeds));
  if (plainRunsMade.kind === "not_judged") return plainRunsMade;
  if (hasFailed(second)) return sufficient;
  return notJudged({ why: "the command fails, but only in some runs", whatToDo: fixHiddenDependency });
}

/** Whether plain runs were made next to failures, if they are needed. One of them that fails is a contradiction, after which no failure counts. */
export async function whetherPlainRunsWereMade(runs: Runs): Promise<RunEvidence> {
  if (areAllSeedsTried(runs.plan)) return sufficient;
  const plainRuns = await runs.makeUpTo(plainRunRequest, plainRunsWithFewSeeds);
  const endedRuns = plainRuns.filter(({ kind }) => kind === "ended");
  if (endedRuns.length === plainRunsWithFewSeeds) return sufficient;
  return notJudged(notAllMade(endedRuns.length, plainRunsWithFewSeeds));
}
