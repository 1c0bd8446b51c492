import { pluralize } from "../report/plain-text.js";
import type { ReportedAdvice } from "../report/report-shape.js";
import { adviceTable } from "../rules/advice.js";
import { listed } from "../schema/words.js";
import { judgeAnswers } from "./answers.js";
import { asksFor, groups, groupWords, isProblemOf, nameOf } from "./checks/check.js";
import {
  type Finding,
  type JudgedCheck,
  type Judgment,
  judgedAlike,
  mergeJudgments,
  type NotJudged,
  nothingJudged,
  notJudged,
} from "./checks/judgment.js";
import { type CertifyPlan, isOnPurpose } from "./checks/plan.js";
import { type ClientRun, type ClientRunner, plainRunRequest } from "./client-runs/client-run.js";
import { againCommandOfRun } from "./client-runs/finding-parts.js";
import { Runs, unlessStopped } from "./client-runs/runs.js";
import { judgeFaults } from "./faults.js";
import { judgePlainRun } from "./plain-run.js";
import { judgeResends } from "./resends.js";
import { judgeVaried } from "./varied.js";

// A run is one start of the client's command, against sandboxes of its own. It shows whether the command passes, and which requests it
// sends. There are runs of five kinds:
// - plain: the sandboxes do only what the specification promises
// - varied: all responses vary in what the specification leaves open
// - answer: one outcome gets the wrong answer
// - resend: the last request with a key that works gets a rejection, or a 404 in its place
// - fault: one response breaks
//
// A check asks one question about the client, such as whether it sends a key again after a 401. Its result is one of these:
// - held: the client did what it should, in what was tried
// - failed: a problem, with a sentence, a fix and the command that shows it again
// - allowed: it would be a problem, or not judged, and --allow names it
// - not judged, with the reason why the runs show nothing
//
// Certify states what it saw, and proves nothing. One rule is for everything against a client: a problem is what three of three runs under the
// same conditions show (`judgeAgainst` of client-runs/runs.ts), and the plain run passes at the end. What only some of the three show is not
// judged. Two runs under the same conditions of which one failed and one passed are a contradiction: then nothing that rests on a failure
// counts. A client passes if it has no problem, and if three of four checks of each group are judged or allowed.

/** `not_started`: the command cannot be started. `no_run`: certify was stopped before even the plain run ended. */
type Certification =
  | JudgedClient
  | { readonly kind: "not_started"; readonly failure: NonNullable<ClientRun["failure"]> }
  | { readonly kind: "no_run" };

/** A client of which at least the plain run ended. */
export interface JudgedClient extends Judgment {
  readonly kind: "judged";
  readonly runCount: number;
  readonly plain: ClientRun;
  readonly isStopped: boolean;
  /** Why the client cannot be judged, or not wholly. Default: it can. */
  readonly whyNotJudged?: NotJudged;
  readonly scenarios: readonly string[];
}

/** Certifies a client: one plain run, and then what the plan contains; `only` of it limits that. */
export async function certify(plan: CertifyPlan, runner: ClientRunner): Promise<Certification> {
  const runs = new Runs(plan, runner);
  const plain = await unlessStopped(runs.makeOnce(plainRunRequest));
  if ("kind" in plain) return { kind: "no_run" };
  if (plain.failure !== undefined) return { kind: "not_started", failure: plain.failure };

  const shown = judgePlainRun(plain);
  if (shown.kind === "not_judged") {
    // What there is of advice is a problem all the same. Without any, there is no check of it.
    const advice = judgeAdvice(runs);
    return judgedClient(runs, advice.problems.length > 0 ? advice : nothingJudged, shown);
  }

  // The last run of all is the plain one again.
  const runsToCome = Object.values(runs.checks).flat().length + 1;
  const seconds = Math.ceil((runsToCome * plain.durationMs) / runner.jobs / 1000);
  runner.say(
    `About ${pluralize(runsToCome, "more run")}, ${seconds} s and the time that the client waits. In answer, resend and fault, certify sends the wrong response.`,
  );
  // Problems are in this order, the most serious first: advice, resends, varied, faults, answers.
  const [resends, varied, faults, answers] = await Promise.all([
    judgeResends(runs),
    judgeVaried(runs),
    judgeFaults(runs),
    judgeAnswers(runs),
  ]);
  const ofGroups = mergeJudgments([resends, varied, faults, answers]);
  let contradiction: NotJudged | undefined;
  if (ofGroups.checks.some(restsOnFailure)) {
    // A command that no longer passes at all contradicts its first run then.
    const last = await unlessStopped(runs.makeAnother({ ...plainRunRequest, isAlone: true }));
    contradiction = "kind" in last ? last : runs.findContradiction();
  }
  const counted = contradiction ? withoutFailures(ofGroups, contradiction) : ofGroups;
  const judgment = mergeJudgments([judgeAdvice(runs), withAllowed(counted, plan)]);
  if (runs.isStopped) return judgedClient(runs, judgment);
  const { checks } = judgment;
  const why = contradiction ?? findNameWithoutCheck(plan, checks) ?? findGroupWithoutResults(checks);
  return judgedClient(runs, judgment, why);
}

/** Whether a check has its result only because the command failed in some run: it noticed a wrong answer or a rejection, or a varied response or a fault broke it. */
function restsOnFailure({ result }: JudgedCheck): boolean {
  return result.kind !== "not_judged" && result.byFailure === true;
}

/** What is left after a contradiction: a problem stays if one of its checks still fails, as of a client that resends, or that accepts a wrong answer. */
function withoutFailures({ checks, problems, notes }: Judgment, contradiction: NotJudged): Judgment {
  const open: JudgedCheck[] = [];
  for (const judged of checks) {
    const { check } = judged;
    if (restsOnFailure(judged)) open.push({ check, result: contradiction });
    else open.push(judged);
  }
  const failed = open.filter(({ result }) => result.kind === "failed");
  const stillShown = problems.filter((problem) => failed.some(({ check }) => isProblemOf(problem, check)));
  return { checks: open, problems: stillShown, notes };
}

function judgedClient(runs: Runs, judgment: Judgment, whyNotJudged?: NotJudged): JudgedClient {
  const { ended, plain, isStopped } = runs;
  const scenarios = new Set<string>();
  for (const run of ended) {
    for (const name of run.scenarios) scenarios.add(name);
  }

  return {
    kind: "judged",
    ...judgment,
    runCount: ended.length,
    plain,
    scenarios: [...scenarios],
    isStopped,
    ...(whyNotJudged && { whyNotJudged }),
  };
}

/** What --allow names counts as judged, also if the runs show nothing. */
function withAllowed(judgment: Judgment, plan: CertifyPlan): Judgment {
  const checks = judgment.checks.map((judged): JudgedCheck => {
    const isAllowed = judged.result.kind === "not_judged" && isOnPurpose(plan, judged.check);
    return isAllowed ? { ...judged, result: { kind: "allowed" } } : judged;
  });
  return { ...judgment, checks };
}

/** Why nothing is judged of a name of `--only`: no check has it. `undefined` if there is no such name. */
function findNameWithoutCheck(
  { only = [] }: CertifyPlan,
  checks: readonly JudgedCheck[],
): NotJudged | undefined {
  for (const name of only) {
    if (name === "plain" || checks.some(({ check }) => asksFor(name, check))) continue;
    const whatToDo = "Send a request that ends there, and check its response.";
    return notJudged(`the client covers no outcome of ${name}`, whatToDo);
  }
  return undefined;
}

/** Why too few checks of a group are judged for a client to pass: it needs three of four in each. */
function findGroupWithoutResults(checks: readonly JudgedCheck[]): NotJudged | undefined {
  for (const group of groups) {
    const ofGroup = checks.filter(({ check }) => check.kind === group);
    const open: NotJudged[] = [];
    for (const { result } of ofGroup) {
      if (result.kind === "not_judged") open.push(result);
    }
    const [first] = open;
    if (first === undefined || ofGroup.length - open.length >= (3 / 4) * ofGroup.length) continue;

    const count = `${open.length} of ${ofGroup.length} ${groupWords[group].tried}`;
    return notJudged(`${count} show nothing: ${first.why}`, first.whatToDo);
  }
  return undefined;
}

/** Advice of level error in any run is a problem of its own; if the plain run has it, only that run is named. */
function judgeAdvice({ ended, plan }: Runs): Judgment {
  const checks: JudgedCheck[] = [];
  const problems: Finding[] = [];
  for (const { id, level } of adviceTable) {
    if (level !== "error") continue;
    const runsWithAdvice = ended.filter(({ report }) => report.advice.some((row) => row.id === id));
    const [first] = runsWithAdvice;
    const advice = first?.report.advice.find((row) => row.id === id);
    if (first === undefined || advice === undefined) continue;

    const check = { kind: "advice", id } as const;
    const firstName = nameOf(first.purpose);
    const names = new Set(runsWithAdvice.map(({ purpose }) => nameOf(purpose)));
    checks.push({ check, result: { kind: "failed" } });
    problems.push({
      name: nameOf(check),
      sentence: `${seenOf(first, advice).replace(/\.$/, "")} (run ${firstName})`,
      whatToDo: advice.whatToDo,
      again: againCommandOfRun(first, plan),
      runs: first.purpose.kind === "plain" ? [firstName] : [...names],
    });
  }
  if (problems.length === 0) return judgedAlike([{ kind: "advice" }], { kind: "held" });
  return { checks, problems, notes: [] };
}

/** What happened. The advice lists all places of a misplaced key, and the run shows which it was. */
function seenOf({ headersWithKey }: ClientRun, { id, meaning }: ReportedAdvice): string {
  if (id !== "key-in-authorization") return meaning;
  if (headersWithKey.length === 0) {
    return "Your client sent x-api-key with a scheme or quotation marks around the key, or the name of a variable in its place";
  }
  const names = headersWithKey.map((name) => `\`${name}\``);
  return `Your client sent the key in ${listed(names, "and")}`;
}
