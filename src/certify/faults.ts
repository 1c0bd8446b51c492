import { exampleOfFault } from "../api/fault-responses.js";
import { type FaultOutcomeId, faultKindRow, whatToDoAfter } from "../rules/fault-effects.js";
import { faultOutcomes, isFault, isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import { listed } from "../schema/words.js";
import { isNoticed, runFirstWrongAnswer } from "./answers.js";
import { type ClientRun, hasFailed, type RunEnd } from "./client-run.js";
import {
  type Finding,
  failedResult,
  heldResult,
  type Judgment,
  mergeJudgments,
  notJudged,
  type Reason,
  type ResultOfCheck,
  runNotMade,
  singleCheck,
} from "./judgment.js";
import { lastLineOf } from "./last-line.js";
import { whyRunShowsNothing } from "./not-judged.js";
import { againCommand, type CertifyPlan, isWanted, longestWait } from "./plan.js";
import type { Runs } from "./runs.js";
import { runVaried } from "./varied.js";

/** The faults that break most clients; `--faults` tries the others as well. */
const defaultFaults: readonly FaultOutcomeId[] = [
  "fault.hang",
  "fault.status",
  "fault.truncate",
  "fault.malformed",
];

/** The requests of which the first one is hit: they end on one success, may be sent again, and have a body in their response. */
interface FaultTarget {
  readonly outcome: OutcomeId;
  /** Why surviving shows nothing: no test uses the response, since the command also passes with the wrong one. `undefined` if a test uses it. */
  readonly whyUnused?: Reason | undefined;
  /** The most requests that end there in a run without a fault, also in one that fails. One more is a repetition after the fault. */
  readonly mostRequests: number;
}

/** Hits one request with each kind of fault, in a run of its own, which the client must survive. */
export async function judgeFaults(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const wanted = wantedFaults(plan);
  if (wanted.length === 0) return mergeJudgments([]);
  const target = await findFaultTarget(runs);
  if (target === undefined)
    return mergeJudgments(wanted.map((fault) => singleCheck(fault, notJudged(noRequest))));

  const runsWithFault = await Promise.all(
    wanted.map((fault) => {
      const which = { kind: "first", outcome: target.outcome } as const;
      const gets = { kind: "fault", effect: exampleOfFault(fault, true) } as const;
      return runs.make(fault, { onRequest: { which, gets } }, { wait: longestWait });
    }),
  );

  // A failure counts if the fault was hit, and nothing else explains it.
  const failures: ClientRun[] = [];
  for (const run of runsWithFault) {
    if (!hasFailed(run) || run.replacedCount === 0) continue;
    if (!isAfterOwnFailure(run) && !plan.allow.includes(run.name)) failures.push(run);
  }
  const repeated = await runs.repeat(failures);
  const isMade = repeated !== "not_made";

  const checks = wanted.map((fault, index) => {
    const run = runsWithFault[index];
    if (run === undefined || !failures.includes(run))
      return singleCheck(fault, resultWithoutProblem(fault, run, target, runs));
    return singleCheck(fault, isMade ? failedResult : notJudged(runNotMade));
  });
  if (!isMade) return mergeJudgments(checks);
  return mergeJudgments([...checks, { problems: groupIntoProblems(failures, target, runs) }]);
}

/** The faults that the plan asks for. */
function wantedFaults(plan: Pick<CertifyPlan, "only" | "hasAllFaults">): FaultOutcomeId[] {
  return faultOutcomes.filter((fault) => {
    if (!isWanted(plan, fault)) return false;
    return plan.hasAllFaults || plan.only?.includes(fault) || defaultFaults.includes(fault);
  });
}

/** Finds requests whose response a test uses, or else any that a fault may hit; `undefined` if there are none. */
async function findFaultTarget(runs: Runs): Promise<FaultTarget | undefined> {
  const { plain } = runs;
  const { passed } = await runVaried(runs);
  const outcomes = outcomesToHit(plain, passed);

  // A test uses the response if the command fails with the wrong one.
  let whyUnused = responseNotUsed;
  for (const outcome of outcomes) {
    const wrong = await runFirstWrongAnswer(runs, outcome);
    if (wrong === undefined) continue;

    const inPlain = countRequests(plain, outcome);
    const inWrong = countRequests(wrong, outcome);
    if (isNoticed(wrong)) {
      const chance = await runs.whyFailureMayBeChance(wrong);
      if (chance === undefined) return { outcome, mostRequests: Math.max(inPlain, inWrong) };
    } else if (wrong.result === "passed" && inWrong > inPlain) {
      whyUnused = sentAgainAfter401;
    }
  }

  const [outcome] = outcomes;
  if (outcome === undefined) return undefined;
  return { outcome, whyUnused, mostRequests: Number.POSITIVE_INFINITY };
}

/** The successes of requests that a fault may hit: first those that come equally often in each run. */
function outcomesToHit(plain: ClientRun, passed: readonly ClientRun[]): OutcomeId[] {
  const steady = new Set<OutcomeId>();
  const others = new Set<OutcomeId>();
  for (const { outcome, canFail } of plain.sent.flatMap(({ requests }) => requests)) {
    if (!canFail || !isSuccess(outcome)) continue;
    const inPlain = countRequests(plain, outcome);
    const isSteady = passed.every((run) => countRequests(run, outcome) === inPlain);
    if (isSteady) steady.add(outcome);
    else others.add(outcome);
  }
  return [...steady, ...others];
}

/** The number of a run's requests with this outcome. */
function countRequests({ sent }: Pick<RunEnd, "sent">, outcome: OutcomeId): number {
  const requests = sent.flatMap((sentKey) => sentKey.requests);
  return requests.filter((request) => request.outcome === outcome).length;
}

/** What a run shows that is no failure to report: it passed, or its failure is allowed or has another reason. */
function resultWithoutProblem(
  fault: FaultOutcomeId,
  run: ClientRun | undefined,
  target: FaultTarget,
  runs: Runs,
): ResultOfCheck {
  if (run === undefined) return notJudged(runNotMade);
  if (hasFailed(run) && run.replacedCount > 0) {
    if (runs.plan.allow.includes(fault)) return { kind: "allowed" };
    return notJudged(followsOwnFailure);
  }

  const reason = whyRunShowsNothing(runs.plain, run, "replaced") ?? target.whyUnused;
  if (reason !== undefined) return notJudged(reason);

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
function groupIntoProblems(failures: readonly ClientRun[], target: FaultTarget, runs: Runs): Finding[] {
  const late = failures.filter(({ result }) => result === "timed_out");
  const others = failures.filter((run) => !late.includes(run));

  const problems: Finding[] = [];
  if (others.length > 0) problems.push(faultProblem(others, target, runs));
  for (const run of late) problems.push(faultProblem([run], target, runs));
  return problems;
}

function faultProblem(failures: readonly ClientRun[], target: FaultTarget, { plan }: Runs): Finding {
  const [first] = failures as [ClientRun, ...ClientRun[]];
  const names = failures.map(({ name }) => name as FaultOutcomeId);

  // The client did well, and sent the request again, if more came than without a fault: a test that counts requests failed.
  const isSentAgain = failures.every((run) => {
    return run.result === "failed" && countRequests(run, target.outcome) > target.mostRequests;
  });
  const words = isSentAgain
    ? wordsIfSentAgain(names)
    : wordsIfNotSurvived(names, first.result === "timed_out");
  const only = names.flatMap((name) => ["--only", name]);
  return {
    name: first.name,
    ...words,
    again: againCommand(plan, "certify", ...only),
    ...lastLineOf(first),
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
  if (isLate)
    fixes.push("If your client has a longer timeout, raise --timeout, for example to --timeout 60s.");
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
