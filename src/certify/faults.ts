import { exampleOfFault } from "../api/example-faults.js";
import { type FaultOutcomeId, faultKindRow } from "../rules/fault-effects.js";
import { faultOutcomeIds, isFault, isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
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
import { type ClientRun, hasFailed, isNoticed, type NotMade, type RunEnd } from "./client-runs/client-run.js";
import { failureEvidence, repeatFailures } from "./client-runs/failure-evidence.js";
import { lastLineOf } from "./client-runs/last-line.js";
import { passEvidence } from "./client-runs/pass-evidence.js";
import type { Runs } from "./client-runs/runs.js";
import { longestWait } from "./client-runs/timeouts.js";
import {
  followsOwnFailure,
  noRequest,
  nothingFollowed,
  responseNotUsed,
  sentAgainAfter401,
  wordsIfNotSurvived,
  wordsIfSentAgain,
} from "./fault-words.js";
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

/** Whether a test uses the response: the command fails with a wrong one. If no test does, a client that survives a fault shows nothing. */
type ResponseUse = UsedResponse | NotJudged;

interface UsedResponse {
  readonly kind: "used";
  /** How many requests end on the outcome without a fault, at most. If more do so after a fault, the client has sent the request again. */
  readonly mostRequests: number;
}

/** A fault whose run decides the result of its check. */
interface Decided {
  readonly kind: "decided";
  readonly fault: FaultOutcomeId;
  readonly result: ResultOfCheck;
}

/** A fault that the client did not survive: a problem, if the failure comes again. */
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

  const triedFaults = await Promise.all(wanted.map((fault) => tryFault(runs, target, fault)));
  const notSurvived = triedFaults.filter((one) => one.kind === "not_survived");
  const repeated = await repeatFailures(
    runs,
    notSurvived.map(({ run }) => run),
  );

  const resultOfNotSurvived = repeated.kind === "not_judged" ? repeated : failedResult;
  const checks: JudgedCheck[] = [];
  for (const one of triedFaults) {
    const check = { kind: "fault", outcome: one.fault } as const;
    checks.push({ check, result: one.kind === "not_survived" ? resultOfNotSurvived : one.result });
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
): Promise<Decided | NotSurvived> {
  const run = await makeRunOfFault(runs, target, fault);
  if (run.kind === "not_made") return { kind: "decided", fault, result: notJudged(runNotMade) };

  const isBroken = hasFailed(run) && run.replacedCount > 0;
  if (!isBroken) return { kind: "decided", fault, result: resultOfSurviving(runs, target, fault, run) };
  if (runs.plan.allow.includes(fault)) return { kind: "decided", fault, result: { kind: "allowed" } };
  if (isAfterOwnFailure(run)) return { kind: "decided", fault, result: notJudged(followsOwnFailure) };
  return { kind: "not_survived", fault, run };
}

function makeRunOfFault(
  runs: Runs,
  target: FaultTarget,
  fault: FaultOutcomeId,
): Promise<ClientRun | NotMade> {
  const which = { kind: "first", outcome: target.outcome } as const;
  const gets = { kind: "fault", effect: exampleOfFault(fault, { asPage: true }) } as const;
  return runs.makeOnce({
    purpose: { kind: "fault", outcome: fault },
    conditions: { onRequest: { which, gets } },
    clientMayWaitMs: longestWait,
  });
}

/** Whether a run that the fault did not break shows that the client survives it. */
function resultOfSurviving(
  runs: Runs,
  target: FaultTarget,
  fault: FaultOutcomeId,
  run: ClientRun,
): ResultOfCheck {
  const evidence = passEvidence(runs.plain, run, "replaced");
  if (evidence.kind === "not_judged") return evidence;
  if (target.use.kind === "not_judged") return target.use;

  // If no request with its key follows the one that was hit, the client may have given up; a delayed response still comes.
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
