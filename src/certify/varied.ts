import { outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { type Cause, findCauses } from "./causes.js";
import { type ClientRun, hasFailed } from "./client-run.js";
import {
  type Check,
  checkOf,
  type Finding,
  failed,
  held,
  type Judgment,
  joined,
  judged,
  type Note,
  notJudged,
  notMade,
  type Reason,
} from "./judgment.js";
import { lastLineOf } from "./last-line.js";
import { whyNotJudged } from "./not-judged.js";
import { againOf, againWith, type CertifyPlan, mixedName, seedCount, seedsOf } from "./plan.js";
import type { Runs } from "./runs.js";

/** Runs the client with each seed of varied responses. */
export async function runVaried(runs: Runs) {
  const attempts = await Promise.all(
    seedsOf(runs.plan).map(async (seed) => {
      const run = await runs.make(`varied.${seed}`, { profile: "varied" }, { seed });
      const reason = run === undefined ? notMade : whyNotJudged(runs.plain, run, "varied");
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
      checks.push(checkOf(name, failed));
    } else if (run === undefined || reason !== undefined) {
      checks.push(checkOf(name, notJudged(reason ?? notMade)));
    } else {
      passed.push(run);
      checks.push(checkOf(name, held));
    }
  }
  return { passed, failures, checks };
}

export async function judgeVaried(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const { passed, failures, checks } = await runVaried(runs);
  const causes = await findCauses(runs, failures);
  const isWhole = checks.length >= seedCount;
  const notes = isWhole ? whatIsNotShown(runs, [...passed, ...failures]) : [];
  const isMixedAsked = plan.only?.includes(mixedName) || (isWhole && passed.length === checks.length);
  const mixed = isMixedAsked ? await judgeMixed(runs) : joined([]);

  const problems = causes.map((cause) => findingOf(cause, plan));
  const judgedChecks = runs.isStopped ? withoutOpen(checks, problems) : checks;
  return joined([{ checks: judgedChecks, problems, notes }, mixed]);
}

/** The checks of a search that was stopped: a failure shows nothing before it is repeated and has a cause. */
function withoutOpen(checks: readonly Check[], findings: readonly Finding[]): Check[] {
  const named = findings.flatMap(({ runs }) => runs);
  return checks.map((check) => {
    const isOpen = check.result.kind === "failed" && !named.includes(check.name);
    return isOpen ? checkOf(check.name, notJudged(notSearched)) : check;
  });
}

const notSearched: Reason = {
  why: "it failed, and the search for its cause did not end",
  whatToDo: "Run certify again.",
};

/** Its name, its command and its last line are of the run that its sentence is about. */
function findingOf({ failed, shownBy, ...cause }: Cause, plan: CertifyPlan): Finding {
  return {
    ...cause,
    name: shownBy.name,
    again: againOf(shownBy, plan),
    ...lastLineOf(shownBy),
    runs: failed.map((run) => run.name),
  };
}

/** One more run, whose responses differ from each other. */
async function judgeMixed(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const run = await runs.make(mixedName, { profile: "varied", mixed: true }, { seed: plan.firstSeed });
  if (run === undefined) return judged(mixedName, notJudged(notMade));
  if (run.result === "passed") {
    const reason = whyNotJudged(runs.plain, run, "varied");
    return judged(mixedName, reason === undefined ? held : notJudged(reason));
  }
  if ((await runs.repeat([run])) === "not_made") return judged(mixedName, notJudged(notMade));
  return judged(mixedName, failed, {
    name: mixedName,
    sentence: "Breaks when the responses of one run differ in what the specification leaves open",
    whatToDo: "Read each response by itself, whatever the others of the run have, such as their headers.",
    again: againWith(plan, "certify", "--only", mixedName, "--seed", String(plan.firstSeed)),
    ...lastLineOf(run),
    runs: [mixedName],
  });
}

/** What too few requests, or the client's own settings, kept from varying. */
function whatIsNotShown({ covered, plan }: Runs, all: readonly ClientRun[]): Note[] {
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
