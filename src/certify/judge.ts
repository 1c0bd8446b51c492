import { adviceTable } from "../rules/advice.js";
import type { Profile } from "../rules/assumptions.js";
import { type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { createAnswers, judgeAnswers, whyUnnoticed } from "./answers.js";
import { type Certification, type Finding, onlyOnce } from "./certificate.js";
import {
  type Context,
  checkOf,
  heldCheck,
  type Judgment,
  joinJudgments,
  judgment,
  noteJudgment,
  Runs,
  withoutFailures,
} from "./context.js";
import { contradicted } from "./contradictions.js";
import { judgeFaults } from "./faults.js";
import {
  againOf,
  type CertifyPlan,
  coveredOutcomes,
  faultsAsked,
  isWanted,
  seedsOf,
  whyNothingTried,
  whyTooLittle,
} from "./plan.js";
import { judgeAllResends, runsOfResends } from "./resends.js";
import { type ClientRun, findDependency, type Reason, type Tools, whyUnstable } from "./run.js";
import { judgeVaried, runVaried } from "./varied.js";

/** Certifies a client: one plain run, and then what `only` asks for. */
export async function certify(plan: CertifyPlan, tools: Tools): Promise<Certification> {
  const runs = new Runs(plan, tools);
  const plain = await runs.make("plain", {});
  const unusable = plain && (await whyUnusable(plain, runs));
  const done = (seen: Judgment) => ({
    ...seen,
    runs: runs.all.length,
    plain,
    scenarios: [...runs.scenarios],
  });
  if (plain === undefined || unusable !== undefined) {
    // A key in the output is a problem, whatever else cannot be judged.
    const advice = judgeAdvice(runs, plan);
    return { ...done(advice.problems.length > 0 ? advice : judgment([])), ...(unusable && { unusable }) };
  }
  const covered = coveredOutcomes(plain.report);
  runs.measured(plain, expectedRuns(plan, plain, covered));
  const varied = runVaried(plan, runs, plain);
  const answers = createAnswers(plan, runs, plain);
  let hidden: Promise<Reason | undefined> | undefined;
  const whyHidden = () => (hidden ??= whyUnnoticed(covered, answers.answerOn));
  const context: Context = { plan, runs, plain, covered, varied, ...answers, whyHidden };
  const [answered, resent, faulty] = await Promise.all([
    judgeAnswers(context),
    judgeAllResends(context),
    judgeFaults(context),
    varied,
  ]);
  const caused = await judgeVaried(context);
  const { contradiction } = runs;
  if (contradiction?.[0].isShared) {
    tools.separate(contradiction[0].name);
    const again = await certify(plan, tools);
    return { ...again, runs: again.runs + runs.all.length };
  }
  const unstable = contradiction && whyUnstable(...contradiction);
  const failing = joinJudgments([caused, ...faulty]);
  const failures = unstable === undefined ? failing : withoutFailures(failing, unstable);
  const reason = await hidden;
  const once = reason === undefined ? [] : [noteJudgment(onlyOnce, reason)];
  const resends = contradicted(resent, plain, runs.all);
  const seen = joinJudgments([judgeAdvice(runs, plan), ...resends, failures, ...once, ...answered]);
  const why = unstable ?? whyNothingTried(plan, seen.checks, plain.report);
  return { ...done(seen), ...(why && { unusable: why }) };
}

/** How many runs a client without a problem takes. */
function expectedRuns(plan: CertifyPlan, plain: ClientRun, covered: readonly OutcomeId[]): number {
  const seeds = seedsOf(plan);
  const answers = covered.filter((outcome) => isWanted(plan, `answer.${outcome}`));
  const mixed = seeds.length > 1 || plan.only?.includes("varied.mixed") ? 1 : 0;
  const resends = runsOfResends(plan, plain, covered);
  return 1 + seeds.length + mixed + answers.length + resends + faultsAsked(plan).length;
}

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
  const again = async (profile: Profile) => (await runs.make("plain", { profile }))?.result === "passed";
  for (let turn = 1; turn <= turnsOfTypical; turn++) {
    if (await again("minimal"))
      return { why: `${why}, and passes when it runs again`, whatToDo: findDependency };
    if (await again("typical")) continue;
    if (turn > 1)
      return { why: `${why}, and passes and fails with \`--profile typical\``, whatToDo: findDependency };
    return {
      why,
      whatToDo: "Fix that first: in this run the sandbox only does what the specification promises.",
    };
  }
  return {
    why: `${why}, and passes with \`--profile typical\``,
    whatToDo:
      "Accept responses without what `typical` adds, such as `Retry-After`, `X-Request-Id` on errors, `error.details` or `WWW-Authenticate`: the specification does not promise it.",
  };
}

/** How often a plain run fails again and one with the profile `typical` passes before that is the reason: a command may fail at random. */
const turnsOfTypical = 4;

/** Advice of level error in any run is a problem of its own; if the plain run has it, only that run is named. */
function judgeAdvice({ all }: Runs, plan: CertifyPlan): Judgment {
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
  if (problems.length === 0) return heldCheck("advice");
  const checks = problems.map(({ name }) => checkOf(name, { is: "failed" }));
  return judgment(checks, problems);
}
