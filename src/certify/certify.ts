import type { ReportedAdvice } from "../report/report-shape.js";
import { adviceTable } from "../rules/advice.js";
import { listed } from "../schema/words.js";
import { judgeAnswers } from "./answers.js";
import { type Check, isProblemOf, nameOf } from "./checks/check.js";
import {
  type Finding,
  failedResult,
  heldResult,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  nothingJudged,
  type Reason,
  shownOr,
  singleCheck,
} from "./checks/judgment.js";
import type { CertifyPlan } from "./checks/plan.js";
import {
  type ClientRun,
  type ClientRunner,
  countRequests,
  plainRunRequest,
} from "./client-runs/client-run.js";
import { againCommandOfRun } from "./client-runs/finding-parts.js";
import { Runs } from "./client-runs/runs.js";
import { judgeFaults } from "./faults/faults.js";
import { findDoubtOfOnly } from "./only.js";
import { findDoubtOfPlainRun } from "./plain-run.js";
import { noteRepeatedRejections } from "./repeated-rejections.js";
import { judgeResends } from "./resends/resends.js";
import { judgeVaried } from "./varied/varied.js";

// A run is one start of the client's command, against sandboxes of its own. It shows whether the command passes, and which requests it
// sends. There are runs of five kinds:
// - plain: the sandboxes do only what the specification promises
// - varied: all responses vary in what the specification leaves open
// - answer: one outcome gets the wrong answer
// - resend: one request with a key that works gets a rejection; in control runs, a 404 or a late response
// - fault: one response breaks
//
// A check asks one question about the client, such as whether it sends a key again after a 401. Its result is one of these:
// - held: the client does what it should
// - failed: a problem, with a sentence, a fix and the command that shows it again
// - allowed: it would be a problem, and --allow names it
// - not judged, with the reason why the runs show nothing
//
// Nobody is accused by chance:
// - A run that failed, or that did not end in time, is a problem only if it does so again.
// - Two runs under the same conditions that end differently are a contradiction: after it, no failure counts. Runs that hide an outcome from
//   the client, with a wrong answer, a rejection or a late response, contradict no other.
// - How many runs a question takes was chosen by certifying thousands of generated suites, some of which fail, poll or wait at random: with
//   fewer, more suites are accused by chance, or fewer flaws are named. Each number stands where it is read.

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
  readonly whyNotJudged?: Reason;
  readonly scenarios: readonly string[];
}

/** Certifies a client: one plain run, and then what the plan contains; `only` of it limits that. */
export async function certify(plan: CertifyPlan, runner: ClientRunner): Promise<Certification> {
  const runs = new Runs(plan, runner);
  const first = await certifyByRuns(runs);
  const failed = runs.findContradiction()?.failed;
  if (failed?.isShared !== true || runs.isStopped) return first;

  // A run that contradicts another one may have failed because of the run next to it.
  const name = nameOf(failed.purpose);
  runner.say(`${name} failed next to another run, and passed alone. All runs are made again, one at a time.`);
  runner.separateRuns();
  const second = await certifyByRuns(new Runs(plan, runner, runs.ended));
  if (second.kind !== "no_run") return second;
  // A signal came before the second plain run ended: what the first runs have shown is withdrawn.
  return { ...clientNotJudged(runs), isStopped: true };
}

async function certifyByRuns(runs: Runs): Promise<Certification> {
  const plain = await shownOr(runs.makeOnce(plainRunRequest), () => undefined);
  if (plain === undefined) return { kind: "no_run" };
  if (plain.failure !== undefined) return { kind: "not_started", failure: plain.failure };

  const doubt = await findDoubtOfPlainRun(runs);
  if (doubt !== undefined) return clientNotJudged(runs, doubt);

  const judgment = await judgeGroups(runs);
  const isAnyFailureNeeded = judgment.checks.some(needsFailure);
  if (isAnyFailureNeeded && runs.findContradiction() === undefined && !runs.isStopped) {
    // A command that no longer passes at all contradicts its first run then.
    await shownOr(runs.makeAnother({ ...plainRunRequest, isAlone: true }), () => undefined);
  }

  const whyUnstable = runs.whyNoFailureCounts();
  if (whyUnstable !== undefined) return clientWithoutFailures(runs, judgment, whyUnstable);
  return clientAsJudged(runs, judgment);
}

/** Judges all groups. Their problems are in this order, the most serious first: resends, varied, faults, answers. */
async function judgeGroups(runs: Runs): Promise<Judgment> {
  // The varied runs start with the others, and the search for causes after all of them: it is alone then.
  const [, answers, resends, faults] = await Promise.all([
    runs.makeVaried(),
    judgeAnswers(runs),
    judgeResends(runs),
    judgeFaults(runs),
  ]);
  return mergeJudgments([resends, await judgeVaried(runs), faults, answers]);
}

/**
 * The result that a check of each kind has only because the command failed in some run. An answer and a resend hold because it failed: the
 * client noticed them. A varied run and a fault fail because of it.
 */
const resultThatNeedsFailure: Readonly<Record<Check["kind"], "held" | "failed" | "none">> = {
  answer: "held",
  resend: "held",
  varied: "failed",
  fault: "failed",
  advice: "none",
};

function needsFailure({ check, result }: JudgedCheck): boolean {
  return result.kind === resultThatNeedsFailure[check.kind];
}

async function clientAsJudged(runs: Runs, ofGroups: Judgment): Promise<JudgedClient> {
  // What a named resend explains needs no note.
  const isResendNamed = ofGroups.checks.some(({ check, result }) => {
    return check.kind === "resend" && result.kind === "failed";
  });
  const notes = isResendNamed ? [] : await noteRepeatedRejections(runs);
  const judgment = mergeJudgments([judgeAdvice(runs), ofGroups, { notes }]);
  if (runs.isStopped) return judgedClient(runs, judgment);

  const { checks } = judgment;
  const doubtOfOnly = findDoubtOfOnly(runs, checks);
  if (doubtOfOnly === undefined) return judgedClient(runs, judgment, findDoubtOfShare(runs, checks));
  const { ofChecks, ...reason } = doubtOfOnly;
  const withVerdict = checks.map((judged) =>
    ofChecks.includes(judged) ? ofVerdict(judged, reason) : judged,
  );
  return judgedClient(runs, { ...judgment, checks: withVerdict }, reason);
}

/** A check that is not judged for the reason of the verdict. */
function ofVerdict({ check, result }: JudgedCheck, verdict: Reason): JudgedCheck {
  const reason = result.kind === "not_judged" ? result.reason : verdict;
  return { check, result: { kind: "not_judged", reason, isOfVerdict: true } };
}

/** After a contradiction, no failure shows anything: what needs one is not judged, and the rest stays. */
function clientWithoutFailures(runs: Runs, ofGroups: Judgment, whyUnstable: Reason): JudgedClient {
  const checks: JudgedCheck[] = [];
  for (const judged of ofGroups.checks) {
    // A check may have found this reason by itself.
    const hasReason = judged.result.kind === "not_judged" && judged.result.reason.why === whyUnstable.why;
    checks.push(needsFailure(judged) || hasReason ? ofVerdict(judged, whyUnstable) : judged);
  }
  // A problem stays if one of its checks still fails: a client passes that resends, or that accepts a wrong answer.
  const stillFailed = checks.filter(({ result }) => result.kind === "failed");
  const problems = ofGroups.problems.filter((problem) =>
    stillFailed.some(({ check }) => isProblemOf(problem, check)),
  );
  const judgment = { checks, problems, notes: ofGroups.notes };
  return judgedClient(runs, mergeJudgments([judgeAdvice(runs), judgment]), whyUnstable);
}

/** The runs show nothing but advice of level error, such as a key in the output, which is a problem all the same. Without one, there is no check of advice. */
function clientNotJudged(runs: Runs, whyNotJudged?: Reason): JudgedClient {
  const advice = judgeAdvice(runs);
  return judgedClient(runs, advice.problems.length > 0 ? advice : nothingJudged, whyNotJudged);
}

function judgedClient(runs: Runs, judgment: Judgment, whyNotJudged?: Reason): JudgedClient {
  const { endedInBothPasses, plain, isStopped } = runs;
  const scenarios = new Set<string>();
  for (const run of endedInBothPasses) {
    for (const name of run.scenarios) scenarios.add(name);
  }

  return {
    kind: "judged",
    ...judgment,
    runCount: endedInBothPasses.length,
    plain,
    scenarios: [...scenarios],
    isStopped,
    ...(whyNotJudged && { whyNotJudged }),
  };
}

/** Of the varied runs and of the wrong answers, so many must be judged before a client passes. */
const neededShare = 3 / 4;

/**
 * Why too few varied runs or wrong answers are judged for a client to pass. Faults and resends do not stop it: with a runner that repeats
 * failing tests, they show nothing, and the client is not to blame.
 */
function findDoubtOfShare({ ended, plain }: Runs, checks: readonly JudgedCheck[]): Reason | undefined {
  return findDoubtOfGroup("varied") ?? findDoubtOfGroup("answer");

  function findDoubtOfGroup(kind: Check["kind"]): Reason | undefined {
    const group = checks.filter(({ check }) => check.kind === kind);
    const reasons: Reason[] = [];
    for (const { result } of group) {
      if (result.kind === "not_judged") reasons.push(result.reason);
    }
    const [first] = reasons;
    if (first === undefined || group.length - reasons.length >= neededShare * group.length) return undefined;

    const { why, whatToDo } = whyRunsSendLess(ended, plain) ?? first;
    const groupWords = kind === "varied" ? "varied runs" : "wrong answers";
    return { why: `${reasons.length} of ${group.length} ${groupWords} show nothing: ${why}`, whatToDo };
  }
}

/** Each run after a certain one sent fewer requests than the plain run, whatever its conditions. `undefined` if that is not so. */
function whyRunsSendLess(ended: readonly ClientRun[], plain: ClientRun): Reason | undefined {
  const countInPlain = countRequests(plain, () => true);
  const counts = ended.map((run) => countRequests(run, () => true));
  const lastIndex = counts.findLastIndex((count) => count >= countInPlain);
  const laterCounts = counts.slice(lastIndex + 1);
  const last = ended[lastIndex];
  if (laterCounts.length < counts.length / 2 || last === undefined) return undefined;
  const most = Math.max(...laterCounts);
  return {
    why: `the plain run sent ${countInPlain} requests, and each run after run ${last.number} sent ${most} or fewer`,
    whatToDo:
      "Let the command send the same requests each time it runs: turn off what keeps results from one run to the next, such as a cache of tests or a quota.",
  };
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

/** Advice of level error in any run is a problem of its own; if the plain run has it, only that run is named. */
function judgeAdvice({ endedInBothPasses, plan }: Runs): Judgment {
  const checks: JudgedCheck[] = [];
  const problems: Finding[] = [];
  for (const { id, level } of adviceTable) {
    if (level !== "error") continue;
    const runsWithAdvice = endedInBothPasses.filter(({ report }) =>
      report.advice.some((row) => row.id === id),
    );
    const [first] = runsWithAdvice;
    const advice = first?.report.advice.find((row) => row.id === id);
    if (first === undefined || advice === undefined) continue;

    const check = { kind: "advice", id } as const;
    const firstName = nameOf(first.purpose);
    const names = new Set(runsWithAdvice.map(({ purpose }) => nameOf(purpose)));
    checks.push({ check, result: failedResult });
    problems.push({
      name: nameOf(check),
      sentence: `${seenOf(first, advice).replace(/\.$/, "")} (run ${firstName})`,
      whatToDo: advice.whatToDo,
      again: againCommandOfRun(first, plan),
      runs: first.purpose.kind === "plain" ? [firstName] : [...names],
    });
  }
  if (problems.length === 0) return singleCheck({ kind: "advice" }, heldResult);
  return { checks, problems, notes: [] };
}
