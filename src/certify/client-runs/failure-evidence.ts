import {
  findDependency,
  type NotJudged,
  notAllMade,
  notJudged,
  type RunEvidence,
  sufficient,
} from "../checks/judgment.js";
import { type CertifyPlan, seedCount, variedSeeds } from "../checks/plan.js";
import { type ClientRun, hasFailed, type NotMade } from "./client-run.js";
import { plainRun, type Runs } from "./runs.js";

// A run that fails may do so by chance. A problem is named only after its failures were repeated, but for runs that did not end in time. A
// check that holds because a run failed needs less: the varied runs of all seeds show whether the command fails at random, or else the run
// must fail again, next to plain runs that pass.

/** How often failures are repeated at least, in all. With five, one of 30 suites that fail in half of their runs gets to the search for causes. */
const minRepetitions = 5;

/** How many plain runs must pass next to a failure before it counts, if too few seeds show whether the command fails at random. */
const plainRunsNextToFailure = 3;

/** How often a command must fail under the same conditions before that shows something: once if all seeds are tried. */
export function failuresNeeded(plan: CertifyPlan): 1 | 2 {
  return variedSeeds(plan).length >= seedCount ? 1 : 2;
}

/** Whether a check may rest on this failure, which is the run of `makeOnce` under its conditions. */
export async function failureEvidence(runs: Runs, run: ClientRun): Promise<RunEvidence> {
  if (failuresNeeded(runs.plan) === 1) return sufficient;

  const [plain, [, second]] = await Promise.all([plainRunEvidence(runs), runs.makeUpTo(run, 2)]);
  if (second === undefined || second.kind === "not_made") return notJudged(notAllMade(1, 2));
  if (plain.kind === "not_judged") return plain;
  if (hasFailed(second)) return sufficient;
  return notJudged({ why: "the command fails, but only in some runs", whatToDo: findDependency });
}

/** Whether a check may rest on failures that came as often as needed. If seeds do not show it, plain runs are made next to them: one of them that fails is a contradiction. */
export async function plainRunEvidence(runs: Runs): Promise<RunEvidence> {
  if (failuresNeeded(runs.plan) === 1) return sufficient;
  const madeCount = countMade(await runs.makeUpTo(plainRun, plainRunsNextToFailure));
  if (madeCount === plainRunsNextToFailure) return sufficient;
  return notJudged(notAllMade(madeCount, plainRunsNextToFailure));
}

/** What failures did when they were repeated: all failed again, or one passed; not judged if one was not made. */
type RepeatResult = { readonly kind: "failed_again" | "contradicted" } | NotJudged;

/** Repeats each of these failures that ended, and makes so many runs in all that a suite which fails at random passes one. */
export async function repeatFailures(runs: Runs, failures: readonly ClientRun[]): Promise<RepeatResult> {
  // A command that does not end takes long, and does so by no chance.
  const ended = failures.filter(({ result }) => result === "failed");
  const repetitions = ended.map((run) => repeatFailure(runs, run));
  for (let at = 0; ended.length > 0 && repetitions.length < minRepetitions; at++) {
    const run = ended[at % ended.length] as ClientRun; // there is one
    repetitions.push(repeatFailure(runs, run));
  }

  const madeCount = countMade(await Promise.all(repetitions));
  if (madeCount < repetitions.length) {
    return notJudged(notAllMade(failures.length + madeCount, failures.length + repetitions.length));
  }
  return { kind: runs.contradiction === undefined ? "failed_again" : "contradicted" };
}

/** Makes the run again: alone, if it may have failed because of a run next to it. */
function repeatFailure(runs: Runs, run: ClientRun): Promise<ClientRun | NotMade> {
  return runs.makeAnother({ ...run, isAlone: run.isShared === true });
}

function countMade(runs: readonly (ClientRun | NotMade)[]): number {
  return runs.filter(({ kind }) => kind === "ended").length;
}
