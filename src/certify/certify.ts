import { judgeAnswers } from "./answers.js";
import type { Certification } from "./certificate/certification.js";
import { nameOf } from "./checks/check.js";
import type { CertifyPlan } from "./checks/plan.js";
import type { ClientRunner } from "./client-runs/client-run.js";
import { plainRunRequest, Runs } from "./client-runs/runs.js";
import { judgeFaults } from "./faults/faults.js";
import {
  anyResultNeedsFailure,
  clientAfterContradiction,
  clientAsJudged,
  clientNotJudged,
  type JudgmentsByGroup,
} from "./judged-client.js";
import { findDoubtOfPlainRun } from "./plain-run.js";
import { judgeResends } from "./resends/resends.js";
import { judgeVaried } from "./varied/varied.js";
import { makeVariedRunsOnce } from "./varied/varied-runs.js";

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
// - A run that failed is a problem only if it fails again; one that does not end in time needs no second run.
// - Two runs under the same conditions that end differently are a contradiction: after it, no failure counts. Runs that hide an outcome from
//   the client, with a wrong answer, a rejection or a late response, contradict no other.

/** Certifies a client: one plain run, and then what the plan contains; `only` of it limits that. */
export async function certify(plan: CertifyPlan, runner: ClientRunner): Promise<Certification> {
  const runs = new Runs(plan, runner);
  const first = await certifyByRuns(runs);
  const failed = runs.findContradiction()?.failed;
  if (failed?.isShared !== true || runs.isStopped) return first;

  const name = nameOf(failed.purpose);
  runner.say(`${name} failed next to another run, and passed alone. All runs are made again, one at a time.`);
  return certifyOneAtATime(runs, runner);
}

/** Makes all runs again: a run that contradicts another one may have failed because of the run next to it. */
async function certifyOneAtATime(firstRuns: Runs, runner: ClientRunner): Promise<Certification> {
  runner.separateRuns();
  const second = await certifyByRuns(new Runs(firstRuns.plan, runner, firstRuns.ended));
  if (second.kind !== "no_run") return second;
  // A signal came before the second plain run ended: what the first runs have shown is withdrawn.
  return { ...clientNotJudged(firstRuns), isStopped: true };
}

async function certifyByRuns(runs: Runs): Promise<Certification> {
  await runs.makeOnce(plainRunRequest);
  if (runs.isStopped) return { kind: "no_run" };
  const { plain } = runs;
  if (plain.failure !== undefined) return { kind: "not_started", failure: plain.failure };

  const doubt = await findDoubtOfPlainRun(plain, runs);
  if (doubt !== undefined) return clientNotJudged(runs, doubt);

  const groups = await judgeGroups(runs);
  if (anyResultNeedsFailure(groups)) await makeLastPlainRun(runs);

  const contradiction = runs.findContradiction();
  if (contradiction === undefined) return clientAsJudged(runs, groups);
  return clientAfterContradiction(runs, groups, contradiction);
}

async function judgeGroups(runs: Runs): Promise<JudgmentsByGroup> {
  // The varied runs start with the others, and the search for causes after all of them: it is alone then.
  const [, answers, resends, faults] = await Promise.all([
    makeVariedRunsOnce(runs),
    judgeAnswers(runs),
    judgeResends(runs),
    judgeFaults(runs),
  ]);
  return { answers, resends, faults, varied: await judgeVaried(runs) };
}

/** Makes the plain run again, after all others. A command that no longer passes at all contradicts its first run then. */
async function makeLastPlainRun(runs: Runs): Promise<void> {
  if (runs.findContradiction() !== undefined || runs.isStopped) return;
  await runs.makeAnother({ ...plainRunRequest, isAlone: true });
}
