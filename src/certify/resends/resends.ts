import { keyVariable } from "../../rules/api-key.js";
import { isSuccess, outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import { isAnswerWanted, runFirstWrongAnswer } from "../answers.js";
import { nameOf } from "../checks/check.js";
import {
  countingEvidence,
  type Finding,
  failedResult,
  type Held,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  type NotJudged,
  notAllMade,
  nothingJudged,
  notJudged,
  type ResultOfCheck,
  type RunEvidence,
  singleCheck,
} from "../checks/judgment.js";
import { type CertifyPlan, isWanted } from "../checks/plan.js";
import { againCommand } from "../client-runs/again-command.js";
import { type ClientRun, isNoticed, type KeyRequest, type NotMade } from "../client-runs/client-run.js";
import { failuresNeeded, plainRunEvidence } from "../client-runs/failure-evidence.js";
import { passEvidence } from "../client-runs/pass-evidence.js";
import type { Runs } from "../client-runs/runs.js";
import { variedRunsThatHold } from "../varied/varied.js";
import { type LastRejection, minResent, resultOfRejections } from "./last-rejections.js";
import { firstExtraRequest, replacing, type SteadyKey, whatFollowed } from "./replaced-run.js";
import { nameOfKey, type ResendKind, resendKinds, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { weighSuspects } from "./resend-suspects.js";
import { commandThenFailed, onlyInSomeRuns, sentAgainBut, sentByOtherProcess } from "./resend-words.js";
import { findSteadyKey, passesUnnoticed } from "./steady-key.js";

// A resend is a request that must not come: with the same key, after a 401 or 403, or too soon after a 429 or 503. It is found without
// looking into the client: a run rejects the last request with a key that each run sends equally often. A client that does right gives
// up, its test fails, and nothing follows. What follows is one request more than in the plain run.
// 1. Find such a key (steady-key.ts).
// 2. Reject its last request with each kind of rejection, in run after run until they agree: the kind holds, or is a suspect.
// 3. Exclude other reasons for the requests of suspects (resend-suspects.ts). What is left is a problem.

/** In how many runs the next request must come in time before a kind with a time holds: more, if no other such kind would show jitter. */
const minWaitsOfKind = 2;
const minWaitsOfSingleKind = 3;

/** Whether the client sends this key again after this kind of rejection. */
interface Question {
  readonly runs: Runs;
  readonly key: SteadyKey;
  readonly resendKind: ResendKind;
  readonly minWaits: 2 | 3;
}

/** Judges each kind of resend. */
export async function judgeResends(runs: Runs): Promise<Judgment> {
  const kinds = resendKinds(runs.covered).filter(({ check }) => isWanted(runs.plan, check));
  if (kinds.length === 0) return nothingJudged;

  const key = await findSteadyKey(runs);
  if (key.kind === "not_judged") return mergeJudgments(kinds.map(({ check }) => singleCheck(check, key)));

  const timed = kinds.filter(({ isTimed }) => isTimed);
  const lasting = kinds.filter(({ isTimed }) => !isTimed);
  return mergeJudgments(await Promise.all([judgeKinds(runs, key, timed), judgeKinds(runs, key, lasting)]));
}

/** Judges all timed kinds, or all others. Those that fail are one problem. */
async function judgeKinds(runs: Runs, key: SteadyKey, kinds: readonly ResendKind[]): Promise<Judgment> {
  const minWaits = kinds.length === 1 ? minWaitsOfSingleKind : minWaitsOfKind;
  const results = await Promise.all(
    kinds.map((resendKind) => judgeKind({ runs, key, resendKind, minWaits })),
  );
  const suspects = results.filter((result) => result.kind === "suspect");
  const evidence = await weighSuspects(runs, key, suspects);
  const proven = suspects.filter((suspect) => evidence.get(suspect)?.kind === "counts");

  const checks: JudgedCheck[] = [];
  for (const [at, result] of results.entries()) {
    const { check } = kinds[at] as ResendKind; // each kind has a result
    if (result.kind === "suspect") checks.push({ check, result: resultOfSuspect(evidence.get(result)) });
    else checks.push({ check, result });
  }
  const problems = proven.length === 0 ? [] : [resendProblem(proven, key, runs.plan)];
  return { checks, problems, notes: [] };
}

function resultOfSuspect(evidence: RunEvidence | undefined): ResultOfCheck {
  return evidence?.kind === "not_judged" ? evidence : failedResult;
}

/** Rejects the last request in run after run, until they show something together. */
async function judgeKind(question: Question): Promise<Held | NotJudged | Suspect> {
  const { runs, key, resendKind, minWaits } = question;
  const rejections: LastRejection[] = [];
  for (;;) {
    const rejection = await rejectLastRequest(question);
    if (rejection.kind === "not_judged") return rejection;
    if (rejection.kind === "not_made") {
      const needed = resendKind.isTimed ? minWaits : minResent;
      return notJudged(notAllMade(rejections.length, Math.max(needed, rejections.length + 1)));
    }
    rejections.push(rejection);

    switch (resultOfRejections(rejections, minWaits, failuresNeeded(runs.plan))) {
      case "one_more_run":
        break;
      case "held":
        return confirmHeld(question, rejections);
      case "sometimes":
        return notJudged(sentAgainBut(key, resendKind, requestsOf(rejections), onlyInSomeRuns));
      case "resent": {
        const resent = rejections.filter(({ kind }) => kind === "resent");
        return { kind: "suspect", resendKind, requests: requestsOf(resent) };
      }
    }
  }
}

function requestsOf(rejections: readonly LastRejection[]): KeyRequest[] {
  const requests: KeyRequest[] = [];
  for (const rejection of rejections) {
    if (rejection.kind !== "gave_up") requests.push(rejection.request);
  }
  return requests;
}

/** Rejects the last request with the key, in a run of its own. */
async function rejectLastRequest(question: Question): Promise<LastRejection | NotMade | NotJudged> {
  const { runs, key, resendKind } = question;
  const { check, rejection, isTimed, responseWords } = resendKind;
  const wait = waitAfterRejection(resendKind);
  const run = await runs.another(replacing(key, key.acceptedInPlain, rejection, check, wait));

  const followed = whatFollowed(run, key);
  if (followed.kind === "not_made" || followed.kind === "not_judged") return followed;
  if (followed.kind === "nothing") {
    if (isNoticed(followed.run)) return { kind: "gave_up" };
    const evidence = passEvidence(runs.plain, followed.run, "replaced");
    if (evidence.kind === "not_judged") return evidence;
    return notJudged(passesUnnoticed(key, responseWords));
  }

  const { next, early } = followed;
  // A test that failed may send the key again, to find out why.
  if (followed.run.result === "failed") {
    return notJudged(sentAgainBut(key, resendKind, [next], commandThenFailed));
  }
  if (!isTimed) return { kind: "resent", request: next };
  if (next.isElsewhere) return notJudged(sentByOtherProcess);
  if (early !== undefined) return { kind: "resent", request: early };
  return { kind: "in_time", request: next };
}

/** A kind holds only if the failures of its runs count, and no other run shows a resend. */
async function confirmHeld(
  question: Question,
  rejections: readonly LastRejection[],
): Promise<Held | NotJudged> {
  const { runs, key, resendKind } = question;
  if (rejections.some(({ kind }) => kind === "gave_up")) {
    const evidence = await plainRunEvidence(runs);
    if (evidence.kind === "not_judged") return evidence;
  }

  if (!resendKind.isTimed) {
    const evidence = await evidenceOfOtherRuns(runs, key, resendKind);
    if (evidence.kind === "not_judged") return evidence;
  }
  return { kind: "held", key: key.ref };
}

/** Whether the runs that were made for other checks contradict that the client gives up after a 401 or 403. */
async function evidenceOfOtherRuns(runs: Runs, key: SteadyKey, resendKind: ResendKind): Promise<RunEvidence> {
  const variedEvidence = await evidenceOfVariedRuns(runs, resendKind);
  if (variedEvidence.kind === "not_judged") return variedEvidence;
  if (outcomeRow(resendKind.check.outcome).status !== 401) return countingEvidence;
  return evidenceOfWrongAnswers(runs, key, resendKind);
}

/** A varied run that passed contradicts it if more requests got this rejection there than in the plain run. */
async function evidenceOfVariedRuns(runs: Runs, resendKind: ResendKind): Promise<RunEvidence> {
  const variedRuns = await variedRunsThatHold(runs);
  const countInPlain = countRejected(runs.plain, resendKind);
  const run = variedRuns.find((variedRun) => countRejected(variedRun, resendKind) > countInPlain);
  if (run === undefined) return countingEvidence;
  const { responseWords, whatToDo } = resendKind;
  const why = `more requests got ${responseWords} in ${nameOf(run.purpose)} than in the plain run`;
  return notJudged({ why, whatToDo });
}

/** How many requests of a run got the status and code of this rejection. */
function countRejected({ sent }: ClientRun, { check }: ResendKind): number {
  const { status, code } = outcomeRow(check.outcome);
  let count = 0;
  for (const { requests } of sent) {
    for (const request of requests) {
      const outcome = outcomeRow(request.outcome);
      if (outcome.status === status && outcome.code === code) count += 1;
    }
  }
  return count;
}

/**
 * A run for a wrong answer contradicts it if it passed although the first request with the key got a 401 in place of its 200, and the key
 * came again. A first test that polls looks the same.
 */
async function evidenceOfWrongAnswers(
  runs: Runs,
  key: SteadyKey,
  { whatToDo }: ResendKind,
): Promise<RunEvidence> {
  for (const outcome of runs.covered) {
    if (!isSuccess(outcome) || !isAnswerWanted(runs.plan, outcome)) continue;
    const run = await runFirstWrongAnswer(runs, outcome);
    if (run.kind === "not_made" || run.result !== "passed") continue;
    const next = firstExtraRequest(run, key);
    if (next === undefined) continue;
    return notJudged({
      why: `in ${nameOf(run.purpose)}, ${keyVariable(key.ref)} was sent again after a 401 (${next.id}), and the command passed`,
      whatToDo: `${whatToDo} If a test waits until the key works, send the key in another test before it.`,
    });
  }
  return countingEvidence;
}

/** The one problem of these kinds, which are all timed or all not. */
function resendProblem(suspects: readonly Suspect[], { ref }: SteadyKey, plan: CertifyPlan): Finding {
  const names: string[] = [];
  const times: string[] = [];
  // Kinds often have the same one: ids do not depend on what was rejected.
  const ids = new Set<string>();
  const fixes = new Set<string>();
  for (const { resendKind, requests } of suspects) {
    const [first] = requests as [KeyRequest, KeyRequest];
    const after = `after ${resendKind.responseWords}`;
    names.push(nameOf(resendKind.check));
    times.push(resendKind.isTimed ? `${first.earlyMs} ms ${after}` : after);
    ids.add(first.id);
    fixes.add(resendKind.whatToDo);
  }

  const isTimed = suspects[0]?.resendKind.isTimed === true;
  if (isTimed) fixes.add(moveSandboxClock);
  fixes.add(turnOffTestRetries);
  const requestWord = ids.size === 1 ? "request" : "requests";
  const sentence = `Sends ${nameOfKey(ref)} again ${listed(times, "and")} (${requestWord} ${listed([...ids], "and")})`;
  const only: string[] = [];
  for (const name of names) only.push("--only", name);
  return {
    name: names[0] as string,
    sentence: (isTimed ? sentence : `${sentence}, and not after a 404`) + bySomebody,
    whatToDo: [...fixes].join(" "),
    again: againCommand(plan, "certify", ...only),
    runs: names,
  };
}

/** Nothing that runs show tells the two apart. */
const bySomebody = ": by the client, or by its runner's retry of a failed test";

const turnOffTestRetries =
  "If it is not your client that sends it, but each test (polling) or their runner (a retry of failed tests), turn that off.";

const moveSandboxClock = "(If your tests replace the pause, move the sandbox's clock by it.)";
