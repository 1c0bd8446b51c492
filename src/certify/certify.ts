import { judgeAdvice } from "./advice.js";
import { judgeAnswers } from "./answers.js";
import type { Certification, JudgedClient } from "./certificate/certification.js";
import { nameOf } from "./checks/check.js";
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
// Control runs help to read others: a 404 or a late response next to rejections, and the profile `typical` next to a plain run that fails.
// All that shows is whether the command passes, and which requests it sends. A check asks one question about the client, such as
// whether it resends: sends a key again after a 401. Its result is held (it does what it should), failed, allowed by --allow, or not
// judged, with the reason why the runs show nothing. What failed becomes a problem, with a sentence, a fix and the command that shows it
// again; for varied responses, its cause: the one row of variants that breaks the client alone. The verdict is about all checks.
// Nobody is accused by chance: a run that fails is a problem only if it fails again (one that does not end in time needs no second run),
// and two runs under the same conditions that end differently are a contradiction, after which no failure counts.

/** What each part of the runs has shown. */
interface Parts {
  readonly answers: Judgment;
  readonly resends: Judgment;
  readonly faults: Judgment;
  readonly varied: Judgment;
}

/** Certifies a client: one plain run, and then what the plan contains; `only` of it limits that. */
export function certify(plan: CertifyPlan, runner: ClientRunner): Promise<Certification> {
  return certifyByRuns(new Runs(plan, runner), runner);
}

async function certifyByRuns(runs: Runs, runner: ClientRunner): Promise<Certification> {
  const plain = await runs.makeOnce(plainRun);
  if (plain.kind === "not_made") return { kind: "no_run" };
  if (plain.failure !== undefined) return { kind: "not_started", failure: plain.failure };

  const evidence = await plainEvidence(plain, runs);
  if (evidence.kind === "not_judged") return judgedClient(runs, onlyAdvice(runs), evidence.reason);

  const parts = await judgeParts(runs);
  if (restsOnFailures(parts)) await makeLastPlainRun(runs);

  const { contradiction } = runs;
  if (contradiction === undefined) return judgedByParts(runs, parts);
  // The run that failed may have done so because of the run next to it.
  if (contradiction.failed.isShared && !runs.isStopped) {
    return certifyOneAtATime(runs, runner, contradiction);
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

/** Whether a check has its result because runs failed: it would have another one if the command no longer passed at all. */
function restsOnFailures({ answers, resends, faults, varied }: Parts): boolean {
  const { checks } = mergeJudgments([answers, resends, faults, varied]);
  return checks.some(restsOnFailure);
}

function restsOnFailure({ check, result }: JudgedCheck): boolean {
  switch (check.kind) {
    // A client should fail at a wrong answer or a rejection.
    case "answer":
    case "resend":
      return result.kind === "held";
    // It should pass whatever varies, and survive a fault.
    case "varied":
    case "fault":
      return result.kind === "failed";
    // Advice is about requests and output, however the run ended.
    case "advice":
      return false;
  }
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
  const judgment = mergeJudgments([judgeAdvice(runs), resends, varied, faults, answers, { notes }]);
  if (runs.isStopped) return judgedClient(runs, judgment);

  const evidence = onlyEvidence(runs.plan, judgment.checks, runs.plain.report);
  return judgedClient(runs, judgment, evidence.kind === "not_judged" ? evidence.reason : undefined);
}

/** A key in the output is a problem, whatever else cannot be judged. That there is none shows nothing then. */
function onlyAdvice(runs: Runs): Judgment {
  const advice = judgeAdvice(runs);
  return advice.problems.length > 0 ? advice : nothingJudged;
}

/** Makes all runs again, one at a time. */
async function certifyOneAtATime(
  runs: Runs,
  runner: ClientRunner,
  { failed }: Contradiction,
): Promise<Certification> {
  runner.separateRuns();
  const name = nameOf(failed.purpose);
  runner.say(`${name} failed next to another run, and passed alone. All runs are made again, one at a time.`);

  const second = await certifyByRuns(new Runs(runs.plan, runner, runs.all), runner);
  if (second.kind !== "no_run") return second;
  // A signal came before the second plain run ended: what the first runs have shown is withdrawn.
  return { ...judgedClient(runs, onlyAdvice(runs)), isStopped: true };
}

/** A failure shows nothing after a contradiction: neither a problem, nor what has a result because of it. */
function judgedWithoutFailures(runs: Runs, parts: Parts, contradiction: Contradiction): JudgedClient {
  const { answers, resends, faults, varied } = parts;
  const unstable = whyUnstable(contradiction);
  const judgment = mergeJudgments([resends, answers, varied, faults]);
  const checks: JudgedCheck[] = [];
  for (const judged of judgment.checks) {
    if (restsOnFailure(judged)) checks.push({ check: judged.check, result: notJudged(unstable) });
    else checks.push(judged);
  }

  // A client that resends, or that accepts a wrong answer, passes; each other problem is a failure.
  const problems = [...resends.problems, ...answers.problems];
  const withoutFailures = { checks, problems, notes: judgment.notes };
  return judgedClient(runs, mergeJudgments([judgeAdvice(runs), withoutFailures]), unstable);
}

/** What the runs have shown. `whyNotJudged`: why that is nothing, or not all. */
function judgedClient(runs: Runs, judgment: Judgment, whyNotJudged?: Reason): JudgedClient {
  const { before, all, plain, isStopped } = runs;
  const scenarios = new Set<string>();
  for (const run of [...before, ...all]) {
    for (const name of run.scenarios) scenarios.add(name);
  }

  return {
    kind: "judged",
    ...judgment,
    runs: before.length + all.length,
    plain,
    scenarios: [...scenarios],
    isStopped,
    ...(whyNotJudged && { whyNotJudged }),
  };
}
