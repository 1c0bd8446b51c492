import type { Report } from "../report/report-shape.js";
import { type AdviceId, adviceTable } from "../rules/advice.js";
import type { Profile } from "../rules/assumptions.js";
import { outcomeRow } from "../rules/outcomes.js";
import { judgeAnswers } from "./answers.js";
import type { Certification } from "./certificate/certificate.js";
import { nameOf } from "./checks/check.js";
import {
  type Finding,
  failedResult,
  findDependency,
  heldResult,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  nothingJudged,
  notJudged,
  type Reason,
  type ResultOfCheck,
  type RunEvidence,
  runNotMade,
  singleCheck,
} from "./checks/judgment.js";
import type { CertifyPlan } from "./checks/plan.js";
import { againCommandOfRun } from "./client-runs/again-command.js";
import type { ClientRun, ClientRunner } from "./client-runs/client-run.js";
import { type ContradictingRuns, plainRun, Runs } from "./client-runs/runs.js";
import { coverageEvidence, onlyEvidence } from "./coverage.js";
import { judgeFaults } from "./faults.js";
import { noteRepeatedRejections } from "./resends/repeated-rejections.js";
import { judgeResends } from "./resends/resends.js";
import { judgeVaried, runVaried } from "./varied/varied.js";

// The method. A run is one start of the client's command, against sandboxes of its own. In the plain run these do only what the
// specification promises. Each other run has conditions: all its responses vary in what the specification leaves open (varied), one
// outcome gets the wrong answer (answer), one request with a key that works gets a rejection (resend), or one response breaks (fault).
// All that shows is whether the command passes, and which requests it sends. A check asks one question about the client, such as
// whether it resends: sends a key again after a 401. Its result is held (it does what it should), failed, allowed by --allow, or not
// judged, with the reason why the runs show nothing. What failed becomes a problem, with a sentence, a fix and the command that shows it
// again; for varied responses, its cause: the one row of variants that breaks the client alone. The verdict is about all checks.
// Nobody is accused by chance: a run that fails is a problem only if it fails again, and two runs under the same conditions that end
// differently are a contradiction, after which no failure counts.

/** How often a plain run fails again and one with the profile `typical` passes before that is the reason: a command may fail at random. */
const maxPairs = 4;

/** What each part of the runs has shown. */
interface Parts {
  readonly answers: Judgment;
  readonly resends: Judgment;
  readonly faults: Judgment;
  readonly varied: Judgment;
}

/** Certifies a client: one plain run, and then what the plan contains; `only` of it limits that. */
export async function certify(plan: CertifyPlan, runner: ClientRunner): Promise<Certification> {
  const runs = new Runs(plan, runner);
  const plain = await runs.first(plainRun);
  if (plain.kind === "not_made") return certificationOf(runs, nothingJudged);
  // The command could not be started, which the caller says.
  if (plain.failure !== undefined) return certificationOf(runs, nothingJudged);

  const usable = await plainEvidence(plain, runs);
  if (usable.kind === "not_judged") {
    // A key in the output is a problem, whatever else cannot be judged. That there is none shows nothing then.
    const advice = judgeAdvice(runs);
    return certificationOf(runs, advice.problems.length > 0 ? advice : nothingJudged, usable.reason);
  }

  const parts = await judgeParts(runs);
  if (restsOnFailures(parts)) await runs.makeLastPlain();

  const { contradiction } = runs;
  if (contradiction === undefined) return certificationOfParts(runs, parts);
  if (contradiction.failed.isShared && !runs.isStopped) {
    return certifyOneAtATime(plan, runner, runs, contradiction);
  }
  return certificationOfContradiction(runs, parts, contradiction);
}

async function judgeParts(runs: Runs): Promise<Parts> {
  // The varied runs start with the others, and the search for causes after all of them: it is alone then.
  const [, answers, resends, faults] = await Promise.all([
    runVaried(runs),
    judgeAnswers(runs),
    judgeResends(runs),
    judgeFaults(runs),
  ]);
  return { answers, resends, faults, varied: await judgeVaried(runs) };
}

/** Whether a problem, or what holds, would be another one if the command no longer passed at all. */
function restsOnFailures(parts: Parts): boolean {
  return hasResult(holdingByFailing(parts), "held") || hasResult(holdingByPassing(parts), "failed");
}

/** Wrong answers and rejections hold because a run failed. */
function holdingByFailing({ resends, answers }: Parts): Judgment {
  return mergeJudgments([resends, answers]);
}

/** Varied responses and faults hold because a run passed. */
function holdingByPassing({ varied, faults }: Parts): Judgment {
  return mergeJudgments([varied, faults]);
}

function hasResult({ checks }: Judgment, kind: ResultOfCheck["kind"]): boolean {
  return checks.some(({ result }) => result.kind === kind);
}

/** Nothing contradicts what the runs have shown. */
async function certificationOfParts(runs: Runs, parts: Parts): Promise<Certification> {
  const { answers, resends, faults, varied } = parts;
  // What a named resend explains needs no note.
  const notes = resends.problems.length > 0 ? [] : await noteRepeatedRejections(runs);
  const whole = mergeJudgments([judgeAdvice(runs), resends, varied, faults, answers, { notes }]);
  if (runs.isStopped) return certificationOf(runs, whole);

  const shown = onlyEvidence(runs.plan, whole.checks, runs.plain.report);
  return certificationOf(runs, whole, shown.kind === "not_judged" ? shown.reason : undefined);
}

/** The run that failed may have done so because of the run next to it: all runs are made again, one at a time. */
async function certifyOneAtATime(
  plan: CertifyPlan,
  runner: ClientRunner,
  { all, plain }: Runs,
  { failed }: ContradictingRuns,
): Promise<Certification> {
  runner.separateRuns(failed);
  const second = await certify(plan, runner);
  return { ...second, plain: second.plain ?? plain, runs: second.runs + all.length };
}

/** A failure shows nothing: neither a problem, nor what held because of it. */
function certificationOfContradiction(
  runs: Runs,
  parts: Parts,
  contradiction: ContradictingRuns,
): Certification {
  const unstable = whyUnstable(contradiction);
  const byFailing = holdingByFailing(parts);
  const byPassing = holdingByPassing(parts);
  const checks = [
    ...withoutResult("held", byFailing.checks, unstable),
    ...withoutResult("failed", byPassing.checks, unstable),
  ];
  const stable = mergeJudgments([judgeAdvice(runs), { ...byFailing, checks }, { notes: byPassing.notes }]);
  return certificationOf(runs, stable, unstable);
}

/** What the runs have shown. `unusable`: why that is nothing, or not all. */
function certificationOf(runs: Runs, judgment: Judgment, unusable?: Reason): Certification {
  const { all, isStopped } = runs;
  const scenarios = new Set<string>();
  for (const run of all) {
    for (const name of run.scenarios) scenarios.add(name);
  }

  const facts = { ...judgment, runs: all.length, plain: all[0], scenarios: [...scenarios], isStopped };
  return unusable === undefined ? facts : { ...facts, unusable };
}

/** Whether the plain run shows enough for any check. */
async function plainEvidence(plain: ClientRun, runs: Runs): Promise<RunEvidence> {
  const { result, code, report } = plain;
  if (result === "passed") return coverageEvidence(report);
  if (result === "timed_out") return notJudged(whyEndless(report));
  return notJudged(await whyPlainFails(`the command fails in the plain run with exit code ${code}`, runs));
}

/** Tells a command that fails at random, or that needs what only the profile `typical` adds, from one that fails each time. */
async function whyPlainFails(why: string, runs: Runs): Promise<Reason> {
  const passes = async (profile: Profile) => {
    const run = await runs.another({ ...plainRun, conditions: { profile } });
    return run.kind === "ended" && run.result === "passed";
  };
  const failsAlways = {
    why,
    whatToDo: "Fix that first: in this run the sandbox only does what the specification promises.",
  };

  for (let pair = 1; pair <= maxPairs; pair++) {
    if (await passes("minimal")) {
      return { why: `${why}, and passes when it runs again`, whatToDo: findDependency };
    }
    if (await passes("typical")) continue;

    // A run that was not made leaves open whether the command always fails.
    if (runs.isStopped) return { why, whatToDo: runNotMade.whatToDo };
    if (pair === 1) return failsAlways;
    return { why: `${why}, and passes and fails with \`--profile typical\``, whatToDo: findDependency };
  }
  return {
    why: `${why}, and passes with \`--profile typical\``,
    whatToDo:
      "Accept responses without what `typical` adds, such as `Retry-After`, `X-Request-Id` on errors, `error.details` or `WWW-Authenticate`: the specification does not promise it.",
  };
}

function whyEndless({ resends }: Report): Reason {
  const why = "the command does not end in time in the plain run";
  const whatToDo =
    "Set a longer --timeout. A command that never ends, such as a watcher or a server, cannot be judged.";
  const [most] = resends.toSorted((one, other) => other.count - one.count);
  if (most === undefined || most.count <= 100) return { why, whatToDo };

  const key = most.key ?? most.fingerprint;
  const { status } = outcomeRow(most.outcome);
  return { why: `${why}. It still resends \`${key}\` after ${status} (${most.count} times)`, whatToDo };
}

/** Advice of level error in any run is a problem of its own; if the plain run has it, only that run is named. */
function judgeAdvice({ all, plan }: Runs): Judgment {
  const checks: JudgedCheck[] = [];
  const problems: Finding[] = [];
  for (const { id, level } of adviceTable) {
    if (level !== "error") continue;
    const runsWithAdvice = all.filter(({ report }) => isGiven(report, id));
    const [first] = runsWithAdvice;
    const advice = first?.report.advice.find((one) => one.id === id);
    if (first === undefined || advice === undefined) continue;

    const check = { kind: "advice", id } as const;
    const firstName = nameOf(first.purpose);
    const names = new Set(runsWithAdvice.map(({ purpose }) => nameOf(purpose)));
    checks.push({ check, result: failedResult });
    problems.push({
      name: nameOf(check),
      sentence: `${advice.meaning.replace(/\.$/, "")} (run ${firstName})`,
      whatToDo: advice.whatToDo,
      again: againCommandOfRun(first, plan),
      runs: first.purpose.kind === "plain" ? [firstName] : [...names],
    });
  }
  if (problems.length === 0) return singleCheck({ kind: "advice" }, heldResult);
  return { checks, problems, notes: [] };
}

function isGiven({ advice }: Report, id: AdviceId): boolean {
  return advice.some((one) => one.id === id && one.count > 0);
}

/** Why a failure shows nothing: the same conditions have given two results. */
function whyUnstable({ failed, passed }: ContradictingRuns): Reason {
  if (failed.purpose.kind === "plain" && failed.number > passed.number) {
    return {
      why: `the command no longer passes: the plain run passed in run ${passed.number}, and failed in run ${failed.number}`,
      whatToDo:
        "Find out what your tests leave behind, such as a row, a file or a name that must be new, or what they use up. If it fails at random, find out what else it depends on: time, order, other tests.",
    };
  }
  const name = nameOf(failed.purpose);
  return {
    why: `the command passes and fails under the same conditions (${name}, runs ${failed.number} and ${passed.number})`,
    whatToDo: findDependency,
  };
}

/** The checks, of which those with this result are not judged, for this reason. */
function withoutResult(
  kind: "failed" | "held",
  checks: readonly JudgedCheck[],
  reason: Reason,
): JudgedCheck[] {
  const changed: JudgedCheck[] = [];
  for (const { check, result } of checks) {
    changed.push({ check, result: result.kind === kind ? notJudged(reason) : result });
  }
  return changed;
}
