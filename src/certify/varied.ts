import { outcomeRow } from "../rules/outcomes.js";
import { listed } from "../schema/words.js";
import type { Cause } from "./cause-words.js";
import { findCauses } from "./causes.js";
import { type ClientRun, hasFailed } from "./client-run.js";
import {
  type Check,
  type Finding,
  failedResult,
  heldResult,
  type Judgment,
  mergeJudgments,
  type Note,
  newCheck,
  notJudged,
  type Reason,
  runNotMade,
  singleCheck,
} from "./judgment.js";
import { lastLineOf } from "./last-line.js";
import { whyRunShowsNothing } from "./not-judged.js";
import {
  againCommand,
  againCommandOfRun,
  type CertifyPlan,
  mixedName,
  seedCount,
  variedSeeds,
} from "./plan.js";
import type { Runs } from "./runs.js";

/** The runs with varied responses, by how they ended. */
interface VariedRuns {
  /** Those that show that the client accepts what varied. */
  readonly passed: readonly ClientRun[];
  readonly failures: readonly ClientRun[];
  /** A check for each seed, in their order. */
  readonly checks: readonly Check[];
}

/** Runs the client with each seed of varied responses. Resends and faults read these runs, too. */
export async function runVaried(runs: Runs): Promise<VariedRuns> {
  const seeds = variedSeeds(runs.plan);
  const made = await Promise.all(
    seeds.map((seed) => runs.make(`varied.${seed}`, { profile: "varied" }, { seed })),
  );

  const failures: ClientRun[] = [];
  const passed: ClientRun[] = [];
  const checks: Check[] = [];
  for (const [at, run] of made.entries()) {
    const name = `varied.${seeds[at]}`;
    if (hasFailed(run)) {
      failures.push(run);
      checks.push(newCheck(name, failedResult));
      continue;
    }
    const reason = run === undefined ? runNotMade : whyRunShowsNothing(runs.plain, run, "varied");
    if (run === undefined || reason !== undefined) {
      checks.push(newCheck(name, notJudged(reason ?? runNotMade)));
      continue;
    }
    passed.push(run);
    checks.push(newCheck(name, heldResult));
  }
  return { passed, failures, checks };
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

  const isMixedAsked = plan.only?.includes(mixedName) || (areAllSeeds && passed.length === checks.length);
  const mixed = isMixedAsked ? await judgeMixed(runs) : mergeJudgments([]);
  const judgedChecks = runs.isStopped ? markUnsearched(checks, problems) : checks;
  return mergeJudgments([{ checks: judgedChecks, problems, notes }, mixed]);
}

/** The checks of a search that was stopped: one that failed is not judged before it has a cause. */
function markUnsearched(checks: readonly Check[], problems: readonly Finding[]): Check[] {
  const explained = problems.flatMap(({ runs }) => runs);
  return checks.map((check) => {
    const isUnsearched = check.result.kind === "failed" && !explained.includes(check.name);
    return isUnsearched ? newCheck(check.name, notJudged(searchNotEnded)) : check;
  });
}

const searchNotEnded: Reason = {
  why: "it failed, and the search for its cause did not end",
  whatToDo: "Run certify again.",
};

/** The problem of a cause. Its name, its command and its last line are of the run that its sentence is about. */
function causeProblem({ failed, shownBy, ...cause }: Cause, plan: CertifyPlan): Finding {
  return {
    ...cause,
    name: shownBy.name,
    again: againCommandOfRun(shownBy, plan),
    ...lastLineOf(shownBy),
    runs: failed.map((run) => run.name),
  };
}

/** Judges the mixed run, in which each response has other variants than the one before. */
async function judgeMixed(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const run = await runs.make(mixedName, { profile: "varied", mixed: true }, { seed: plan.firstSeed });
  if (run === undefined) return singleCheck(mixedName, notJudged(runNotMade));
  if (run.result === "passed") {
    const reason = whyRunShowsNothing(runs.plain, run, "varied");
    return singleCheck(mixedName, reason === undefined ? heldResult : notJudged(reason));
  }
  if ((await runs.repeat([run])) === "not_made") return singleCheck(mixedName, notJudged(runNotMade));
  return singleCheck(mixedName, failedResult, {
    name: mixedName,
    sentence: "Breaks when the responses of one run differ in what the specification leaves open",
    whatToDo: "Read each response by itself, whatever the others of the run have, such as their headers.",
    again: againCommand(plan, "certify", "--only", mixedName, "--seed", String(plan.firstSeed)),
    ...lastLineOf(run),
    runs: [mixedName],
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
