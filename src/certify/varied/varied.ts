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
import { type CertifyPlan, seedCount, variedSeeds } from "../checks/plan.js";
import { againCommand, againCommandOfRun } from "../client-runs/again-command.js";
import type { ClientRun, NotMade } from "../client-runs/client-run.js";
import { lastLineOf } from "../client-runs/last-line.js";
import { passEvidence } from "../client-runs/pass-evidence.js";
import type { Runs } from "../client-runs/runs.js";
import type { Cause } from "./cause-words.js";
import { findCauses } from "./causes.js";

/** The runs with varied responses, by how they ended. */
interface VariedRuns {
  /** Those that show that the client accepts what varied. */
  readonly passed: readonly ClientRun[];
  readonly failures: readonly ClientRun[];
  /** A check for each seed, in their order. */
  readonly checks: readonly JudgedCheck[];
}

/** Runs the client with each seed of varied responses. Resends and faults read these runs, too. */
export async function runVaried(runs: Runs): Promise<VariedRuns> {
  const seeds = variedSeeds(runs.plan);
  const conditions = { profile: "varied" } as const;
  const made = await Promise.all(
    seeds.map((seed) => runs.first({ purpose: { kind: "varied", seed }, conditions, seed })),
  );

  const passed: ClientRun[] = [];
  const failures: ClientRun[] = [];
  const checks: JudgedCheck[] = [];
  for (const [at, run] of made.entries()) {
    const result = resultOfVaried(runs, run);
    checks.push({ check: { kind: "varied", seed: seeds[at] as number }, result });
    if (run.kind === "not_made") continue;
    if (result.kind === "held") passed.push(run);
    if (result.kind === "failed") failures.push(run);
  }
  return { passed, failures, checks };
}

/** What a run with varied responses shows by itself. */
function resultOfVaried({ plain }: Runs, run: ClientRun | NotMade): ResultOfCheck {
  if (run.kind === "not_made") return notJudged(runNotMade);
  if (run.result !== "passed") return failedResult;
  const evidence = passEvidence(plain, run, "varied");
  return evidence.kind === "not_judged" ? evidence : heldResult;
}

/** Judges the varied runs: searches for the causes of those that failed, and makes the mixed run if all passed. */
export async function judgeVaried(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const { passed, failures, checks } = await runVaried(runs);
  const causes = await findCauses(runs, failures);
  const problems = causes.map((cause) => causeProblem(cause, plan));

  // Only all seeds together show every variant.
  const areAllSeeds = checks.length >= seedCount;
  const notes = areAllSeeds ? notesOnUnvaried(runs, [...passed, ...failures]) : [];

  const isMixedAsked =
    plan.only?.includes(nameOf(mixedCheck)) || (areAllSeeds && passed.length === checks.length);
  const mixed = isMixedAsked ? await judgeMixed(runs) : nothingJudged;
  const judgedChecks = runs.isStopped ? markUnsearched(checks, problems) : checks;
  return mergeJudgments([{ checks: judgedChecks, problems, notes }, mixed]);
}

/** The checks of a search that was stopped: one that failed is not judged before it has a cause. */
function markUnsearched(checks: readonly JudgedCheck[], problems: readonly Finding[]): JudgedCheck[] {
  const explained = new Set<string>();
  for (const { runs } of problems) {
    for (const name of runs) explained.add(name);
  }

  const marked: JudgedCheck[] = [];
  for (const { check, result } of checks) {
    const isUnsearched = result.kind === "failed" && !explained.has(nameOf(check));
    marked.push({ check, result: isUnsearched ? notJudged(searchNotEnded) : result });
  }
  return marked;
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
  const run = await runs.first({ purpose: mixedCheck, conditions, seed: plan.firstSeed });
  const result = resultOfVaried(runs, run);
  if (run.kind === "not_made" || result.kind !== "failed") return singleCheck(mixedCheck, result);

  const repeated = await runs.repeat([run]);
  if (repeated.kind === "not_judged") return singleCheck(mixedCheck, repeated);
  const name = nameOf(mixedCheck);
  return singleCheck(mixedCheck, failedResult, {
    name,
    sentence: "Breaks when the responses of one run differ in what the specification leaves open",
    whatToDo: "Read each response by itself, whatever the others of the run have, such as their headers.",
    again: againCommand(plan, "certify", "--only", name, "--seed", String(plan.firstSeed)),
    ...lastLineOf(run),
    runs: [name],
  });
}

/** Notes what has not varied: responses with a status that no request got, and what the client's tests set themselves. */
function notesOnUnvaried({ covered, plan }: Runs, all: readonly ClientRun[]): Note[] {
  const notes: Note[] = [];
  const statuses = covered.map((outcome) => outcomeRow(outcome).status);
  for (const status of [401, 403, 429]) {
    if (statuses.includes(status)) continue;
    notes.push({
      what: `varied ${status}`,
      why: `no request got a ${status}`,
      whatToDo: `Send a key that gets a ${status}.`,
    });
  }

  const varied = new Set<string>();
  const own = new Set<string>();
  for (const run of all) {
    for (const { row } of run.points) varied.add(row);
    for (const name of run.ownAssumptions) own.add(name);
  }
  const unvaried = [...own].filter((name) => !varied.has(name) && !plan.ownAssumptions?.includes(name));
  if (unvaried.length === 0) return notes;
  const names = unvaried.map((name) => `\`${name}\``);
  const why = `your tests set ${listed(names, "and")}`;
  notes.push({ what: "varied assumptions", why, whatToDo: "Leave them out of your tests." });
  return notes;
}
