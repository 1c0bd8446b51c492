import { judgeAdvice } from "./advice.js";
import { judgeAnswers } from "./answers.js";
import type { Certification, JudgedClient } from "./certificate/certification.js";
import { type Check, nameOf } from "./checks/check.js";
import {
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  nothingJudged,
  notJudged,
  type Reason,
} from "./checks/judgment.js";
import type { CertifyPlan } from "./checks/plan.js";
import type { ClientRunner } from "./client-runs/client-run.js";
import { type Contradiction, whyUnstable } from "./client-runs/contradiction.js";
import { plainRun, Runs } from "./client-runs/runs.js";
import { onlyEvidence } from "./coverage.js";
import { judgeFaults } from "./faults.js";
import { plainEvidence } from "./plain-run.js";
import { noteRepeatedRejections } from "./resends/repeated-rejections.js";
import { judgeResends } from "./resends/resends.js";
import { judgeVaried, makeVariedRunsOnce } from "./varied/varied.js";

// The method. A run is one start of the client's command, against sandboxes of its own. In the plain run these do only what the
// specification promises. Each other run has conditions: all its responses vary in what the specification leaves open (varied), one
// outcome gets the wrong answer (answer), one request with a key that works gets a rejection (resend), or one response breaks (fault).
// All that shows is whether the command passes, and which requests it sends. A check asks one question about the client, such as
// whether it resends: sends a key again after a 401. Its result is held (it does what it should), failed, allowed by --allow, or not
// judged, with the reason why the runs show nothing. What failed becomes a problem, with a sentence, a fix and the command that shows it
// again; for varied responses, its cause: the one row of variants that breaks the client alone. The verdict is about all checks.
// Nobody is accused by chance: a run that fails is a problem only if it fails again, and two runs under the same conditions that end
// differently are a contradiction, after which no failure counts.

/** What each part of the runs has shown. */
interface Parts {
  readonly answers: Judgment;
  readonly resends: Judgment;
  readonly faults: Judgment;
  readonly varied: Judgment;
}

/** The result that a check has because runs failed: a client should fail at a wrong answer or a rejection, and pass in other runs. */
const resultOfFailing: Readonly<Record<Check["kind"], "held" | "failed" | "none">> = {
  answer: "held",
  resend: "held",
  varied: "failed",
  fault: "failed",
  advice: "none",
};

/** Certifies a client: one plain run, and then what the plan contains; `only` of it limits that. */
export async function certify(plan: CertifyPlan, runner: ClientRunner): Promise<Certification> {
  const runs = new Runs(plan, runner);
  const plain = await runs.makeOnce(plainRun);
  if (plain.kind === "not_made") return { kind: "no_run" };
  if (plain.failure !== undefined) return { kind: "not_started", failure: plain.failure };

  const usable = await plainEvidence(plain, runs);
  if (usable.kind === "not_judged") {
    // A key in the output is a problem, whatever else cannot be judged. That there is none shows nothing then.
    const advice = judgeAdvice(runs);
    return judgedClient(runs, advice.problems.length > 0 ? advice : nothingJudged, usable.reason);
  }

  const parts = await judgeParts(runs);
  if (restsOnFailures(parts)) await makeLastPlainRun(runs);

  const { contradiction } = runs;
  if (contradiction === undefined) return judgedByParts(runs, parts);
  // The run that failed may have done so because of the run next to it.
  if (contradiction.failed.isShared && !runs.isStopped) {
    return certifyOneAtATime(plan, runner, runs, contradiction);
  }
  return judgedWithoutFailures(runs, parts, contradiction);
}

async function judgeParts(runs: Runs): Promise<Parts> {
  // The varied runs start with the others, and the search for causes after all of them: it is alone then.
  const [, answers, resends, faults] = await Promise.all([
    makeVariedRunsOnce(runs),
    judgeAnswers(runs),
    judgeResends(runs),
    judgeFaults(runs),
  ]);
  return { answers, resends, faults, varied: await judgeVaried(runs) };
}

/** Whether a check would have another result if the command no longer passed at all. */
function restsOnFailures({ answers, resends, faults, varied }: Parts): boolean {
  const { checks } = mergeJudgments([answers, resends, faults, varied]);
  return checks.some(({ check, result }) => result.kind === resultOfFailing[check.kind]);
}

/** Makes the plain run again, after all others. A command that no longer passes at all contradicts its first run then. */
async function makeLastPlainRun(runs: Runs): Promise<void> {
  if (runs.contradiction !== undefined || runs.isStopped) return;
  await runs.makeAnother({ ...plainRun, isAlone: true });
}

/** Nothing contradicts what the runs have shown. */
async function judgedByParts(runs: Runs, { answers, resends, faults, varied }: Parts): Promise<JudgedClient> {
  // What a named resend explains needs no note.
  const notes = resends.problems.length > 0 ? [] : await noteRepeatedRejections(runs);
  const whole = mergeJudgments([judgeAdvice(runs), resends, varied, faults, answers, { notes }]);
  if (runs.isStopped) return judgedClient(runs, whole);

  const evidence = onlyEvidence(runs.plan, whole.checks, runs.plain.report);
  return judgedClient(runs, whole, evidence.kind === "not_judged" ? evidence.reason : undefined);
}

/** Makes all runs again, one at a time, and counts those before, too. */
async function certifyOneAtATime(
  plan: CertifyPlan,
  runner: ClientRunner,
  runs: Runs,
  { failed }: Contradiction,
): Promise<Certification> {
  runner.separateRuns();
  const name = nameOf(failed.purpose);
  runner.say(`${name} failed next to another run, and passed alone. All runs are made again, one at a time.`);

  const second = await certify(plan, runner);
  switch (second.kind) {
    case "not_started":
      return second;
    case "no_run":
      return { ...judgedClient(runs, nothingJudged), isStopped: true, scenarios: [] };
    case "judged":
      return { ...second, runs: second.runs + runs.all.length };
  }
}

/** A failure shows nothing after a contradiction: neither a problem, nor what has a result because of it. */
function judgedWithoutFailures(runs: Runs, parts: Parts, contradiction: Contradiction): JudgedClient {
  const { answers, resends, faults, varied } = parts;
  const unstable = whyUnstable(contradiction);
  const whole = mergeJudgments([resends, answers, varied, faults]);
  const checks: JudgedCheck[] = [];
  for (const { check, result } of whole.checks) {
    const isOfFailing = result.kind === resultOfFailing[check.kind];
    checks.push({ check, result: isOfFailing ? notJudged(unstable) : result });
  }

  // A client that resends, or that accepts a wrong answer, passes; each other problem is a failure.
  const problems = [...resends.problems, ...answers.problems];
  const withoutFailures = { checks, problems, notes: whole.notes };
  return judgedClient(runs, mergeJudgments([judgeAdvice(runs), withoutFailures]), unstable);
}

/** What the runs have shown. `whyNotJudged`: why that is nothing, or not all. */
function judgedClient(runs: Runs, judgment: Judgment, whyNotJudged?: Reason): JudgedClient {
  const { all, plain, isStopped } = runs;
  const scenarios = new Set<string>();
  for (const run of all) {
    for (const name of run.scenarios) scenarios.add(name);
  }

  return {
    kind: "judged",
    ...judgment,
    runs: all.length,
    plain,
    scenarios: [...scenarios],
    isStopped,
    ...(whyNotJudged && { whyNotJudged }),
  };
}
