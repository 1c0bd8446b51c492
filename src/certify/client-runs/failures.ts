import { fixHiddenDependency, type Reason } from "../checks/judgment.js";
import { areAllSeedsTried, type CertifyPlan } from "../checks/plan.js";
import { type ClientRun, isBroken, isEndedSooner, plainRunRequest } from "./client-run.js";
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
  return areAllSeedsTried(plan) ? 1 : failuresWithFewSeeds;
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

/**
 * Repeats each of these failures, and of those that did not end in time as many as a certificate repeats (`isRepeated`). Throws `Inconclusive` if
 * they show nothing: one of the repetitions has passed.
 */
export async function repeatFailures(runs: Runs, failures: readonly ClientRun[]): Promise<undefined> {
  const ended = failures.filter(({ result }) => result === "failed");
  const hung = failures.filter(({ result }) => result === "timed_out");
  if (failures.length === 0) return;
  runs.throwIfNoFailureCounts();
  await Promise.all([repeatEnded(runs, ended), repeatHung(runs, hung)]);
  runs.throwIfNoFailureCounts();
}

async function repeatEnded(runs: Runs, ended: readonly ClientRun[]): Promise<void> {
  if (ended.length === 0) return;
  // Of fewer failures than repetitions, each is repeated by turns: alone, if it may have failed because of a run next to it.
  const repetitionCount = Math.max(ended.length, minRepetitions);
  const repetitions: Promise<ClientRun>[] = [];
  while (repetitions.length < repetitionCount) {
    const run = ended[repetitions.length % ended.length] as ClientRun; // there is one
    repetitions.push(runs.makeAnother({ ...run, isAlone: run.isShared === true }));
  }
  await Promise.all(repetitions);
}

/** So many repetitions of runs that did not end are made in a certificate: each takes long. */
const maxRepetitionsOfHung = 2;
/** So many plain runs must pass if the repetitions do not end either. They are quick, and a command that hangs at random hangs in one of them. */
const plainRunsNextToHang = 10;

/** Repeats these runs by turns, one after another: a command that passes needs no other repetition. */
async function repeatHung(runs: Runs, hung: readonly ClientRun[]): Promise<void> {
  let isAnyRepeated = false;
  for (let place = 0; hung.length > 0 && runs.repetitionsOfHung < maxRepetitionsOfHung; place++) {
    runs.repetitionsOfHung += 1;
    const run = hung[place % hung.length] as ClientRun; // there is one
    const isAlone = run.isShared === true;
    const repetition = await runs.makeAnother({ ...run, isAlone, isAfterHang: isEndedSooner(run) });
    if (repetition.result === "passed") return;
    isAnyRepeated = true;
  }
  if (isAnyRepeated) await runs.makeUpTo(plainRunRequest, plainRunsNextToHang);
}

/** Why a run that did not end shows nothing: its repetition passed, or the certificate has repeated as many as it may. */
export const hangsNowAndThen: Reason = {
  why: "the command does not end in time now and then",
  whatToDo: "Find out what it waits for, or set a longer --timeout.",
};
