import { exampleOf } from "../api/faults.js";
import { effectAt, type FaultOutcomeId, whatToDoAfter } from "../rules/fault-effects.js";
import { type ApiOutcomeId, isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { Problem } from "./certificate.js";
import { type Context, check, held, type Judged, open } from "./context.js";
import { againWith, type CertifyPlan, faultsAsked, longestWait, otherOutcome } from "./plan.js";
import {
  type ClientRun,
  findDependency,
  lastLineOf,
  notMade,
  type Reason,
  requestsIn,
  whyNotJudged,
} from "./run.js";

/** Hits one request with each kind of fault, which the client must survive. */
export async function judgeFaults(context: Context): Promise<Judged[]> {
  const { plan } = context;
  const wanted = faultsAsked(plan);
  const subject = wanted.length === 0 ? undefined : await faultSubject(context);
  return Promise.all(wanted.map((fault) => judgeFault(fault, subject, context)));
}

/** An outcome whose first request a test uses. `isSteady`: each run sends equally many requests there. */
interface FaultTarget {
  readonly outcome: OutcomeId;
  readonly isSteady: boolean;
}

async function faultSubject({ plain, varied, answerOn }: Context): Promise<FaultTarget | undefined> {
  const { passed } = await varied;
  const isSteady = (outcome: OutcomeId) =>
    passed.every((run) => requestsIn(run, outcome) === requestsIn(plain, outcome));
  const subjects = [...new Set(plain.sent.flatMap(({ requests }) => requests.map(({ outcome }) => outcome)))]
    .filter((outcome) => isSuccess(outcome))
    .map((outcome) => ({ outcome, isSteady: isSteady(outcome) }))
    .toSorted((one, other) => Number(other.isSteady) - Number(one.isSteady));
  for (const subject of subjects)
    if ((await answerOn(subject.outcome)).kind === "noticed once") return subject;
  return undefined;
}

type Hit = (outcome?: OutcomeId, isAlone?: boolean) => Promise<ClientRun | undefined>;

async function judgeFault(
  fault: FaultOutcomeId,
  subject: FaultTarget | undefined,
  context: Context,
): Promise<Judged> {
  const { runs, plain } = context;
  const then = exampleOf(fault, true);
  const faults = [{ then }];
  const hit: Hit = (outcome, isAlone = false) =>
    runs.make(
      fault,
      { faults, once: outcome === undefined ? {} : { outcome } },
      { wait: longestWait, isAlone },
    );
  const first = await hit(subject?.outcome);
  if (first === undefined) return open(fault, notMade);
  const outcome = first.hitOutcome;
  if (outcome === undefined) return open(fault, notHit);
  if (first.result !== "passed") return judgeFailure(fault, first, outcome, context, hit);
  const reason =
    whyNotJudged(plain, first, "hit") ??
    (subject === undefined ? await whyUnseen(outcome, context) : undefined);
  if (reason !== undefined) return open(fault, reason);
  if (subject?.isSteady) {
    const isFollowed = requestsIn(first, outcome) > requestsIn(plain, outcome);
    return isFollowed || effectAt(fault).onlyDelays ? held(fault) : open(fault, notFollowed);
  }
  // A response that nobody uses may have been hit, but not all of each second ones are such.
  const each = faults.map(({ then }) => ({ when: { outcome: outcome as ApiOutcomeId, every: 2 }, then }));
  const second = await runs.make(fault, { faults: each }, { wait: longestWait });
  return second?.result === "passed" && second.hits > 0 ? held(fault) : open(fault, differing);
}

async function whyUnseen(outcome: OutcomeId, context: Context): Promise<Reason | undefined> {
  const isOnce = requestsIn(context.plain, outcome) === 1;
  return (await context.whyHidden()) ?? (isOnce ? context.whyRepeated(outcome) : undefined);
}

/** Another outcome shows where the command fails; the same one, whether it does so again. */
async function judgeFailure(
  fault: FaultOutcomeId,
  first: ClientRun,
  outcome: OutcomeId,
  { plan, covered }: Context,
  hit: Hit,
): Promise<Judged> {
  if (fault === "fault.hang" && first.result === "timed_out")
    return faultFailed(fault, first, [outcome], plan);
  const secondOutcome = otherOutcome(covered, outcome) ?? outcome;
  const second = await hit(secondOutcome);
  if (second !== undefined && second.result !== "passed" && second.hits > 0)
    return faultFailed(fault, first, [...new Set([outcome, secondOutcome])], plan);
  const again = await hit(outcome, true);
  return again?.result === "passed" ? open(fault, onceFailed) : faultFailed(fault, first, [outcome], plan);
}

const faultFailed = (
  fault: FaultOutcomeId,
  run: ClientRun,
  outcomes: readonly OutcomeId[],
  plan: CertifyPlan,
): Judged => ({
  checks: [check(fault, "failed")],
  problems: [{ ...faultProblem(fault, run, outcomes), again: againWith(plan, "certify", "--only", fault) }],
});

const notFollowed: Reason = {
  why: "the command passed, and no request followed the one that was hit",
  whatToDo: "Make a test fail when the response of a key that works does not come.",
};
const notHit: Reason = {
  why: "no request with a key that works was hit",
  whatToDo: "Send a GET with a key that works in each run.",
};
const differing: Reason = {
  why: "the command passes when the first request is hit, and not when each second one is; the runs send different numbers of requests",
  whatToDo: "Send a key that works equally often in each run.",
};
const onceFailed: Reason = {
  why: "the command failed once, and passed when it ran again",
  whatToDo: findDependency,
};

function faultProblem(
  fault: FaultOutcomeId,
  { result, output }: ClientRun,
  outcomes: readonly OutcomeId[],
): Omit<Problem, "again"> {
  const page = fault === "fault.status" ? " with an HTML page" : "";
  const happens = `the first request that would end on ${listed(outcomes, "or")} ${effectAt(fault).happens}${page}`;
  const isLate = result === "timed_out";
  const pageFix = page && " Read the status before the body: the error page of a gateway is HTML.";
  const longer = isLate
    ? " If your client has a longer timeout, raise --timeout, for example to --timeout 60s."
    : "";
  return {
    name: fault,
    sentence: isLate ? `Does not end in time when ${happens}` : `Fails when ${happens}`,
    whatToDo: whatToDoAfter(fault, { isRepeatable: true }) + pageFix + longer,
    ...lastLineOf({ output }),
    runs: [fault],
  };
}
