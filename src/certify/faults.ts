import { exampleOf } from "../api/fault-responses.js";
import { effectAt, type FaultOutcomeId, whatToDoAfter } from "../rules/fault-effects.js";
import { type ApiOutcomeId, isFault, isSuccess, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { firstWrong, noticeOf, repeats, survives404, whyHidden } from "./answers.js";
import type { Client } from "./client.js";
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
} from "./judgment.js";
import { lastLineOf } from "./last-line.js";
import { whyNotJudged } from "./not-judged.js";
import { againWith, faultsAsked, longestWait } from "./plan.js";
import { type ClientRun, hasFailed, requestsIn } from "./run.js";
import { runVaried } from "./varied.js";

/** Hits one request with each kind of fault, which the client must survive. */
export async function judgeFaults(client: Client): Promise<Judgment> {
  const { plan } = client;
  const wanted = faultsAsked(plan);
  const target = wanted.length === 0 ? undefined : await faultTarget(client);
  if (target === undefined) return joined(wanted.map((fault) => judged(fault, notJudged(notHit))));
  const once = { outcome: target.outcome };
  const hits = await Promise.all(
    wanted.map((fault) => {
      const then = exampleOf(fault, true);
      return client.run(fault, { faults: [{ then }], once }, { wait: longestWait });
    }),
  );
  const failures = hits.filter(hasFailed).filter((run) => run.hits > 0 && !isSecondFailure(run));
  const isRepeated = await client.failAgain(failures);
  const checks = await Promise.all(
    hits.map(async (run, at) => {
      const fault = wanted[at] as FaultOutcomeId;
      if (run === undefined) return judged(fault, notJudged(notMade));
      if (hasFailed(run) && isSecondFailure(run)) return judged(fault, notJudged(secondFailure));
      if (!failures.includes(run)) return judgeSurvival(fault, run, target, client);
      return judged(fault, isRepeated ? failed : notJudged(notMade));
    }),
  );
  // What one flaw breaks is one problem. A client without a timeout is another one.
  const late = failures.filter(({ result }) => result === "timed_out");
  const together = failures.filter((run) => !late.includes(run));
  const groups = isRepeated ? [together, ...late.map((run) => [run])].filter(([first]) => first) : [];
  const problems = await Promise.all(groups.map((group) => faultFinding(group, target, client)));
  return joined([...checks, { problems }]);
}

/** Whether a test's own fault, or a limit, came right before the request that was hit: a client may give up then. */
function isSecondFailure({ sent }: ClientRun): boolean {
  return sent.some(({ requests }) => {
    const before = requests[requests.findIndex(({ isHit }) => isHit) - 1];
    return before !== undefined && (isFault(before.outcome) || outcomeOf(before.outcome).status === 429);
  });
}

const secondFailure: Reason = {
  why: "the command fails, and the request that was hit follows a failure of your own tests",
  whatToDo: "Send a key that works in a test without a fault or a limit.",
};

/** Where a fault hits the first request that is idempotent, whose response has a body, and which a test uses. */
interface FaultTarget {
  readonly outcome: OutcomeId;
  /** Whether each run sends equally many requests there. */
  readonly isSteady: boolean;
  /** Whether a test fails if this request gets the wrong response. */
  readonly isUsed: boolean;
}

async function faultTarget(client: Client): Promise<FaultTarget | undefined> {
  const { plain } = client;
  const { passed } = await runVaried(client);
  const isSteady = (outcome: OutcomeId) =>
    passed.every((run) => requestsIn(run, outcome) === requestsIn(plain, outcome));
  const requests = plain.sent.flatMap((sent) => sent.requests);
  const fitting = requests.filter(({ outcome, canFail }) => canFail && isSuccess(outcome));
  const targets = [...new Set(fitting.map(({ outcome }) => outcome))]
    .map((outcome) => ({ outcome, isSteady: isSteady(outcome) }))
    .toSorted((one, other) => Number(other.isSteady) - Number(one.isSteady));
  for (const target of targets)
    if ((await noticeOf(client, target.outcome)).kind === "noticed_once") return { ...target, isUsed: true };
  return targets[0] && { ...targets[0], isUsed: false };
}

async function judgeSurvival(
  fault: FaultOutcomeId,
  first: ClientRun,
  { outcome, isSteady, isUsed }: FaultTarget,
  client: Client,
): Promise<Judgment> {
  const { plain } = client;
  const reason = whyNotJudged(plain, first, "hit") ?? (isUsed ? undefined : await whyUnseen(client));
  if (reason !== undefined) return judged(fault, notJudged(reason));
  if (isUsed && isSteady) {
    const isFollowed = requestsIn(first, outcome) > requestsIn(plain, outcome);
    return judged(fault, isFollowed || effectAt(fault).onlyDelays ? held : notJudged(notFollowed));
  }
  // A response that nobody uses may have been hit, but not all of each second ones are such.
  const then = exampleOf(fault, true);
  const each = [{ when: { outcome: outcome as ApiOutcomeId, every: 2 }, then }];
  const second = await client.run(fault, { faults: each }, { wait: longestWait });
  if (second === undefined) return judged(fault, notJudged(notMade));
  return judged(fault, second.result === "passed" && second.hits > 0 ? held : notJudged(differing));
}

async function whyUnseen(client: Client): Promise<Reason | undefined> {
  const { plain, covered } = client;
  const reason = await whyHidden(client);
  if (reason !== undefined) return reason;
  // Of a single request, only what repeats a test hides that it got a wrong response once.
  for (const outcome of covered.filter((one) => isSuccess(one) && requestsIn(plain, one) === 1))
    if ((await noticeOf(client, outcome)).kind === "noticed" && (await survives404(client, outcome)))
      return repeats(outcome, 404);
  return undefined;
}

const notFollowed: Reason = {
  why: "the command passed, and no request followed the one that was hit",
  whatToDo: "Make a test fail when the response of a key that works does not come.",
};
const notHit: Reason = {
  why: "the plain run sent no request with a key that works which may be sent again, and whose response has a body",
  whatToDo: "Send a GET with a key that works.",
};
const differing: Reason = {
  why: "the command passes when the first request is hit, and not when each second one is; the runs send different numbers of requests",
  whatToDo: "Send a key that works equally often in each run.",
};

const sendAgain =
  "After a failure, send the request again if it may be sent twice: with growing pauses, and a few times at most.";

async function faultFinding(
  failures: readonly ClientRun[],
  target: FaultTarget,
  client: Client,
): Promise<Finding> {
  const [first] = failures as [ClientRun, ...ClientRun[]];
  const names = failures.map(({ name }) => name as FaultOutcomeId);
  const words = names.map((name) => effectAt(name).gets);
  const isLate = first.result === "timed_out";
  const seen = (await isSentAfter(failures, target, client))
    ? {
        sentence: `Sends the request again after ${listed(words, "or")}, and the command then fails`,
        whatToDo: countOnce,
      }
    : { sentence: faultSentence(names, words, isLate), whatToDo: faultFix(names, isLate) };
  return {
    name: first.name,
    ...seen,
    again: againWith(client.plan, "certify", ...names.flatMap((name) => ["--only", name])),
    ...lastLineOf(first),
    runs: names,
  };
}

function faultSentence(names: readonly FaultOutcomeId[], words: readonly string[], isLate: boolean): string {
  if (names.length > 1) return `Fails at the first failure: ${words.join(", ")}`;
  const page = names.includes("fault.status") ? " with an HTML page" : "";
  const { happens } = effectAt(names[0] as FaultOutcomeId);
  return `${isLate ? "Does not end in time" : "Fails"} when the first request with a key that works ${happens}${page}`;
}

function faultFix(names: readonly FaultOutcomeId[], isLate: boolean): string {
  const areLate = names.every((name) => effectAt(name).onlyDelays);
  const fixes = names.map((name) => whatToDoAfter(name, { isIdempotent: true }));
  const fix = names.length === 1 || areLate ? fixes.join(" ") : sendAgain;
  const page = " Read the status before the body: the error page of a gateway is HTML.";
  const longer = " If your client has a longer timeout, raise --timeout, for example to --timeout 60s.";
  return `${fix}${names.includes("fault.status") ? page : ""}${isLate ? longer : ""}`;
}

/** Whether each of these faults was followed by more requests than a wrong answer, after which the command fails as well. */
async function isSentAfter(
  failures: readonly ClientRun[],
  { outcome, isUsed }: FaultTarget,
  client: Client,
): Promise<boolean> {
  const wrong = isUsed ? await firstWrong(client, outcome) : undefined;
  if (wrong === undefined) return false;
  const usual = Math.max(requestsIn(client.plain, outcome), requestsIn(wrong, outcome));
  return failures.every((run) => requestsIn(run, outcome) > usual);
}

const countOnce =
  "If a test counts requests, leave out those that repeat others after faults: `faults: false`, or `faults=false` of GET /expect.";
