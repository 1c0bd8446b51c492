import { exampleOfFault } from "../api/fault-responses.js";
import { effectAt, type FaultOutcomeId, whatToDoAfter } from "../rules/fault-effects.js";
import { faultOutcomes, isFault, isSuccess, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { firstWrong, isNoticed } from "./answers.js";
import { type ClientRun, hasFailed, type RunEnd } from "./client-run.js";
import {
  type Finding,
  failed,
  held,
  type Judgment,
  joined,
  judged,
  notJudged,
  notMade,
  type Reason,
  type ResultOfCheck,
} from "./judgment.js";
import { lastLineOf } from "./last-line.js";
import { whyNotJudged } from "./not-judged.js";
import { againWith, type CertifyPlan, isWanted, longestWait } from "./plan.js";
import type { Runs } from "./runs.js";
import { runVaried } from "./varied.js";

const defaultFaults: readonly FaultOutcomeId[] = [
  "fault.hang",
  "fault.status",
  "fault.truncate",
  "fault.malformed",
];

/** Where a fault hits the first request: of a key that works, which may be sent again, and whose response has a body. */
interface FaultTarget {
  readonly outcome: OutcomeId;
  /** Why it shows nothing if the command survives, as it also passes with the wrong response; `undefined` if a test uses that. */
  readonly unused?: Reason | undefined;
  /** The most requests that end there in a run without a fault, also in one that fails. */
  readonly mostRequests: number;
}

/** Hits one request with each kind of fault, in a run of its own, which the client must survive. */
export async function judgeFaults(runs: Runs): Promise<Judgment> {
  const { allow } = runs.plan;
  const wanted = faultsAsked(runs.plan);
  const target = wanted.length === 0 ? undefined : await faultTarget(runs);
  if (target === undefined) return joined(wanted.map((fault) => judged(fault, notJudged(noRequest))));
  const faulty = await Promise.all(
    wanted.map((fault) => {
      const which = { kind: "first", outcome: target.outcome } as const;
      const gets = { kind: "fault", effect: exampleOfFault(fault, true) } as const;
      return runs.make(fault, { onRequest: { which, gets } }, { wait: longestWait });
    }),
  );
  const isFailure = (run: ClientRun) =>
    run.replacedCount > 0 && !isSecondFailure(run) && !allow.includes(run.name);
  const failures = faulty.filter(hasFailed).filter(isFailure);
  const isMade = (await runs.repeat(failures)) !== "not_made";
  const checks = faulty.map((run, at) => {
    const fault = wanted[at] as FaultOutcomeId;
    if (run === undefined || !failures.includes(run))
      return judged(fault, survival(fault, run, target, runs));
    return judged(fault, isMade ? failed : notJudged(notMade));
  });
  // What one flaw breaks is one problem. A client without a timeout is another one.
  const late = failures.filter(({ result }) => result === "timed_out");
  const groups = [failures.filter((run) => !late.includes(run)), ...late.map((run) => [run])];
  const problems = groups.flatMap((group) => (isMade && group[0] ? faultFinding(group, target, runs) : []));
  return joined([...checks, { problems }]);
}

/** The faults that are tried. */
function faultsAsked(plan: Pick<CertifyPlan, "only" | "hasAllFaults">): FaultOutcomeId[] {
  return faultOutcomes.filter(
    (fault) =>
      isWanted(plan, fault) &&
      (plan.hasAllFaults || plan.only?.includes(fault) || defaultFaults.includes(fault)),
  );
}

/** The number of a run's requests with this outcome. */
const requestsIn = ({ sent }: Pick<RunEnd, "sent">, outcome: OutcomeId) =>
  sent.flatMap(({ requests }) => requests).filter((one) => one.outcome === outcome).length;

/** A request whose response a test uses, if there is one; first of those that come equally often in each run. */
async function faultTarget(runs: Runs): Promise<FaultTarget | undefined> {
  const { plain } = runs;
  const { passed } = await runVaried(runs);
  const requests = plain.sent.flatMap((sent) => sent.requests);
  const fitting = requests.filter(({ outcome, canFail }) => canFail && isSuccess(outcome));
  const isSteady = (outcome: OutcomeId) =>
    passed.every((run) => requestsIn(run, outcome) === requestsIn(plain, outcome));
  const outcomes = [...new Set(fitting.map(({ outcome }) => outcome))].toSorted(
    (one, other) => Number(isSteady(other)) - Number(isSteady(one)),
  );
  let unused = notUsed;
  for (const outcome of outcomes) {
    const wrong = await firstWrong(runs, outcome);
    if (wrong === undefined) continue;
    const requests = requestsIn(wrong, outcome);
    if (!isNoticed(wrong)) {
      if (wrong.result === "passed" && requests > requestsIn(plain, outcome)) unused = sentAgain;
      continue;
    }
    if ((await runs.whyUnsure(wrong)) !== undefined) continue;
    return { outcome, mostRequests: Math.max(requestsIn(plain, outcome), requests) };
  }
  const [outcome] = outcomes;
  return outcome && { outcome, unused, mostRequests: Number.POSITIVE_INFINITY };
}

/** What a run shows that passed, or that failed for another reason. */
function survival(
  fault: FaultOutcomeId,
  run: ClientRun | undefined,
  { unused }: FaultTarget,
  { plain, plan }: Runs,
): ResultOfCheck {
  if (run === undefined) return notJudged(notMade);
  if (hasFailed(run) && run.replacedCount > 0)
    return plan.allow.includes(fault) ? { kind: "allowed" } : notJudged(secondFailure);
  const reason = whyNotJudged(plain, run, "replaced");
  if (reason !== undefined) return notJudged(reason);
  if (unused !== undefined) return notJudged(unused);
  const isLast = run.sent.some(({ requests }) => requests.at(-1)?.isReplaced);
  return isLast && !effectAt(fault).onlyDelays ? notJudged(notFollowed) : held;
}

/** Whether a test's own fault, or a limit, came right before the request that was hit: a client may give up then. */
function isSecondFailure({ sent }: ClientRun): boolean {
  return sent.some(({ requests }) => {
    const before = requests[requests.findIndex(({ isReplaced }) => isReplaced) - 1];
    return before !== undefined && (isFault(before.outcome) || outcomeOf(before.outcome).status === 429);
  });
}

const secondFailure: Reason = {
  why: "the command fails, and the request that was hit follows a failure of your own tests",
  whatToDo: "Send a key that works in a test without a fault or a limit.",
};
const notFollowed: Reason = {
  why: "the command passed, and no request followed the one that was hit",
  whatToDo: "Make a test fail when the response of a key that works does not come.",
};
const notUsed: Reason = {
  why: "the command passes when the first request with a key that works gets a 401",
  whatToDo: "Use the response of each key that works in a test.",
};
const sentAgain: Reason = {
  why: "the command passes when the first request with a key that works gets a 401, and sends it again",
  whatToDo:
    "Your client must stop at the first 401. If your tests ask again, turn that off: polling, or what repeats failing tests, such as `--retry` of vitest, `jest.retryTimes` or `--reruns` of pytest.",
};
const noRequest: Reason = {
  why: "the plain run sent no request with a key that works which may be sent again, and whose response has a body",
  whatToDo: "Send a GET with a key that works.",
};

function faultFinding(failures: readonly ClientRun[], target: FaultTarget, { plan }: Runs): Finding {
  const [first] = failures as [ClientRun, ...ClientRun[]];
  const names = failures.map(({ name }) => name as FaultOutcomeId);
  const isSentAgain = failures.every(
    (run) => run.result === "failed" && requestsIn(run, target.outcome) > target.mostRequests,
  );
  return {
    name: first.name,
    ...(isSentAgain ? countedTwice(names) : notSurvived(names, first.result === "timed_out")),
    again: againWith(plan, "certify", ...names.flatMap((name) => ["--only", name])),
    ...lastLineOf(first),
    runs: names,
  };
}

const countedTwice = (names: readonly FaultOutcomeId[]) => ({
  sentence: `Sends the request again after ${listed(
    names.map((name) => effectAt(name).gets),
    "or",
  )}, and the command then fails`,
  whatToDo:
    "If a test counts requests, leave out those that repeat others after faults: `faults: false`, or `faults=false` of GET /expect.",
});

function notSurvived(names: readonly FaultOutcomeId[], isLate: boolean) {
  const [name] = names as [FaultOutcomeId, ...FaultOutcomeId[]];
  const isOne = names.length === 1;
  const page = names.includes("fault.status");
  const gets = names.map((fault) => effectAt(fault).gets).join(", ");
  const sentence = `${isLate ? "Does not end in time" : "Fails"} when the first request with a key that works ${effectAt(name).happens}${page ? " with an HTML page" : ""}`;
  const fixes = [
    isOne ? whatToDoAfter(name, { isIdempotent: true }) : sendAgain,
    ...(page ? ["Read the status before the body: the error page of a gateway is HTML."] : []),
    ...(isLate
      ? ["If your client has a longer timeout, raise --timeout, for example to --timeout 60s."]
      : []),
    `If your client fails on purpose, add ${listed(
      names.map((fault) => `--allow ${fault}`),
      "and",
    )}.`,
  ];
  return { sentence: isOne ? sentence : `Fails at the first failure: ${gets}`, whatToDo: fixes.join(" ") };
}

const sendAgain =
  "After a failure, send the request again if it may be sent twice: with growing pauses, and a few times at most.";
