import { exampleOfFault } from "../api/example-faults.js";
import { type FaultOutcomeId, faultKindRow, whatToDoAfter } from "../rules/fault-effects.js";
import { faultOutcomes, isFault, isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import { listed } from "../schema/words.js";
import { isNoticed, runFirstWrongAnswer } from "./answers.js";
import {
  type Finding,
  failedResult,
  heldResult,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  type NotJudged,
  nothingJudged,
  notJudged,
  type Reason,
  type ResultOfCheck,
  type RunEvidence,
  runNotMade,
  runTooLate,
  singleCheck,
} from "./checks/judgment.js";
import { type CertifyPlan, isWanted } from "./checks/plan.js";
import { againCommand } from "./client-runs/again-command.js";
import { type ClientRun, hasFailed, type NotMade, type RunEnd } from "./client-runs/client-run.js";
import { lastLineOf } from "./client-runs/last-line.js";
import { passEvidence } from "./client-runs/pass-evidence.js";
import type { Runs } from "./client-runs/runs.js";
import { longestWait } from "./client-runs/timeouts.js";
import { runVaried } from "./varied/varied.js";

/** The faults that break most clients; `--faults` tries the others as well. */
const defaultFaults: readonly FaultOutcomeId[] = [
  "fault.hang",
  "fault.status",
  "fault.truncate",
  "fault.malformed",
];

/** The requests of which the first one is hit: they end on one success, may be sent again, and have a body in their response. */
interface HitRequests {
  readonly kind: "target";
  readonly outcome: OutcomeId;
  /** Whether surviving shows something: a test uses the response, since the command fails with the wrong one. */
  readonly useEvidence: RunEvidence;
  /** The most requests that end there in a run without a fault, also in one that fails. One more is a repetition after the fault. */
  readonly mostRequests: number;
}

/** What one fault showed. */
interface FaultRun {
  readonly fault: FaultOutcomeId;
  readonly run: ClientRun | NotMade;
}

/** A fault that the client did not survive. */
interface Failure extends FaultRun {
  readonly run: ClientRun;
}

/** Hits one request with each kind of fault, in a run of its own, which the client must survive. */
export async function judgeFaults(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const wanted = wantedFaults(plan);
  if (wanted.length === 0) return nothingJudged;
  const target = await findFaultTarget(runs);
  if (target.kind === "not_judged") {
    return mergeJudgments(wanted.map((outcome) => singleCheck({ kind: "fault", outcome }, target)));
  }

  const faultRuns = await Promise.all(wanted.map((fault) => hitFirst(runs, target, fault)));
  const failures: Failure[] = [];
  for (const { fault, run } of faultRuns) {
    if (!hasFailed(run) || run.replacedCount === 0) continue;
    if (!isAfterOwnFailure(run) && !plan.allow.includes(fault)) failures.push({ fault, run });
  }
  const repeated = await runs.repeat(failures.map(({ run }) => run));
  const resultOfFailure = repeated.kind === "not_judged" ? repeated : failedResult;

  const checks: JudgedCheck[] = [];
  for (const { fault, run } of faultRuns) {
    const isFailure = failures.some((failure) => failure.fault === fault);
    const result = isFailure ? resultOfFailure : resultWithoutProblem(fault, run, target, runs);
    checks.push({ check: { kind: "fault", outcome: fault }, result });
  }
  const problems = repeated.kind === "not_judged" ? [] : groupIntoProblems(failures, target, runs);
  return { checks, problems, notes: [] };
}

async function hitFirst(runs: Runs, { outcome }: HitRequests, fault: FaultOutcomeId): Promise<FaultRun> {
  const which = { kind: "first", outcome } as const;
  const gets = { kind: "fault", effect: exampleOfFault(fault, "html") } as const;
  const purpose = { kind: "fault", outcome: fault } as const;
  const run = await runs.first({ purpose, conditions: { onRequest: { which, gets } }, wait: longestWait });
  return { fault, run };
}

/** The faults that the plan asks for. */
function wantedFaults(plan: Pick<CertifyPlan, "only" | "hasAllFaults">): FaultOutcomeId[] {
  return faultOutcomes.filter((outcome) => {
    if (!isWanted(plan, { kind: "fault", outcome })) return false;
    return plan.hasAllFaults || plan.only?.includes(outcome) || defaultFaults.includes(outcome);
  });
}

/** Finds requests whose response a test uses, or else any that a fault may hit. */
async function findFaultTarget(runs: Runs): Promise<HitRequests | NotJudged> {
  const { plain } = runs;
  const { passed } = await runVaried(runs);
  const outcomes = outcomesToHit(plain, passed);
  const [firstOutcome] = outcomes;
  if (firstOutcome === undefined) return notJudged(noRequest);

  // Of the reasons of several outcomes, the first one is told that says more than that nothing uses the response.
  let whyUnused = responseNotUsed;
  for (const outcome of outcomes) {
    const wrong = await runFirstWrongAnswer(runs, outcome);
    const useEvidence = await evidenceOfUse(runs, outcome, wrong);
    if (wrong.kind === "ended" && useEvidence.kind === "counts") {
      const mostRequests = Math.max(countRequests(plain, outcome), countRequests(wrong, outcome));
      return { kind: "target", outcome, useEvidence, mostRequests };
    }
    if (useEvidence.kind === "not_judged" && whyUnused === responseNotUsed) whyUnused = useEvidence.reason;
  }
  const useEvidence = notJudged(whyUnused);
  return { kind: "target", outcome: firstOutcome, useEvidence, mostRequests: Number.POSITIVE_INFINITY };
}

/** A test uses the response if the command fails with the wrong one. */
async function evidenceOfUse(
  runs: Runs,
  outcome: OutcomeId,
  wrong: ClientRun | NotMade,
): Promise<RunEvidence> {
  if (wrong.kind === "not_made") return notJudged(runNotMade);
  if (wrong.result === "timed_out") return notJudged(runTooLate);
  if (isNoticed(wrong)) return runs.failureEvidence(wrong);

  const isSentAgain = countRequests(wrong, outcome) > countRequests(runs.plain, outcome);
  if (wrong.result === "passed" && isSentAgain) return notJudged(sentAgainAfter401);
  const evidence = passEvidence(runs.plain, wrong, "replaced");
  return evidence.kind === "not_judged" ? evidence : notJudged(responseNotUsed);
}

/** The successes of requests that a fault may hit: first those that come equally often in each run. */
function outcomesToHit(plain: ClientRun, passed: readonly ClientRun[]): OutcomeId[] {
  const steady = new Set<OutcomeId>();
  const others = new Set<OutcomeId>();
  for (const { requests } of plain.sent) {
    for (const { outcome, canFail } of requests) {
      if (!canFail || !isSuccess(outcome)) continue;
      const inPlain = countRequests(plain, outcome);
      const isSteady = passed.every((run) => countRequests(run, outcome) === inPlain);
      if (isSteady) steady.add(outcome);
      else others.add(outcome);
    }
  }
  return [...steady, ...others];
}

/** The number of a run's requests with this outcome. */
function countRequests({ sent }: Pick<RunEnd, "sent">, outcome: OutcomeId): number {
  let count = 0;
  for (const { requests } of sent) {
    for (const request of requests) {
      if (request.outcome === outcome) count += 1;
    }
  }
  return count;
}

/** What a run shows that is no failure to report: it passed, or its failure is allowed or has another reason. */
function resultWithoutProblem(
  fault: FaultOutcomeId,
  run: ClientRun | NotMade,
  { useEvidence }: HitRequests,
  runs: Runs,
): ResultOfCheck {
  if (run.kind === "not_made") return notJudged(runNotMade);
  if (hasFailed(run) && run.replacedCount > 0) {
    if (runs.plan.allow.includes(fault)) return { kind: "allowed" };
    return notJudged(followsOwnFailure);
  }

  const evidence = passEvidence(runs.plain, run, "replaced");
  if (evidence.kind === "not_judged") return evidence;
  if (useEvidence.kind === "not_judged") return useEvidence;

  // If no request follows the one that was hit, the client may have given up; a delayed response still comes.
  const isLast = run.sent.some(({ requests }) => requests.at(-1)?.isReplaced);
  if (isLast && !faultKindRow(fault).onlyDelays) return notJudged(nothingFollowed);
  return heldResult;
}

/** Whether a fault or a limit of the client's own tests came right before the request that was hit: a client may give up then. */
function isAfterOwnFailure({ sent }: ClientRun): boolean {
  for (const { requests } of sent) {
    const index = requests.findIndex(({ isReplaced }) => isReplaced);
    const before = requests[index - 1];
    if (before === undefined) continue;
    if (isFault(before.outcome) || outcomeRow(before.outcome).status === 429) return true;
  }
  return false;
}

/** Makes one problem of the runs that failed, since one flaw breaks them. Each that did not end is another one: a client without a timeout. */
function groupIntoProblems(failures: readonly Failure[], target: HitRequests, runs: Runs): Finding[] {
  const late = failures.filter(({ run }) => run.result === "timed_out");
  const others = failures.filter(({ run }) => run.result !== "timed_out");

  const problems: Finding[] = [];
  if (others.length > 0) problems.push(faultProblem(others, target, runs));
  for (const failure of late) problems.push(faultProblem([failure], target, runs));
  return problems;
}

function faultProblem(failures: readonly Failure[], target: HitRequests, { plan }: Runs): Finding {
  const [first] = failures as [Failure, ...Failure[]];
  const names = failures.map(({ fault }) => fault);
  const only: string[] = [];
  for (const name of names) only.push("--only", name);

  // The client did well, and sent the request again, if more came than without a fault: a test that counts requests failed.
  const isSentAgain = failures.every(({ run }) => {
    return run.result === "failed" && countRequests(run, target.outcome) > target.mostRequests;
  });
  const isLate = first.run.result === "timed_out";
  return {
    name: first.fault,
    ...(isSentAgain ? wordsIfSentAgain(names) : wordsIfNotSurvived(names, isLate)),
    again: againCommand(plan, "certify", ...only),
    ...lastLineOf(first.run),
    runs: names,
  };
}

function wordsIfSentAgain(names: readonly FaultOutcomeId[]) {
  const gets = names.map((name) => faultKindRow(name).gets);
  return {
    sentence: `Sends the request again after ${listed(gets, "or")}, and the command then fails`,
    whatToDo:
      "If a test counts requests, leave out those that repeat others after faults: `faults: false`, or `faults=false` of GET /expect.",
  };
}

/** The words of faults that the client does not survive. One has its own fix, several have a common one. */
function wordsIfNotSurvived(names: readonly FaultOutcomeId[], isLate: boolean) {
  const [name] = names as [FaultOutcomeId, ...FaultOutcomeId[]];
  const hasPage = names.includes("fault.status");
  const isOne = names.length === 1;

  const fixes = [isOne ? whatToDoAfter(name, { isIdempotent: true }) : sendAgain];
  if (hasPage) fixes.push("Read the status before the body: the error page of a gateway is HTML.");
  if (isLate) {
    fixes.push("If your client has a longer timeout, raise --timeout, for example to 60s.");
  }
  const allowed = names.map((fault) => `--allow ${fault}`);
  fixes.push(`If your client fails on purpose, add ${listed(allowed, "and")}.`);
  const whatToDo = fixes.join(" ");

  if (!isOne) {
    const gets = names.map((fault) => faultKindRow(fault).gets);
    return { sentence: `Fails at the first failure: ${gets.join(", ")}`, whatToDo };
  }
  const fails = isLate ? "Does not end in time" : "Fails";
  let sentence = `${fails} when the first request with a key that works ${faultKindRow(name).happens}`;
  if (hasPage) sentence += " with an HTML page";
  return { sentence, whatToDo };
}

const sendAgain =
  "After a failure, send the request again if it may be sent twice: with growing pauses, and a few times at most.";

const followsOwnFailure: Reason = {
  why: "the command fails, and the request that was hit follows a failure of your own tests",
  whatToDo: "Send a key that works in a test without a fault or a limit.",
};

const nothingFollowed: Reason = {
  why: "the command passed, and no request followed the one that was hit",
  whatToDo: "Make a test fail when the response of a key that works does not come.",
};

const responseNotUsed: Reason = {
  why: "the command passes when the first request with a key that works gets a 401",
  whatToDo: "Use the response of each key that works in a test.",
};

const sentAgainAfter401: Reason = {
  why: "the command passes when the first request with a key that works gets a 401, and sends it again",
  whatToDo:
    "Your client must stop at the first 401. If your tests ask again, turn that off: polling, or what repeats failing tests, such as `--retry` of vitest, `jest.retryTimes` or `--reruns` of pytest.",
};

const noRequest: Reason = {
  why: "the plain run sent no request with a key that works which may be sent again, and whose response has a body",
  whatToDo: "Send a GET with a key that works.",
};
