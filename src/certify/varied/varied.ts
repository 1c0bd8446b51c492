import { outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import { type Check, nameOf } from "../checks/check.js";
import {
  type Finding,
  failedResult,
  heldResult,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  type Note,
  nothingJudged,
  notJudged,
  type Reason,
  type ResultOfCheck,
  runNotMade,
  singleCheck,
} from "../checks/judgment.js";
import { type CertifyPlan, isWanted, showEveryVariant, variedSeeds } from "../checks/plan.js";
import { againCommandOfRun } from "../client-runs/again-command.js";
import type { ClientRun, NotMade } from "../client-runs/client-run.js";
import { repeatFailures } from "../client-runs/failure-evidence.js";
import { lastLineOf } from "../client-runs/last-line.js";
import { passEvidence } from "../client-runs/pass-evidence.js";
import type { Runs } from "../client-runs/runs.js";
import type { Cause } from "./cause-words.js";
import { findCauses } from "./causes.js";

/** A run with varied responses, and what it shows by itself. A failure needs a cause. */
interface VariedRun {
  readonly check: Check;
  readonly run: ClientRun | NotMade;
  readonly result: ResultOfCheck;
}

/** Makes the run of each seed of varied responses, once for all parts. */
export function makeVariedRunsOnce(runs: Runs): Promise<VariedRun[]> {
  return Promise.all(variedSeeds(runs.plan).map((seed) => runSeed(runs, seed)));
}

async function runSeed(runs: Runs, seed: number): Promise<VariedRun> {
  const check = { kind: "varied", seed } as const;
  const run = await runs.makeOnce({ purpose: check, conditions: { profile: "varied" }, seed });
  return { check, run, result: resultOfVaried(runs, run) };
}

/** Awaits the varied runs, and returns those that show that the client accepts what varied. Other parts compare their runs with these. */
export async function awaitHeldVariedRuns(runs: Runs): Promise<ClientRun[]> {
  return runsWithResult(await makeVariedRunsOnce(runs), "held");
}

function runsWithResult(variedRuns: readonly VariedRun[], kind: ResultOfCheck["kind"]): ClientRun[] {
  const withResult: ClientRun[] = [];
  for (const { run, result } of variedRuns) {
    if (run.kind === "ended" && result.kind === kind) withResult.push(run);
  }
  return withResult;
}

function resultOfVaried({ plain }: Runs, run: ClientRun | NotMade): ResultOfCheck {
  if (run.kind === "not_made") return notJudged(runNotMade);
  if (run.result !== "passed") return failedResult;
  const evidence = passEvidence(plain, run, "varied");
  return evidence.kind === "not_judged" ? evidence : heldResult;
}

/** Judges the varied runs: searches for the causes of those that failed, and makes the mixed run if all passed. */
export async function judgeVaried(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const variedRuns = await makeVariedRunsOnce(runs);
  const accepted = runsWithResult(variedRuns, "held");
  const failures = runsWithResult(variedRuns, "failed");
  const causes = await findCauses(runs, failures);
  const problems = causes.map((cause) => causeProblem(cause, plan));

  // Other seeds leave out variants: that something did not vary then says nothing about the client.
  const isEachVariantShown = showEveryVariant(variedSeeds(plan));
  const notes = isEachVariantShown ? notesOnUnvaried(runs, [...accepted, ...failures]) : [];

  const mixed = isMixedNext(plan, variedRuns) ? await judgeMixed(runs) : nothingJudged;
  const checks = checksOf(variedRuns, problems, runs.isStopped);
  return mergeJudgments([{ checks, problems, notes }, mixed]);
}

/** Whether the mixed run is made: if --only names it, or if it is wanted and all varied runs hold. */
function isMixedNext(plan: CertifyPlan, variedRuns: readonly VariedRun[]): boolean {
  if (plan.only?.includes(nameOf(mixedCheck))) return true;
  return isWanted(plan, mixedCheck) && variedRuns.every(({ result }) => result.kind === "held");
}

/** The checks of the varied runs. If certify was stopped, a run that failed is not judged before it has a cause. */
function checksOf(
  variedRuns: readonly VariedRun[],
  problems: readonly Finding[],
  isStopped: boolean,
): JudgedCheck[] {
  const withCause = new Set<string>();
  for (const problem of problems) {
    for (const name of problem.runs) withCause.add(name);
  }

  const checks: JudgedCheck[] = [];
  for (const { check, result } of variedRuns) {
    const isSearchOpen = isStopped && result.kind === "failed" && !withCause.has(nameOf(check));
    checks.push({ check, result: isSearchOpen ? notJudged(searchNotEnded) : result });
  }
  return checks;
}

const searchNotEnded: Reason = {
  why: "it failed, and the search for its cause did not end",
  whatToDo: "Run certify again.",
};

/** The problem of a cause. Its name, its command and its last line are of the run that its sentence is about. */
function causeProblem({ failed, shownBy, ...cause }: Cause, plan: CertifyPlan): Finding {
  return {
    ...cause,
    name: nameOf(shownBy.purpose),
    again: againCommandOfRun(shownBy, plan),
    ...lastLineOf(shownBy),
    runs: failed.map((run) => nameOf(run.purpose)),
  };
}

const mixedCheck = { kind: "varied", seed: "mixed" } as const satisfies Check;

/** Judges the mixed run, in which each response has other variants than the one before. */
async function judgeMixed(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const conditions = { profile: "varied", mixed: true } as const;
  const run = await runs.makeOnce({ purpose: mixedCheck, conditions, seed: plan.firstSeed });
  const result = resultOfVaried(runs, run);
  if (run.kind === "not_made" || result.kind !== "failed") return singleCheck(mixedCheck, result);

  const repeated = await repeatFailures(runs, [run]);
  if (repeated.kind === "not_judged") return singleCheck(mixedCheck, repeated);
  const name = nameOf(mixedCheck);
  return singleCheck(mixedCheck, failedResult, {
    name,
    sentence: "Breaks when the responses of one run differ in what the specification leaves open",
    whatToDo: "Read each response by itself, whatever the others of the run have, such as their headers.",
    again: againCommandOfRun(run, plan),
    ...lastLineOf(run),
    runs: [name],
  });
}

/** Notes what has not varied: responses with a status that no request got, and what the client's tests set themselves. */
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
  const unvaried = [...setByTests].filter(
    (name) => !varied.has(name) && !plan.ownAssumptions?.includes(name),
  );
  if (unvaried.length === 0) return notes;
  const names = unvaried.map((name) => `\`${name}\``);
  const why = `your tests set ${listed(names, "and")}`;
  notes.push({ what: "varied assumptions", why, whatToDo: "Leave them out of your tests." });
  return notes;
}
