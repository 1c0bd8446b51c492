import { nameOf } from "../checks/check.js";
import {
  type Finding,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  nothingJudged,
  notJudged,
  singleCheck,
} from "../checks/judgment.js";
import { type CertifyPlan, isWanted, showEveryVariant, variedSeeds } from "../checks/plan.js";
import { againCommandOfRun } from "../client-runs/again-command.js";
import { lastLineOf } from "../client-runs/last-line.js";
import { repeatFailures } from "../client-runs/repeat-failures.js";
import type { Runs } from "../client-runs/runs.js";
import type { WordedCause } from "./cause-words.js";
import { type FoundCauses, findCauses } from "./causes.js";
import { notesOnUnvaried } from "./unvaried-notes.js";
import {
  makeMixedRunOnce,
  makeVariedRunsOnce,
  mixedCheck,
  runsWithResult,
  type VariedRun,
} from "./varied-runs.js";

/** Judges the varied runs: searches for the causes of those that failed, and makes the mixed run if all passed. */
export async function judgeVaried(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const variedRuns = await makeVariedRunsOnce(runs);
  const accepted = runsWithResult(variedRuns, "held");
  const failures = runsWithResult(variedRuns, "failed");
  const foundCauses = await findCauses(runs, failures);
  const checks = checksOf(variedRuns, foundCauses);
  const problems = foundCauses.causes.map((cause) => causeProblem(cause, plan));

  // Other seeds leave out variants: that something did not vary then says nothing about the client.
  const isEachVariantShown = showEveryVariant(variedSeeds(plan));
  const notes = isEachVariantShown ? notesOnUnvaried(runs, [...accepted, ...failures]) : [];

  const mixed = isMixedNext(plan, variedRuns) ? await judgeMixed(runs) : nothingJudged;
  return mergeJudgments([{ checks, problems, notes }, mixed]);
}

/** Whether the mixed run is made: if --only names it, or if it is wanted and all varied runs hold. */
function isMixedNext(plan: CertifyPlan, variedRuns: readonly VariedRun[]): boolean {
  if (plan.only?.includes(nameOf(mixedCheck))) return true;
  return isWanted(plan, mixedCheck) && variedRuns.every(({ result }) => result.kind === "held");
}

/** The checks of the varied runs. If failures are in doubt, a run that failed is not judged before it has a cause. */
function checksOf(variedRuns: readonly VariedRun[], { causes, doubt }: FoundCauses): JudgedCheck[] {
  const withCause = new Set<string>();
  for (const { failed } of causes) {
    for (const run of failed) withCause.add(nameOf(run.purpose));
  }

  const checks: JudgedCheck[] = [];
  for (const { check, result } of variedRuns) {
    const isWithoutCause = result.kind === "failed" && !withCause.has(nameOf(check));
    const isInDoubt = doubt !== undefined && isWithoutCause;
    checks.push({ check, result: isInDoubt ? notJudged(doubt) : result });
  }
  return checks;
}

/** The problem of a cause. Its name, its command and its last line are of the run that its sentence is about. */
function causeProblem(cause: WordedCause, plan: CertifyPlan): Finding {
  const { sentence, whatToDo, row, points, shownBy, failed } = cause;
  return {
    ...(row !== undefined && { row, points }),
    sentence,
    whatToDo,
    name: nameOf(shownBy.purpose),
    again: againCommandOfRun(shownBy, plan),
    ...lastLineOf(shownBy),
    runs: failed.map((run) => nameOf(run.purpose)),
  };
}

/** Judges the mixed run, in which each response has other variants than the one before. */
async function judgeMixed(runs: Runs): Promise<Judgment> {
  const { check, run, result } = await makeMixedRunOnce(runs);
  if (result.kind !== "failed") return singleCheck(check, result);

  const doubt = await repeatFailures(runs, [run]);
  if (doubt !== undefined) return singleCheck(check, notJudged(doubt));
  const name = nameOf(check);
  return singleCheck(check, result, {
    name,
    sentence: "Breaks when the responses of one run differ in what the specification leaves open",
    whatToDo: "Read each response by itself, whatever the others of the run have, such as their headers.",
    again: againCommandOfRun(run, runs.plan),
    ...lastLineOf(run),
    runs: [name],
  });
}
