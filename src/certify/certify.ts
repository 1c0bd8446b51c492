import type { Report } from "../report/report-shape.js";
import { adviceTable } from "../rules/advice.js";
import type { Profile } from "../rules/assumptions.js";
import { outcomeOf } from "../rules/outcomes.js";
import { judgeAnswers } from "./answers.js";
import type { Certification } from "./certificate.js";
import type { ClientRun, ClientRunner } from "./client-run.js";
import { judgeFaults } from "./faults.js";
import {
  type Check,
  checkOf,
  type Finding,
  failed,
  findDependency,
  held,
  type Judgment,
  joined,
  judged,
  notJudged,
  type Reason,
} from "./judgment.js";
import { againOf, type CertifyPlan, whyNothingTried, whyTooLittle } from "./plan.js";
import { noteRepeated } from "./repeated-rejections.js";
import { judgeResends } from "./resends.js";
import { type Contradiction, Runs } from "./runs.js";
import { judgeVaried, runVaried } from "./varied.js";

/** Certifies a client: one plain run, and then what `only` asks for. */
export async function certify(plan: CertifyPlan, runner: ClientRunner): Promise<Certification> {
  const runs = new Runs(plan, runner);
  const plain = await runs.make("plain", {});
  if (plain === undefined) return certificationOf(runs, joined([]));
  const unusable = await whyUnusable(plain, runs);
  // A key in the output is a problem, whatever else cannot be judged.
  if (unusable !== undefined) return certificationOf(runs, withoutHeld(judgeAdvice(runs)), unusable);

  const [, answered, resent, faulty] = await Promise.all([
    runVaried(runs),
    judgeAnswers(runs),
    judgeResends(runs),
    judgeFaults(runs),
  ]);
  const caused = await judgeVaried(runs);
  const noticed = joined([resent, answered]);
  const failing = joined([caused, faulty]);
  if (restsOnFailures(noticed, failing)) await runs.makeLastPlain();

  const { contradiction } = runs;
  if (contradiction?.[0].isShared && !runs.isStopped) {
    runner.separate(contradiction[0].name);
    const second = await certify(plan, runner);
    return { ...second, plain: second.plain ?? plain, runs: second.runs + runs.all.length };
  }
  const advice = judgeAdvice(runs);
  if (contradiction === undefined) {
    // What a named resend explains needs no note.
    const notes = resent.problems.length > 0 ? [] : await noteRepeated(runs);
    const whole = joined([advice, resent, caused, faulty, answered, { notes }]);
    const nothingTried = runs.isStopped ? undefined : whyNothingTried(plan, whole.checks, plain.report);
    return certificationOf(runs, whole, nothingTried);
  }

  // A failure shows nothing then, nor does what held because a run failed.
  const unstable = whyUnstable(contradiction);
  const checks = [
    ...without("held", noticed.checks, unstable),
    ...without("failed", failing.checks, unstable),
  ];
  const stable = joined([advice, { ...noticed, checks }, { notes: failing.notes }]);
  return certificationOf(runs, stable, unstable);
}

/** What the runs have shown. `unusable`: why that is nothing, or not all. */
function certificationOf(runs: Runs, judgment: Judgment, unusable?: Reason): Certification {
  const { all, isStopped } = runs;
  const scenarios = new Set(all.flatMap((run) => run.scenarios));
  const facts = { ...judgment, runs: all.length, plain: all[0], scenarios: [...scenarios], isStopped };
  return unusable === undefined ? facts : { ...facts, unusable };
}

/** Whether a problem, or what holds, would be another one if the command no longer passed at all. */
const restsOnFailures = (noticed: Judgment, failing: Judgment): boolean =>
  noticed.checks.some(({ result }) => result.kind === "held") ||
  failing.checks.some(({ result }) => result.kind === "failed");

/** Why a failure shows nothing: the same conditions have given two results. */
function whyUnstable([failed, passed]: Contradiction): Reason {
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

/** Checks without those that failed, or that held because one run failed, if such a run shows nothing for this reason. */
function without(kind: "failed" | "held", checks: readonly Check[], reason: Reason): Check[] {
  return checks.map((check) => (check.result.kind === kind ? checkOf(check.name, notJudged(reason)) : check));
}

const withoutHeld = (advice: Judgment) => (advice.problems.length > 0 ? advice : joined([]));

async function whyUnusable(plain: ClientRun, runs: Runs): Promise<Reason | undefined> {
  const { result, code, report, failure } = plain;
  if (result === "passed") return whyTooLittle(report);
  if (failure !== undefined) return undefined;
  if (result === "timed_out") return whyEndless(report);

  const why = `the command fails in the plain run with exit code ${code}`;
  const passes = async (profile: Profile, nth: number) =>
    (await runs.make("plain", { profile }, { nth }))?.result === "passed";
  const first = {
    why,
    whatToDo: "Fix that first: in this run the sandbox only does what the specification promises.",
  };
  for (let pair = 1; pair <= maxPairs; pair++) {
    if (await passes("minimal", pair + 1))
      return { why: `${why}, and passes when it runs again`, whatToDo: findDependency };
    if (await passes("typical", pair)) continue;
    if (runs.isStopped) return first;
    if (pair > 1)
      return { why: `${why}, and passes and fails with \`--profile typical\``, whatToDo: findDependency };
    return first;
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
  const { status } = outcomeOf(most.outcome);
  return { why: `${why}. It still resends \`${key}\` after ${status} (${most.count} times)`, whatToDo };
}

/** How often a plain run fails again and one with the profile `typical` passes before that is the reason: a command may fail at random. */
const maxPairs = 4;

/** Advice of level error in any run is a problem of its own; if the plain run has it, only that run is named. */
function judgeAdvice({ all, plan }: Runs): Judgment {
  const problems: Finding[] = [];
  for (const { id, level } of adviceTable) {
    const adviceIn = ({ report }: ClientRun) => report.advice.find((one) => one.id === id && one.count > 0);
    const first = all.find(adviceIn);
    const advice = first && adviceIn(first);
    if (level !== "error" || first === undefined || advice === undefined) continue;

    const names = new Set(all.filter(adviceIn).map(({ name }) => name));
    problems.push({
      name: `advice.${id}`,
      sentence: `${advice.meaning.replace(/\.$/, "")} (run ${first.name})`,
      whatToDo: advice.whatToDo,
      again: againOf(first, plan),
      runs: first.name === "plain" ? ["plain"] : [...names],
    });
  }
  if (problems.length === 0) return judged("advice", held);
  const checks = problems.map(({ name }) => checkOf(name, failed));
  return joined([{ checks, problems }]);
}
