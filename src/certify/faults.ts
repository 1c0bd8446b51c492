import { exampleOfFault } from "../api/example-faults.js";
import { type FaultOutcomeId, faultKindRow, whatToDoAfter } from "../rules/fault-effects.js";
import { faultOutcomeIds, isFault, isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import { listed } from "../schema/words.js";
import { makeFirstWrongAnswerOnce } from "./answers.js";
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
  runNotMade,
  runTooLate,
  singleCheck,
} from "./checks/judgment.js";
import { type CertifyPlan, isWanted } from "./checks/plan.js";
import { againCommand } from "./client-runs/again-command.js";
import { type ClientRun, hasFailed, isNoticed, type RunEnd } from "./client-runs/client-run.js";
import { failureEvidence, repeatFailures } from "./client-runs/failure-evidence.js";
import { lastLineOf } from "./client-runs/last-line.js";
import { passEvidence } from "./client-runs/pass-evidence.js";
import type { Runs } from "./client-runs/runs.js";
import { longestWait } from "./client-runs/timeouts.js";
import { awaitHeldVariedRuns } from "./varied/varied.js";

/** The faults that break most clients; `--faults` tries the others as well. */
const defaultFaults: readonly FaultOutcomeId[] = [
  "fault.hang",
  "fault.status",
  "fault.truncate",
  "fault.malformed",
];

/** The requests of which the first one is hit: they end on one success, may be sent again, and have a body in their response. */
interface FaultTarget {
  readonly kind: "target";
  readonly outcome: OutcomeId;
  readonly use: ResponseUse;
}

/**
 * Whether a test uses the response, since the command fails with the wrong one; else a client survives anything. `mostRequests`: how many
 * requests end on the outcome in a run without a fault, at most. One more is a repetition after the fault.
 */
type ResponseUse = { readonly kind: "used"; readonly mostRequests: number } | NotJudged;

/** A fault that the client did not survive. */
interface NotSurvived {
  readonly kind: "not_survived";
  readonly fault: FaultOutcomeId;
  readonly run: ClientRun;
}

/** Hits one request with each kind of fault, in a run of its own, which the client must survive. */
export async function judgeFaults(runs: Runs): Promise<Judgment> {
  const wanted = wantedFaults(runs.plan);
  if (wanted.length === 0) return nothingJudged;
  const target = await findFaultTarget(runs);
  if (target.kind === "not_judged") {
    return mergeJudgments(wanted.map((outcome) => singleCheck({ kind: "fault", outcome }, target)));
  }

  const results = await Promise.all(wanted.map((fault) => tryFault(runs, target, fault)));
  const notSurvived = results.filter((result) => result.kind === "not_survived");
  const repeated = await repeatFailures(
    runs,
    notSurvived.map(({ run }) => run),
  );

  const checks: JudgedCheck[] = [];
  for (const [at, result] of results.entries()) {
    const check = { kind: "fault", outcome: wanted[at] as FaultOutcomeId } as const; // each fault has a result
    if (result.kind !== "not_survived") checks.push({ check, result });
    else if (repeated.kind === "not_judged") checks.push({ check, result: repeated });
    else checks.push({ check, result: failedResult });
  }
  const problems = repeated.kind === "not_judged" ? [] : groupIntoProblems(notSurvived, target, runs);
  return { checks, problems, notes: [] };
}

/** The faults that the plan asks for. */
function wantedFaults(plan: Pick<CertifyPlan, "only" | "hasAllFaults">): FaultOutcomeId[] {
  return faultOutcomeIds.filter((outcome) => {
    if (!isWanted(plan, { kind: "fault", outcome })) return false;
    return plan.hasAllFaults || plan.only?.includes(outcome) || defaultFaults.includes(outcome);
  });
}

/** Hits the first request of the target with this fault. */
async function tryFault(
  runs: Runs,
  target: FaultTarget,
  fault: FaultOutcomeId,
): Promise<ResultOfCheck | NotSurvived> {
  const which = { kind: "first", outcome: target.outcome } as const;
  const gets = { kind: "fault", effect: exampleOfFault(fault, "html") } as const;
  const purpose = { kind: "fault", outcome: fault } as const;
  const run = await runs.makeOnce({
    purpose,
    conditions: { onRequest: { which, gets } },
    clientMayWaitMs: longestWait,
  });

  if (run.kind === "not_made") return notJudged(runNotMade);
  if (hasFailed(run) && run.replacedCount > 0) {
    if (runs.plan.allow.includes(fault)) return { kind: "allowed" };
    if (isAfterOwnFailure(run)) return notJudged(followsOwnFailure);
    return { kind: "not_survived", fault, run };
  }

  const evidence = passEvidence(runs.plain, run, "replaced");
  if (evidence.kind === "not_judged") return evidence;
  if (target.use.kind === "not_judged") return target.use;

  // If no request follows the one that was hit, the client may have given up; a delayed response still comes.
  const isLast = run.sent.some(({ requests }) => requests.at(-1)?.isReplaced);
  if (isLast && !faultKindRow(fault).onlyDelays) return notJudged(nothingFollowed);
  return heldResult;
}

/** Finds requests whose response a test uses, or else any that a fault may hit. */
async function findFaultTarget(runs: Runs): Promise<FaultTarget | NotJudged> {
  const outcomes = outcomesToHit(runs.plain, await awaitHeldVariedRuns(runs));
  const [firstOutcome] = outcomes;
  if (firstOutcome === undefined) return notJudged(noRequest);

  const reasons: Reason[] = [];
  for (const outcome of outcomes) {
    const use = await findResponseUse(runs, outcome);
    if (use.kind === "used") return { kind: "target", outcome, use };
    reasons.push(use.reason);
  }

  // The first reason is told that says more than that no test uses the response.
  const reason = reasons.find((candidate) => candidate !== responseNotUsed) ?? responseNotUsed;
  return { kind: "target", outcome: firstOutcome, use: notJudged(reason) };
}

/** Whether a test uses the response: the command fails if the first request with this outcome gets a 401. */
async function findResponseUse(runs: Runs, outcome: OutcomeId): Promise<ResponseUse> {
  const run = await makeFirstWrongAnswerOnce(runs, outcome);
  if (run.kind === "not_made") return notJudged(runNotMade);
  if (run.result === "timed_out") return notJudged(runTooLate);

  const countInPlain = countRequests(runs.plain, outcome);
  const count = countRequests(run, outcome);
  if (isNoticed(run)) {
    const evidence = await failureEvidence(runs, run);
    if (evidence.kind === "not_judged") return evidence;
    return { kind: "used", mostRequests: Math.max(countInPlain, count) };
  }

  if (run.result === "passed" && count > countInPlain) return notJudged(sentAgainAfter401);
  const evidence = passEvidence(runs.plain, run, "replaced");
  return evidence.kind === "not_judged" ? evidence : notJudged(responseNotUsed);
}

/** The successes of requests that a fault may hit: first those that come equally often in each run. */
function outcomesToHit(plain: ClientRun, variedRuns: readonly ClientRun[]): OutcomeId[] {
  const steady = new Set<OutcomeId>();
  const unsteady = new Set<OutcomeId>();
  for (const { requests } of plain.sent) {
    for (const { outcome, canFail } of requests) {
      if (!canFail || !isSuccess(outcome)) continue;
      const countInPlain = countRequests(plain, outcome);
      const isSteady = variedRuns.every((run) => countRequests(run, outcome) === countInPlain);
      if (isSteady) steady.add(outcome);
      else unsteady.add(outcome);
    }
  }
  return [...steady, ...unsteady];
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
function groupIntoProblems(notSurvived: readonly NotSurvived[], target: FaultTarget, runs: Runs): Finding[] {
  const late = notSurvived.filter(({ run }) => run.result === "timed_out");
  const failed = notSurvived.filter(({ run }) => run.result !== "timed_out");

  const problems: Finding[] = [];
  if (failed.length > 0) problems.push(faultProblem(failed, target, runs));
  for (const single of late) problems.push(faultProblem([single], target, runs));
  return problems;
}

function faultProblem(
  notSurvived: readonly NotSurvived[],
  { outcome, use }: FaultTarget,
  { plan }: Runs,
): Finding {
  const [first] = notSurvived as [NotSurvived, ...NotSurvived[]];
  const names = notSurvived.map(({ fault }) => fault);
  const only: string[] = [];
  for (const name of names) only.push("--only", name);

  // The client did well, and sent the request again, if more came than without a fault: a test that counts requests failed.
  const isLate = first.run.result === "timed_out";
  const isSentAgain =
    !isLate &&
    use.kind === "used" &&
    notSurvived.every(({ run }) => countRequests(run, outcome) > use.mostRequests);
  return {
    name: first.fault,
    ...(isSentAgain ? wordsIfSentAgain(names) : wordsIfNotSurvived(names, isLate)),
    again: againCommand(plan, "certify", ...only),
    ...lastLineOf(first.run),
    runs: names,
  };
}

type FaultWords = Pick<Finding, "sentence" | "whatToDo">;

function wordsIfSentAgain(names: readonly FaultOutcomeId[]): FaultWords {
  const gets = names.map((name) => faultKindRow(name).theClientGets);
  return {
    sentence: `Sends the request again after ${listed(gets, "or")}, and the command then fails`,
    whatToDo:
      "If a test counts requests, leave out those that repeat others after faults: `faults: false`, or `faults=false` of GET /expect.",
  };
}

/** The words of faults that the client does not survive. One has its own fix, several have a common one. */
function wordsIfNotSurvived(names: readonly FaultOutcomeId[], isLate: boolean): FaultWords {
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
    const gets = names.map((fault) => faultKindRow(fault).theClientGets);
    return { sentence: `Fails at the first failure: ${gets.join(", ")}`, whatToDo };
  }
  const fails = isLate ? "Does not end in time" : "Fails";
  let sentence = `${fails} when the first request with a key that works ${faultKindRow(name).theRequest}`;
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
  why: "the command passed, and no request with its key followed the one that was hit",
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
