import { type FaultOutcomeId, faultKindRow, isFault, whatToDoAfter } from "../../rules/fault-effects.js";
import { faultOutcomeIds, isSuccess, type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import { exampleOfFault } from "../../sandbox/faults.js";
import { listed } from "../../schema/words.js";
import {
  type Finding,
  failedResult,
  heldResult,
  Inconclusive,
  type JudgedCheck,
  type Judgment,
  nothingJudged,
  notJudged,
  type Reason,
  type ResultOfCheck,
  shownOr,
} from "../checks/judgment.js";
import { type CertifyPlan, isWanted } from "../checks/plan.js";
import {
  type ClientRun,
  countRequests,
  isBroken,
  isNoticed,
  type KeyRequest,
  longestWait,
} from "../client-runs/client-run.js";
import { findDoubtOfPass } from "../client-runs/doubt-of-pass.js";
import { findDoubtOfFailure, hangsNowAndThen, repeatFailures } from "../client-runs/failures.js";
import { againWithOnly, lastLineOf } from "../client-runs/finding-parts.js";
import type { Runs } from "../client-runs/runs.js";

// A fault hits the first of the requests that end on one success, with a key that works. A client that survives it shows something only if
// a test uses the response: then the command fails when the response is a 401. If no test does, the faults are tried all the same, since
// a client that does not survive one has a problem.

/** The faults that break most clients; `--faults` tries the others as well. */
const defaultFaults: readonly FaultOutcomeId[] = [
  "fault.hang",
  "fault.status",
  "fault.truncate",
  "fault.malformed",
];

/** Hits one request with each kind of fault, in a run of its own, which the client must survive. */
export async function judgeFaults(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const wanted = faultOutcomeIds.filter((outcome) => {
    if (!isWanted(plan, { kind: "fault", outcome })) return false;
    return plan.hasAllFaults || plan.only?.includes(outcome) || defaultFaults.includes(outcome);
  });
  if (wanted.length === 0) return nothingJudged;
  const target = await shownOr(findTarget(runs), notJudged);
  if ("reason" in target) {
    const checks = wanted.map((outcome) => ({ check: { kind: "fault", outcome } as const, result: target }));
    return { ...nothingJudged, checks };
  }

  const results = await Promise.all(wanted.map((fault) => shownOr(tryFault(runs, target, fault), notJudged)));
  const notSurvived = results.filter((result) => result.kind === "not_survived");
  const failedRuns = notSurvived.map(({ run }) => run);
  const inDoubt = await shownOr(repeatFailures(runs, failedRuns), notJudged);
  const shown: NotSurvived[] = [];
  const checks: JudgedCheck[] = [];
  for (const [index, outcome] of wanted.entries()) {
    const tried = results[index] as (typeof results)[number]; // each fault has one
    let result: ResultOfCheck = failedResult;
    if (tried.kind !== "not_survived") result = tried;
    else if (inDoubt !== undefined) result = inDoubt;
    else if (!runs.isRepeated(tried.run)) result = notJudged(hangsNowAndThen);
    else shown.push(tried);
    checks.push({ check: { kind: "fault", outcome }, result });
  }
  return { checks, problems: problemsOf(shown, target, plan), notes: [] };
}

interface FaultTarget {
  readonly outcome: OutcomeId;
  /** How many requests end on the outcome without a fault: in the plain run, in a varied run, or in the run with a 401, whichever has most. If more come after a fault, the client has sent the request again. */
  readonly requestsWithoutFault: number;
  /** Why no test is known to use the first response: a client that survives a fault shows nothing then. One that does not still has a problem. */
  readonly whyNotUsed: Reason | undefined;
}

/** Finds requests whose response a test uses, or else any that a fault may hit. Throws `Inconclusive` if there are none. */
async function findTarget(runs: Runs): Promise<FaultTarget> {
  const targets: FaultTarget[] = [];
  const variedRuns = await runs.heldVaried();
  for (const outcome of outcomesToHit(runs.plain, variedRuns)) {
    const target = await targetOf(runs, outcome, variedRuns);
    if (target.whyNotUsed === undefined) return target;
    targets.push(target);
  }
  const [first] = targets;
  if (first !== undefined) return first;
  throw new Inconclusive({
    why: "the plain run sent no request with a key that works which may be sent again, and whose response has a body",
    whatToDo: "Send a GET with a key that works.",
  });
}

/** The successes of requests that a fault may hit: first those that come equally often in each run. */
function outcomesToHit(plain: ClientRun, variedRuns: readonly ClientRun[]): OutcomeId[] {
  const steady = new Set<OutcomeId>();
  const unsteady = new Set<OutcomeId>();
  for (const { requests } of plain.sentKeys) {
    for (const { outcome, canTakeFault } of requests) {
      if (!canTakeFault || !isSuccess(outcome)) continue;
      const countInPlain = countWith(outcome, plain);
      const isSteady = variedRuns.every((run) => countWith(outcome, run) === countInPlain);
      if (isSteady) steady.add(outcome);
      else unsteady.add(outcome);
    }
  }
  return [...steady, ...unsteady];
}

function countWith(outcome: OutcomeId, run: ClientRun): number {
  return countRequests(run, (other) => other === outcome);
}

/** Gives the first request with this outcome a 401 in place of its success, which a test must notice. */
async function targetOf(
  runs: Runs,
  outcome: OutcomeId,
  variedRuns: readonly ClientRun[],
): Promise<FaultTarget> {
  const run = await runs.makeWrongAnswer("first", outcome);
  const countInPlain = countWith(outcome, runs.plain);
  const count = countWith(outcome, run);
  const isSentAgain = run.result === "passed" && count > countInPlain;

  let whyNotUsed: Reason | undefined;
  if (isNoticed(run)) whyNotUsed = await findDoubtOfFailure(runs, run);
  else if (isSentAgain) whyNotUsed = sentAgainAfter401;
  else whyNotUsed = findDoubtOfPass(runs.plain, run, "replaced") ?? responseNotUsed;
  const countsInVaried = variedRuns.map((one) => countWith(outcome, one));
  const requestsWithoutFault = Math.max(countInPlain, count, ...countsInVaried);
  return { outcome, requestsWithoutFault, whyNotUsed };
}

const responseNotUsed: Reason = {
  why: "the command passes when the first request with a key that works gets a 401",
  whatToDo: "Use the response of each key that works in a test.",
};

const sentAgainAfter401: Reason = {
  why: "the command passes when the first request with a key that works gets a 401, and sends it again",
  whatToDo:
    "Your client must stop at the first 401. If your tests ask again, turn that off: polling, or what repeats failing tests, such as `--retry` of vitest, `jest.retryTimes` or `--reruns` of pytest.",
};

/** A fault that the client did not survive: a problem, if the failure comes again. */
interface NotSurvived {
  readonly kind: "not_survived";
  readonly fault: FaultOutcomeId;
  readonly run: ClientRun;
}

/** Throws `Inconclusive` if the run with the fault shows nothing. */
async function tryFault(
  runs: Runs,
  target: FaultTarget,
  fault: FaultOutcomeId,
): Promise<ResultOfCheck | NotSurvived> {
  const which = { kind: "first", outcome: target.outcome } as const;
  const gets = { kind: "fault", effect: exampleOfFault(fault, { asPage: true }) } as const;
  const run = await runs.makeOnce({
    purpose: { kind: "fault", outcome: fault },
    conditions: { onRequest: { which, gets } },
    clientMayWaitMs: longestWait,
  });
  if (isBroken(run) && run.replacedCount > 0) {
    if (runs.plan.allow.includes(fault)) return { kind: "allowed" };
    if (!isAfterOwnFailure(run)) return { kind: "not_survived", fault, run };
    throw new Inconclusive({
      why: "the command fails, and the request that was hit follows a failure of your own tests",
      whatToDo: "Send a key that works in a test without a fault or a limit.",
    });
  }

  const doubt = findDoubtOfPass(runs.plain, run, "replaced") ?? target.whyNotUsed;
  if (doubt !== undefined) throw new Inconclusive(doubt);
  // A delayed response still comes. After any other fault, the client must send the request again: the next test's request is none more.
  if (faultKindRow(fault).onlyDelays) return heldResult;
  const isLast = run.sentKeys.some(({ requests }) => requests.at(-1)?.isReplaced);
  if (!isLast && countWith(target.outcome, run) > target.requestsWithoutFault) return heldResult;
  throw new Inconclusive({
    why: "the command passed, and no run shows that it sent the request again that was hit",
    whatToDo:
      "Make a test fail when the response of a key that works does not come, and send that key equally often in each run.",
  });
}

/** Whether a fault or a limit of the client's own tests came right before the request that was hit: a client may give up then. */
function isAfterOwnFailure({ sentKeys }: ClientRun): boolean {
  for (const { requests } of sentKeys) {
    const index = requests.findIndex(({ isReplaced }) => isReplaced);
    if (index < 1) continue;
    const before = requests[index - 1] as KeyRequest; // an index of 1 or more has one before it
    if (isFault(before.outcome) || outcomeRow(before.outcome).status === 429) return true;
  }
  return false;
}

/** The problems of faults. All runs that failed are one, since one flaw breaks them. Each that did not end is another one: a client without a timeout. */
function problemsOf(
  notSurvived: readonly NotSurvived[],
  { outcome, requestsWithoutFault, whyNotUsed }: FaultTarget,
  plan: CertifyPlan,
): Finding[] {
  const problems: Finding[] = [];
  const failed = notSurvived.filter(({ run }) => run.result === "failed");
  const [first] = failed;
  if (first !== undefined) {
    const names = failed.map(({ fault }) => fault);
    // If each run has more requests than without a fault, the client did well, and a test failed that counts requests.
    const areSentAgain = failed.every(({ run }) => countWith(outcome, run) > requestsWithoutFault);
    const isCounted = whyNotUsed === undefined && areSentAgain;
    const words = isCounted ? wordsIfCounted(names) : wordsIfNotSurvived(names);
    problems.push(faultProblem(first, names, words, plan));
  }
  for (const late of notSurvived) {
    if (late.run.result !== "timed_out") continue;
    const words = wordsOfSingle("Does not end in time", late.fault, [
      "If your client has a longer timeout, raise --timeout, for example to 60s.",
    ]);
    problems.push(faultProblem(late, [late.fault], words, plan));
  }
  return problems;
}

function faultProblem(
  first: NotSurvived,
  names: readonly FaultOutcomeId[],
  words: FaultWords,
  plan: CertifyPlan,
): Finding {
  const again = againWithOnly(plan, names);
  return { name: first.fault, ...words, again, ...lastLineOf(first.run), runs: names };
}

/**
 * What happens to a request that is hit by the example of each kind. The first words end "fails when the first request with a key that works
 * …", the second stand in a list: "sends the request again after …".
 */
const wordsOfKinds: Readonly<Record<FaultOutcomeId, readonly [of: string, after: string]>> = {
  "fault.latency": ["gets its response a second late", "a late response"],
  "fault.status": ["gets a 503", "503"],
  "fault.reset": ["has its connection reset", "a reset connection"],
  "fault.hang": ["never gets a response", "no response"],
  "fault.truncate": ["gets a response that is cut short", "a truncated body"],
  "fault.malformed": ["gets a 200 with broken JSON", "broken JSON"],
  "fault.slow": ["gets its response in many parts", "a response in many parts"],
};

type FaultWords = Pick<Finding, "sentence" | "whatToDo">;

/** The words of faults after which the client sends the request again, and a test that counts requests fails. */
function wordsIfCounted(names: readonly FaultOutcomeId[]): FaultWords {
  const after = names.map((name) => wordsOfKinds[name][1]);
  return {
    sentence: `Sends the request again after ${listed(after, "or")}, and the command then fails`,
    whatToDo:
      "If a test counts requests, leave out those that repeat others after faults: `faults: false`, or `faults=false` of GET /expect.",
  };
}

/** The words of faults at which the command fails. A single one has its own fix, several have a common one. */
function wordsIfNotSurvived(names: readonly FaultOutcomeId[]): FaultWords {
  const [first, ...others] = names;
  if (first !== undefined && others.length === 0) return wordsOfSingle("Fails", first, []);

  const fixes = [
    "After a failure, send the request again if it may be sent twice: with growing pauses, and a few times at most.",
  ];
  if (names.includes("fault.status")) fixes.push(readStatusFirst);
  fixes.push(allowInstead(names));
  const after = names.map((name) => wordsOfKinds[name][1]);
  return { sentence: `Fails at the first failure: ${after.join(", ")}`, whatToDo: fixes.join(" ") };
}

/** The words of a single fault, with how the command ends at it. */
function wordsOfSingle(howItEnds: string, name: FaultOutcomeId, moreFixes: readonly string[]): FaultWords {
  let sentence = `${howItEnds} when the first request with a key that works ${wordsOfKinds[name][0]}`;
  const fixes = [whatToDoAfter(name, { isIdempotent: true })];
  if (name === "fault.status") {
    sentence += " with an HTML page";
    fixes.push(readStatusFirst);
  }
  fixes.push(...moreFixes, allowInstead([name]));
  return { sentence, whatToDo: fixes.join(" ") };
}

function allowInstead(names: readonly FaultOutcomeId[]): string {
  const allowed = names.map((name) => `--allow ${name}`);
  return `If your client fails on purpose, add ${listed(allowed, "and")}.`;
}

/** The 503 of a run is the error page of a gateway. */
const readStatusFirst = "Read the status before the body: the error page of a gateway is HTML.";
