import type { Report } from "../report/report-shape.js";
import { adviceTable } from "../rules/advice.js";
import type { Profile } from "../rules/assumptions.js";
import { outcomeRow } from "../rules/outcomes.js";
import { judgeAnswers } from "./answers.js";
import type { Certification } from "./certificate.js";
import type { ClientRun, ClientRunner } from "./client-run.js";
import { judgeFaults } from "./faults.js";
import {
  type Check,
  type Finding,
  failedResult,
  findDependency,
  heldResult,
  type Judgment,
  mergeJudgments,
  newCheck,
  notJudged,
  type Reason,
  singleCheck,
} from "./judgment.js";
import { againCommandOfRun, type CertifyPlan, whyCoversTooLittle, whyOnlyShowsNothing } from "./plan.js";
import { noteRepeatedRejections } from "./repeated-rejections.js";
import { judgeResends } from "./resends.js";
import { type ContradictingRuns, Runs } from "./runs.js";
import { judgeVaried, runVaried } from "./varied.js";

// The method. A run is one start of the client's command, against sandboxes of its own. In the plain run these do only what the
// specification promises. Each other run has conditions: all its responses vary in what the specification leaves open (varied), one
// outcome gets the wrong answer (answer), one request with a key that works gets a rejection (resend), or one response breaks (fault).
// All that shows is whether the command passes, and which requests it sends. A check asks one question about the client, such as
// whether it resends: sends a key again after a 401. Its result is held (it does what it should), failed, allowed by --allow, or not
// judged, with the reason why the runs show nothing. What failed becomes a problem, with a sentence, a fix and the command that shows it
// again; for varied responses, its cause: the one row of variants that breaks the client alone. The verdict is about all checks.
// Nobody is accused by chance: a run that fails is a problem only if it fails again, and two runs under the same conditions that end differently are
// a contradiction, after which no failure counts.

/** How often a plain run fails again and one with the profile `typical` passes before that is the reason: a command may fail at random. */
const maxPairs = 4;

/** Certifies a client: one plain run, and then what `only` asks for. */
export async function certify(plan: CertifyPlan, runner: ClientRunner): Promise<Certification> {
  const runs = new Runs(plan, runner);
  const plain = await runs.make("plain", {});
  if (plain === undefined) return certificationOf(runs, mergeJudgments([]));
  const unusable = await whyUnusable(plain, runs);
  if (unusable !== undefined) {
    // A key in the output is a problem, whatever else cannot be judged. That there is none shows nothing then.
    const advice = judgeAdvice(runs);
    return certificationOf(runs, advice.problems.length > 0 ? advice : mergeJudgments([]), unusable);
  }

  // The varied runs start with the others, and the search for causes after all of them: it is alone then.
  const [, answered, resent, faulty] = await Promise.all([
    runVaried(runs),
    judgeAnswers(runs),
    judgeResends(runs),
    judgeFaults(runs),
  ]);
  const caused = await judgeVaried(runs);

  // Wrong answers and rejections hold because a run failed; varied responses and faults hold because it passed.
  const holdByFailing = mergeJudgments([resent, answered]);
  const holdByPassing = mergeJudgments([caused, faulty]);
  if (restsOnFailures(holdByFailing, holdByPassing)) await runs.makeLastPlain();

  const { contradiction } = runs;
  if (contradiction?.failed.isShared && !runs.isStopped) {
    // It may have failed because of the run next to it.
    runner.separateRuns(contradiction.failed.name);
    const second = await certify(plan, runner);
    return { ...second, plain: second.plain ?? plain, runs: second.runs + runs.all.length };
  }

  const advice = judgeAdvice(runs);
  if (contradiction === undefined) {
    // What a named resend explains needs no note.
    const notes = resent.problems.length > 0 ? [] : await noteRepeatedRejections(runs);
    const whole = mergeJudgments([advice, resent, caused, faulty, answered, { notes }]);
    const nothingShown = runs.isStopped ? undefined : whyOnlyShowsNothing(plan, whole.checks, plain.report);
    return certificationOf(runs, whole, nothingShown);
  }

  // A failure shows nothing then: neither a problem, nor what held because of it.
  const unstable = whyUnstable(contradiction);
  const checks = [
    ...withoutResult("held", holdByFailing.checks, unstable),
    ...withoutResult("failed", holdByPassing.checks, unstable),
  ];
  const stable = mergeJudgments([advice, { ...holdByFailing, checks }, { notes: holdByPassing.notes }]);
  return certificationOf(runs, stable, unstable);
}

/** What the runs have shown. `unusable`: why that is nothing, or not all. */
function certificationOf(runs: Runs, judgment: Judgment, unusable?: Reason): Certification {
  const { all, isStopped } = runs;
  const scenarios = new Set<string>();
  for (const run of all) for (const name of run.scenarios) scenarios.add(name);

  const facts = { ...judgment, runs: all.length, plain: all[0], scenarios: [...scenarios], isStopped };
  return unusable === undefined ? facts : { ...facts, unusable };
}

/** Why the plain run shows too little for any check; `undefined` if it shows enough. */
async function whyUnusable(plain: ClientRun, runs: Runs): Promise<Reason | undefined> {
  const { result, code, report, failure } = plain;
  if (result === "passed") return whyCoversTooLittle(report);
  if (failure !== undefined) return undefined;
  if (result === "timed_out") return whyEndless(report);
  return whyPlainFails(`the command fails in the plain run with exit code ${code}`, runs);
}

/** Tells a command that fails at random, or that needs what only the profile `typical` adds, from one that fails each time. */
async function whyPlainFails(why: string, runs: Runs): Promise<Reason> {
  const passes = async (profile: Profile, nth: number) =>
    (await runs.make("plain", { profile }, { nth }))?.result === "passed";
  const failsAlways = {
    why,
    whatToDo: "Fix that first: in this run the sandbox only does what the specification promises.",
  };

  for (let pair = 1; pair <= maxPairs; pair++) {
    if (await passes("minimal", pair + 1))
      return { why: `${why}, and passes when it runs again`, whatToDo: findDependency };
    if (await passes("typical", pair)) continue;

    if (runs.isStopped || pair === 1) return failsAlways;
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
  const problems: Finding[] = [];
  for (const { id, level } of adviceTable) {
    if (level !== "error") continue;
    const adviceIn = ({ report }: ClientRun) => report.advice.find((one) => one.id === id && one.count > 0);
    const first = all.find(adviceIn);
    const advice = first && adviceIn(first);
    if (first === undefined || advice === undefined) continue;

    const names = new Set(all.filter(adviceIn).map(({ name }) => name));
    problems.push({
      name: `advice.${id}`,
      sentence: `${advice.meaning.replace(/\.$/, "")} (run ${first.name})`,
      whatToDo: advice.whatToDo,
      again: againCommandOfRun(first, plan),
      runs: first.name === "plain" ? ["plain"] : [...names],
    });
  }
  if (problems.length === 0) return singleCheck("advice", heldResult);
  const checks = problems.map(({ name }) => newCheck(name, failedResult));
  return mergeJudgments([{ checks, problems }]);
}

/** Whether a problem, or what holds, would be another one if the command no longer passed at all. */
function restsOnFailures(holdByFailing: Judgment, holdByPassing: Judgment): boolean {
  return (
    holdByFailing.checks.some(({ result }) => result.kind === "held") ||
    holdByPassing.checks.some(({ result }) => result.kind === "failed")
  );
}

/** Why a failure shows nothing: the same conditions have given two results. */
function whyUnstable({ failed, passed }: ContradictingRuns): Reason {
  if (failed.name === "plain" && failed.number > passed.number)
    return {
      why: `the command no longer passes: the plain run passed in run ${passed.number}, and failed in run ${failed.number}`,
      whatToDo:
        "Find out what your tests leave behind, such as a row, a file or a name that must be new, or what they use up. If it fails at random, find out what else it depends on: time, order, other tests.",
    };
  return {
    why: `the command passes and fails under the same conditions (${failed.name}, runs ${failed.number} and ${passed.number})`,
    whatToDo: findDependency,
  };
}

/** The checks, of which those with this result are not judged, for this reason. */
function withoutResult(kind: "failed" | "held", checks: readonly Check[], reason: Reason): Check[] {
  return checks.map((check) =>
    check.result.kind === kind ? newCheck(check.name, notJudged(reason)) : check,
  );
}
