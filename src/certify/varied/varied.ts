import { outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import { nameOf } from "../checks/check.js";
import {
  type Finding,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  type Note,
  nothingJudged,
  notJudged,
  singleCheck,
} from "../checks/judgment.js";
import { type CertifyPlan, isWanted, showEveryVariant, variedSeeds } from "../checks/plan.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { hangsNowAndThen, repeatFailures } from "../client-runs/failures.js";
import { againCommandOfRun, lastLineOf } from "../client-runs/finding-parts.js";
import { type Runs, shownOr, type VariedRun } from "../client-runs/runs.js";
import type { WordedCause } from "./cause-words.js";
import { findCauses } from "./causes.js";

/** Judges the varied runs: searches for the causes of those that failed, and makes the mixed run if all passed. */
export async function judgeVaried(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const variedRuns = await runs.makeVaried();
  const accepted: ClientRun[] = [];
  const failures: ClientRun[] = [];
  for (const { run, result } of variedRuns) {
    if (run !== undefined && result.kind === "held") accepted.push(run);
    if (run !== undefined && result.kind === "failed") failures.push(run);
  }
  const { causes, doubt } = await findCauses(runs, failures);

  const withCause = new Set<ClientRun | undefined>();
  for (const { failed } of causes) {
    for (const run of failed) withCause.add(run);
  }
  const checks: JudgedCheck[] = [];
  for (const { check, run, result } of variedRuns) {
    // If failures are in doubt, a run that failed is not judged before it has a cause.
    const isInDoubt = result.kind === "failed" && doubt !== undefined && !withCause.has(run);
    checks.push({ check, result: isInDoubt ? notJudged(doubt) : result });
  }
  const problems = causes.map((cause) => causeProblem(cause, plan));

  // Other seeds leave out variants: that something did not vary then says nothing about the client.
  const isEachVariantShown = showEveryVariant(variedSeeds(plan));
  const notes = isEachVariantShown ? notesOnUnvaried(runs, [...accepted, ...failures]) : [];

  const mixed = isMixedNext(plan, variedRuns) ? await judgeMixed(runs) : nothingJudged;
  return mergeJudgments([{ checks, problems, notes }, mixed]);
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

/** Notes what has not varied in any of these runs: responses with a status that no request got, and what the client's tests set themselves. */
function notesOnUnvaried({ outcomesToJudge, plan }: Runs, variedRuns: readonly ClientRun[]): Note[] {
  const notes: Note[] = [];
  const statuses = outcomesToJudge.map((outcome) => outcomeRow(outcome).status);
  for (const status of [401, 403, 429]) {
    if (statuses.includes(status)) continue;
    notes.push({
      what: `varied ${status}`,
      why: `no request got a ${status}`,
      whatToDo: `Send a key that gets a ${status}.`,
    });
  }

  const varied = new Set<string>();
  const setByTests = new Set<string>();
  for (const run of variedRuns) {
    for (const { row } of run.points) varied.add(row);
    for (const name of run.ownAssumptions) setByTests.add(name);
  }
  // Those that the given scenario sets are no choice of the tests.
  for (const name of [...varied, ...(plan.ownAssumptions ?? [])]) setByTests.delete(name);
  if (setByTests.size === 0) return notes;
  const names = [...setByTests].map((name) => `\`${name}\``);
  const why = `your tests set ${listed(names, "and")}`;
  notes.push({ what: "varied assumptions", why, whatToDo: "Leave them out of your tests." });
  return notes;
}

/** Whether the mixed run is made: if --only names it, or if it is wanted and all varied runs hold. */
function isMixedNext(plan: CertifyPlan, variedRuns: readonly VariedRun[]): boolean {
  const mixedCheck = { kind: "varied", seed: "mixed" } as const;
  if (plan.only?.includes(nameOf(mixedCheck))) return true;
  return isWanted(plan, mixedCheck) && variedRuns.every(({ result }) => result.kind === "held");
}

/** Judges the mixed run, in which each response has other variants than the one before. */
async function judgeMixed(runs: Runs): Promise<Judgment> {
  const { check, run, result } = await runs.makeMixed();
  if (run === undefined || result.kind !== "failed") return singleCheck(check, result);

  const doubt = await shownOr(repeatFailures(runs, [run]), notJudged);
  if (doubt !== undefined) return singleCheck(check, doubt);
  if (!runs.isRepeated(run)) return singleCheck(check, notJudged(hangsNowAndThen));
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
