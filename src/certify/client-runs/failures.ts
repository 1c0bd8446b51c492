import { fixHiddenDependency, type Reason } from "../checks/judgment.js";
import { type CertifyPlan, seedCount, variedSeeds } from "../checks/plan.js";
import { type ClientRun, isBroken, plainRunRequest } from "./client-run.js";
import type { Runs } from "./runs.js";

// A run may fail by chance. When does its failure show something?
// - A check holds because the run failed, as it should with a wrong answer. If all seeds are tried, one failure is enough: the varied runs
//   show whether the command fails at random. If not, the run must fail twice, next to plain runs that pass (`findDoubtOfFailure`).
// - The failure is a problem: only if it comes again each time (`repeatFailures`).

/** With fewer seeds than all, so many runs under the same conditions must fail, and so many plain runs must pass next to them. */
const failuresWithFewSeeds = 2;
const plainRunsWithFewSeeds = 3;

/** How often a command must fail under the same conditions before that shows something. */
export function failuresNeeded(plan: CertifyPlan): 1 | 2 {
  const areAllSeedsTried = variedSeeds(plan).length >= seedCount;
  return areAllSeedsTried ? 1 : failuresWithFewSeeds;
}

/** Why no check may rest on this failure, of a run that `makeOnce` has made. */
export async function findDoubtOfFailure(runs: Runs, run: ClientRun): Promise<Reason | undefined> {
  if (failuresNeeded(runs.plan) === 1) return undefined;

  // The run itself has what it takes to ask for it again, and is the first of these runs.
  const [, runsAlike] = await Promise.all([
    makePlainRunsNextToFailures(runs),
    runs.makeUpTo(run, failuresWithFewSeeds),
  ]);
  if (runsAlike.every(isBroken)) return undefined;
  return { why: "the command fails, but only in some runs", whatToDo: fixHiddenDependency };
}

/** Makes the plain runs next to failures, if they are needed. One that fails is a contradiction, after which no failure counts anyway. */
export async function makePlainRunsNextToFailures(runs: Runs): Promise<void> {
  if (failuresNeeded(runs.plan) > 1) await runs.makeUpTo(plainRunRequest, plainRunsWithFewSeeds);
}

/** So many repetitions must fail, at least one of each failure: a suite that fails at random is likely to pass one of them. */
const minRepetitions = 5;

/** Repeats each of these failures. Throws `Inconclusive` if they show nothing: one of the repetitions has passed. */
export async function repeatFailures(runs: Runs, failures: readonly ClientRun[]): Promise<undefined> {
  // A command that does not end takes long, and does so by no chance.
  const ended = failures.filter(({ result }) => result === "failed");
  if (ended.length === 0) return;
  runs.throwIfNoFailureCounts();

  // Of fewer failures than repetitions, each is repeated by turns: alone, if it may have failed because of a run next to it.
  const repetitionCount = Math.max(ended.length, minRepetitions);
  const repetitions: Promise<ClientRun>[] = [];
  while (repetitions.length < repetitionCount) {
    const run = ended[repetitions.length % ended.length] as ClientRun; // there is one
    repetitions.push(runs.makeAnother({ ...run, isAlone: run.isShared === true }));
  }
  await Promise.all(repetitions);
  runs.throwIfNoFailureCounts();
}
