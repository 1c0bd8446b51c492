import { outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
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
import { againCommand, againCommandOfRun, type CertifyPlan, mixedName, seedCount, seedsOf } from "./plan.js";
import type { Runs } from "./runs.js";

/** Runs the client with each seed of varied responses. */
export async function runVaried(runs: Runs) {
  const attempts = await Promise.all(
    seedsOf(runs.plan).map(async (seed) => {
      const run = await runs.make(`varied.${seed}`, { profile: "varied" }, { seed });
      const reason = run === undefined ? runNotMade : whyRunShowsNothing(runs.plain, run, "varied");
      return { seed, run, reason };
    }),
  );
  const failures: ClientRun[] = [];
  const passed: ClientRun[] = [];
  const checks: Check[] = [];
  for (const { seed, run, reason } of attempts) {
    const name = `varied.${seed}`;
    if (hasFailed(run)) {
      failures.push(run);
      checks.push(newCheck(name, failedResult));
    } else if (run === undefined || reason !== undefined) {
      checks.push(newCheck(name, notJudged(reason ?? runNotMade)));
    } else {
      passed.push(run);
      checks.push(newCheck(name, heldResult));
    }
  }
  return { passed, failures, checks };
}

export async function judgeVaried(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const { passed, failures, checks } = await runVaried(runs);
  const causes = await findCauses(runs, failures);
  const isWhole = checks.length >= seedCount;
  const notes = isWhole ? notesOnUnvaried(runs, [...passed, ...failures]) : [];
  const isMixedAsked = plan.only?.includes(mixedName) || (isWhole && passed.length === checks.length);
  const mixed = isMixedAsked ? await judgeMixed(runs) : mergeJudgments([]);

  const problems = causes.map((cause) => causeProblem(cause, plan));
  const judgedChecks = runs.isStopped ? markUnsearched(checks, problems) : checks;
  return mergeJudgments([{ checks: judgedChecks, problems, notes }, mixed]);
}

/** The checks of a search that was stopped: a failure shows nothing before it is repeated and has a cause. */
function markUnsearched(checks: readonly Check[], findings: readonly Finding[]): Check[] {
  const named = findings.flatMap(({ runs }) => runs);
  return checks.map((check) => {
    const isOpen = check.result.kind === "failed" && !named.includes(check.name);
    return isOpen ? newCheck(check.name, notJudged(searchNotEnded)) : check;
  });
}

const searchNotEnded: Reason = {
  why: "it failed, and the search for its cause did not end",
  whatToDo: "Run certify again.",
};

/** Its name, its command and its last line are of the run that its sentence is about. */
function causeProblem({ failed, shownBy, ...cause }: Cause, plan: CertifyPlan): Finding {
  return {
    ...cause,
    name: shownBy.name,
    again: againCommandOfRun(shownBy, plan),
    ...lastLineOf(shownBy),
    runs: failed.map((run) => run.name),
  };
}

/** One more run, whose responses differ from each other. */
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

/** What too few requests, or the client's own settings, kept from varying. */
function notesOnUnvaried({ covered, plan }: Runs, all: readonly ClientRun[]): Note[] {
  const notes: Note[] = [];
  const statuses = covered.map((outcome) => outcomeOf(outcome).status);
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
