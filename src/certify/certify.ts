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
import { judgeResends } from "./resends.js";
import { Runs } from "./runs.js";
import { judgeVaried, runVaried } from "./varied.js";

/** Certifies a client: one plain run, and then what `only` asks for. */
export async function certify(plan: CertifyPlan, runner: ClientRunner): Promise<Certification> {
  const runs = new Runs(plan, runner);
  const plain = await runs.make("plain", {});
  const done = (judgment: Judgment, unusable?: Reason): Certification => {
    const { all, isStopped } = runs;
    return {
      ...judgment,
      runs: all.length,
      plain,
      scenarios: [...new Set(all.flatMap(({ scenarios }) => scenarios))],
      isStopped,
      ...(unusable && { unusable }),
    };
  };
  if (plain === undefined) return done(joined([]));
  const unusable = await whyUnusable(plain, runs);
  // A key in the output is a problem, whatever else cannot be judged.
  if (unusable !== undefined) return done(withoutHeld(judgeAdvice(runs)), unusable);
  const [, answered, resent, faulty] = await Promise.all([
    runVaried(runs),
    judgeAnswers(runs),
    judgeResends(runs),
    judgeFaults(runs),
  ]);
  const caused = await judgeVaried(runs);
  const { contradiction } = runs;
  if (contradiction?.[0].isShared && !runs.isStopped) {
    runner.separate(contradiction[0].name);
    const second = await certify(plan, runner);
    return { ...second, plain: second.plain ?? plain, runs: second.runs + runs.all.length };
  }
  const advice = judgeAdvice(runs);
  if (contradiction === undefined) {
    const whole = joined([advice, resent, caused, faulty, answered]);
    return done(whole, runs.isStopped ? undefined : whyNothingTried(plan, whole.checks, plain.report));
  }
  // A failure shows nothing then, nor does what held because a run failed.
  const unstable = whyUnstable(...contradiction);
  const [noticed, failing] = [joined([resent, answered]), joined([caused, faulty])];
  const checks = [
    ...without("held", noticed.checks, unstable),
    ...without("failed", failing.checks, unstable),
  ];
  return done(joined([advice, { ...noticed, checks }, { notes: failing.notes }]), unstable);
}

/** Why a failure shows nothing: the same conditions have given two results. */
const whyUnstable = (failed: ClientRun, passed: ClientRun): Reason => ({
  why: `the command passes and fails under the same conditions (${failed.name}, runs ${failed.number} and ${passed.number})`,
  whatToDo: findDependency,
});

/** Checks without those that failed, or that held because one run failed, if such a run shows nothing for this reason. */
function without(kind: "failed" | "held", checks: readonly Check[], reason: Reason): Check[] {
  return checks.map((check) => (check.result.kind === kind ? checkOf(check.name, notJudged(reason)) : check));
}

const withoutHeld = (advice: Judgment) => (advice.problems.length > 0 ? advice : joined([]));

async function whyUnusable(plain: ClientRun, runs: Runs): Promise<Reason | undefined> {
  const { result, code, report, failure } = plain;
  if (result === "passed" || failure !== undefined)
    return result === "passed" ? whyTooLittle(report) : undefined;
  if (result === "timed_out") {
    const [most] = report.resends.toSorted((one, other) => other.count - one.count);
    const resent =
      most && most.count > 100
        ? `. It still resends \`${most.key ?? most.fingerprint}\` after ${outcomeOf(most.outcome).status} (${most.count} times)`
        : "";
    return {
      why: `the command does not end in time in the plain run${resent}`,
      whatToDo:
        "Set a longer --timeout. A command that never ends, such as a watcher or a server, cannot be judged.",
    };
  }
  const why = `the command fails in the plain run with exit code ${code}`;
  const passes = async (profile: Profile, repetition: number) =>
    (await runs.make("plain", { profile }, { repetition }))?.result === "passed";
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

/** How often a plain run fails again and one with the profile `typical` passes before that is the reason: a command may fail at random. */
const maxPairs = 4;

/** Advice of level error in any run is a problem of its own; if the plain run has it, only that run is named. */
function judgeAdvice({ all, plan }: Runs): Judgment {
  const problems = adviceTable.flatMap(({ id, level }): Finding[] => {
    const having = all.flatMap((run) => {
      const advice = run.report.advice.find((one) => one.id === id && one.count > 0);
      return level === "error" && advice !== undefined ? [{ run, ...advice }] : [];
    });
    const [first] = having;
    if (first === undefined) return [];
    const { run, meaning, whatToDo } = first;
    const sentence = `${meaning.replace(/\.$/, "")} (run ${run.name})`;
    const names = run.name === "plain" ? [run.name] : [...new Set(having.map((one) => one.run.name))];
    return [{ name: `advice.${id}`, sentence, whatToDo, again: againOf(run, plan), runs: names }];
  });
  if (problems.length === 0) return judged("advice", held);
  const checks = problems.map(({ name }) => checkOf(name, failed));
  return joined([{ checks, problems }]);
}
