import { keyVariable } from "../../rules/keys/key-text.js";
import { isSuccess, type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import { nameOf } from "../checks/check.js";
import {
  type Finding,
  failedResult,
  Inconclusive,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
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
  isNoticed,
  type KeyRequest,
  longestWait,
  requestsWith,
} from "../client-runs/client-run.js";
import { findDoubtOfPass } from "../client-runs/doubt-of-pass.js";
import { failuresNeeded, makePlainRunsNextToFailures } from "../client-runs/failures.js";
import { againWithOnly } from "../client-runs/finding-parts.js";
import type { Runs } from "../client-runs/runs.js";
import {
  countedRequests,
  lastRequest,
  msIfTooEarly,
  type Reaction,
  type SuspectedKind,
  sentAgainAfter,
  sentByOtherProcess,
  type Turn,
  takeTurn,
  type WorkingKey,
} from "./reaction.js";
import { nameOfKey, type ResendKind, resendKinds, retryAfterSeconds } from "./resend-kinds.js";
import { findSteadyKey, passesUnnoticed } from "./steady-key.js";
import { weighSuspects } from "./suspects.js";

// How does certify know that a client sends a key again? A resend is a request that must not come: with the same key, after a 401 or 403, or
// too soon after a 429 or 503. It is found without looking into the client: a run rejects the last request with a key that each run sends
// equally often. A client that does right gives up, its test fails, and nothing follows. What follows is one request more than in the plain
// run (reaction.ts).
// 1. Find such a key (steady-key.ts).
// 2. Reject its last request with each kind of rejection, in run after run until they agree: the kind holds, or is a suspect.
// 3. Exclude other reasons for the requests of suspects (suspects.ts). What is left is a problem.
//
//     what looks like a resend                       what excludes it                                               file
//     the suite sends the key unequally often        varied runs, or five plain ones, all with as many requests     steady-key.ts
//     a cache asks once more after a failure         the key comes twice or more often                              steady-key.ts
//     a runner, a poll, a cache: at each failure     a 404 in place of the last response: nothing may follow        steady-key.ts
//     the response was not read, or not replaced     such requests do not count; such runs show nothing             reaction.ts
//     a failed test asks why                         the command must pass after the request                        reaction.ts
//     chance                                         two runs must show it, and none the contrary                   resends.ts
//     a second request while the first one is late   the last response comes late: nothing may follow               suspects.ts
//     some tests poll, in any order                  three runs reject every other request: each must come again    suspects.ts
//     single tests poll                              eight turns reject one request each: each must come again      suspects.ts
//     only the tests with this key poll              two of these turns reject another key                          suspects.ts
//     a wait that ends early by chance (jitter)      five turns more of each request that came in time              suspects.ts
//
// What looks right, and is not: the client resends in varied runs only, only once in a while, only the first request, or only after a second
// 429. Other runs, which are made anyway, show these (`findResendInOtherRuns`), or one more run does (`findHasteAfterSecond`).

export async function judgeResends(runs: Runs): Promise<Judgment> {
  const kinds = resendKinds(runs.outcomesToJudge).filter(({ check }) => isWanted(runs.plan, check));
  if (kinds.length === 0) return nothingJudged;

  const key = await shownOr(findSteadyKey(runs), notJudged);
  if ("reason" in key) {
    return { ...nothingJudged, checks: kinds.map(({ check }) => ({ check, result: key })) };
  }

  const timed = kinds.filter(({ isTimed }) => isTimed);
  const untimed = kinds.filter(({ isTimed }) => !isTimed);
  return mergeJudgments(await Promise.all([judgeKinds(runs, key, timed), judgeKinds(runs, key, untimed)]));
}

/** In so many runs, the next request must come in time before a kind with a time holds. */
const sureWaits = 2;
/** One more for a single timed kind: no other kind would show a client that waits at random. */
const sureWaitsOfSingleKind = 3;

/** Judges all timed kinds, or all others. Those of them that fail are one problem together. */
async function judgeKinds(runs: Runs, key: WorkingKey, kinds: readonly ResendKind[]): Promise<Judgment> {
  const neededWaits = kinds.length === 1 ? sureWaitsOfSingleKind : sureWaits;
  const triedKinds = await Promise.all(
    kinds.map(async (resendKind) => {
      const turn = { key, request: lastRequest(key), resendKind };
      const result = await shownOr(tryKind(runs, turn, neededWaits), notJudged);
      return { check: resendKind.check, result };
    }),
  );
  const suspects: SuspectedKind[] = [];
  const checks: JudgedCheck[] = [];
  for (const { check, result } of triedKinds) {
    if (result.kind === "suspect") suspects.push(result);
    else checks.push({ check, result });
  }

  const proven: SuspectedKind[] = [];
  const allInDoubt = (reason: Reason) => new Map(suspects.map((suspect) => [suspect, reason]));
  for (const [suspect, doubt] of await shownOr(weighSuspects(runs, key, suspects), allInDoubt)) {
    const { check } = suspect.resendKind;
    checks.push({ check, result: doubt === undefined ? failedResult : notJudged(doubt) });
    if (doubt === undefined) proven.push(suspect);
  }
  const problems = proven.length === 0 ? [] : [resendProblem(proven, key, runs.plan)];
  return { checks, problems, notes: [] };
}

// To find out whether a client resends, the last request with a key is rejected in one run after another, until the runs agree. As an
// example, a rejection with a time, of several such kinds:
//
//     nothing more                  held: the command failed, and nothing followed (if one failure is enough: failures.ts)
//     in time, in time              held: the client waited in two runs
//     resent, resent                resent: a suspect
//     resent, in time               one more run: a client with jitter comes too soon only sometimes
//     resent, in time, in time,
//       in time, in time            sometimes: five runs, and only one resend
//     in time, nothing more         sometimes: the client asks again in some runs only

/** Rejects the last request with the key in run after run, until they show something together. Throws `Inconclusive` if they show nothing. `neededWaits`: see `shownTogether`. */
async function tryKind(runs: Runs, turn: Turn, neededWaits: number): Promise<ResultOfCheck | SuspectedKind> {
  const kinds: Reaction["kind"][] = [];
  const requests: KeyRequest[] = [];
  const resends: KeyRequest[] = [];
  for (;;) {
    const reaction = await takeTurn(runs, turn);
    const doubt = findDoubtOfReaction(runs, turn, reaction);
    if (doubt !== undefined) throw new Inconclusive(doubt);
    kinds.push(reaction.kind);
    if ("request" in reaction) requests.push(reaction.request);
    if (reaction.kind === "resent") resends.push(reaction.request);

    switch (shownTogether(kinds, neededWaits, failuresNeeded(runs.plan))) {
      case "one_more_run":
        continue;
      case "resent":
        return { ...turn, kind: "suspect", resends };
      case "sometimes":
        throw new Inconclusive({
          why: `${sentAgainAfter(turn, requests)}, but only in some runs`,
          whatToDo:
            "Find out what else it depends on, such as the order of tests. If your client waits at random, add to the time, never subtract from it.",
        });
      case "held": {
        if (kinds.includes("nothing_more")) await makePlainRunsNextToFailures(runs);
        const isWaiting = kinds.includes("in_time");
        let doubtOfHeld = isWaiting ? await findHasteAfterSecond(runs, turn) : undefined;
        doubtOfHeld ??= await findResendInOtherRuns(runs, turn);
        if (doubtOfHeld !== undefined) throw new Inconclusive(doubtOfHeld);
        return { kind: "held", key: turn.key.ref };
      }
    }
  }
}

/** So many runs must show a resend. */
const sureResends = 2;
/** So many runs reject the last request at most. */
const maxRejections = 5;

/**
 * What the runs that rejected the last request show together. `sometimes`: the client asks again in some runs only, and nobody can tell why.
 * `neededWaits`: in how many of them the next request must come in time. `neededFailures`: in how many nothing more must come.
 */
function shownTogether(
  kinds: readonly Reaction["kind"][],
  neededWaits: number,
  neededFailures: 1 | 2,
): "held" | "resent" | "sometimes" | "one_more_run" {
  const silentCount = kinds.filter((kind) => kind === "nothing_more").length;
  const resendCount = kinds.filter((kind) => kind === "resent").length;
  // The client gave up in all runs, in some, or in none.
  if (silentCount === kinds.length) return silentCount < neededFailures ? "one_more_run" : "held";
  if (silentCount > 0) return "sometimes";

  if (resendCount === 0) return kinds.length < neededWaits ? "one_more_run" : "held";
  if (resendCount >= sureResends) return "resent";
  return kinds.length < maxRejections ? "one_more_run" : "sometimes";
}

function findDoubtOfReaction({ plain }: Runs, turn: Turn, reaction: Reaction): Reason | undefined {
  switch (reaction.kind) {
    case "not_judged":
      return reaction.reason;
    case "nothing_more": {
      const { key, resendKind } = turn;
      if (isNoticed(reaction.run)) return undefined;
      const doubt = findDoubtOfPass(plain, reaction.run, "replaced");
      return doubt ?? passesUnnoticed(key, resendKind.responseWords);
    }
    case "then_failed":
      return {
        why: `${sentAgainAfter(turn, [reaction.request])}, and the command then failed`,
        whatToDo: "Leave out what sends the key after a failed test, or what counts requests.",
      };
    case "by_other_process":
      return sentByOtherProcess;
    case "in_time":
    case "resent":
      return undefined;
  }
}

/** The client waited after one 429. Rejects its next request, too: a client may send the key again at once after a second 429. All kinds of a 429 share the run. */
async function findHasteAfterSecond(runs: Runs, { key, resendKind }: Turn): Promise<Reason | undefined> {
  const { outcome } = resendKind.check;
  if (outcome === "fault.status") return undefined;
  const { nth } = lastRequest(key);
  const which = { kind: "nth", key: key.ref, nth, isTwice: true } as const;
  const gets = { kind: "rejection", as: outcome, seconds: retryAfterSeconds } as const;
  const run = await runs.makeOnce({
    purpose: { kind: "resend_control" },
    conditions: { onRequest: { which, gets } },
    clientMayWaitMs: 2 * longestWait,
  });
  const early = countedRequests(run, key.ref).find((request) => msIfTooEarly(request) !== undefined);
  if (early === undefined) return undefined;
  return {
    why: `after two 429 in a row, ${keyVariable(key.ref)} was sent again (${early.id}, ${msIfTooEarly(early)} ms later)`,
    whatToDo: resendKind.whatToDo,
  };
}

/**
 * A client may send again only once in a while. In the plain run, it has then sent the first rejected key twice. If the first request with that
 * one is accepted, it sends another one twice.
 */
async function findResendOnceInAWhile(
  runs: Runs,
  { responseWords, whatToDo }: ResendKind,
  isAlike: (outcome: OutcomeId) => boolean,
): Promise<Reason | undefined> {
  for (const accepted of runs.outcomesToJudge) {
    if (!isAlike(accepted) || !runs.isFirstWrongAnswerMade(accepted)) continue;
    const run = await runs.makeWrongAnswer("first", accepted);
    for (const { key: other, isUnknown, requests } of runs.plain.sentKeys) {
      const isRejected = requests.every(({ outcome }) => isAlike(outcome) && outcome !== accepted);
      const sentNow = requestsWith(run, other).length;
      if (isUnknown || !isRejected || sentNow <= requests.length) continue;
      return {
        why: `${keyVariable(other)} got ${responseWords}, and was sent ${sentNow} times in ${nameOf(run.purpose)}, and ${requests.length} in the plain run`,
        whatToDo,
      };
    }
  }
  return undefined;
}

/** The client has given up after a 401 or 403. Finds a run for another check that shows a resend all the same, and returns it as a reason. */
async function findResendInOtherRuns(runs: Runs, { key, resendKind }: Turn): Promise<Reason | undefined> {
  const { check, isTimed, responseWords, whatToDo } = resendKind;
  if (isTimed) return undefined;

  // A varied run that passed shows a resend if more requests got the status and code of this rejection there than in the plain run.
  const { status, code } = outcomeRow(check.outcome);
  const isAlike = (outcome: OutcomeId) => {
    const row = outcomeRow(outcome);
    return row.status === status && row.code === code;
  };
  // Requests without a key, such as those of a probe, send no key again.
  const withKeys = ({ sentKeys }: ClientRun) => ({ sentKeys: sentKeys.filter(({ key }) => key !== "") });
  const countInPlain = countRequests(withKeys(runs.plain), isAlike);
  for (const run of await runs.heldVaried()) {
    if (countRequests(withKeys(run), isAlike) <= countInPlain) continue;
    const why = `more requests got ${responseWords} in ${nameOf(run.purpose)} than in the plain run`;
    return { why, whatToDo };
  }
  const doubt = await findResendOnceInAWhile(runs, resendKind, isAlike);
  if (doubt !== undefined) return doubt;
  if (status !== 401) return undefined;

  // In the run of a wrong answer, the first request with an outcome got a 401 in place of its success. The run shows a resend if the key of
  // that request came again, and the command passed. A first test that polls looks the same.
  for (const outcome of runs.outcomesToJudge) {
    if (!isSuccess(outcome) || !runs.isFirstWrongAnswerMade(outcome)) continue;
    const run = await runs.makeWrongAnswer("first", outcome);
    const counted = countedRequests(run, key.ref);
    const extraRequest = counted[key.requests.length];
    const isHit = counted.some(({ isReplaced }) => isReplaced);
    if (run.result !== "passed" || !isHit || extraRequest === undefined) continue;
    return {
      why: `in ${nameOf(run.purpose)}, ${keyVariable(key.ref)} was sent again after a 401 (${extraRequest.id}), and the command passed`,
      whatToDo: `${whatToDo} If a test waits until the key works, send the key in another test before it.`,
    };
  }
  return undefined;
}

function resendProblem(suspects: readonly SuspectedKind[], { ref }: WorkingKey, plan: CertifyPlan): Finding {
  const names: string[] = [];
  const times: string[] = [];
  // Ids of requests do not depend on what was rejected, so several kinds often have the same id.
  const ids = new Set<string>();
  const fixes = new Set<string>();
  // All of them have a time, or none has one.
  const isTimed = suspects.some(({ resendKind }) => resendKind.isTimed);
  for (const { resendKind, resends } of suspects) {
    const { check, responseWords, whatToDo } = resendKind;
    const first = resends[0] as KeyRequest; // a suspect has one
    const after = `after ${responseWords}`;
    names.push(nameOf(check));
    times.push(isTimed ? `${msIfTooEarly(first)} ms ${after}` : after);
    ids.add(first.id);
    fixes.add(whatToDo);
  }
  if (isTimed) fixes.add("(If your tests replace the pause, move the sandbox's clock by it.)");
  fixes.add(
    "If it is not your client that sends it, but each test (polling) or their runner (a retry of failed tests), turn that off.",
  );

  const requestWord = ids.size === 1 ? "request" : "requests";
  const notAfter404 = isTimed ? "" : ", and not after a 404";
  const sentence = `Sends ${nameOfKey(ref)} again ${listed(times, "and")} (${requestWord} ${listed([...ids], "and")})`;
  return {
    name: names[0] as string, // of a problem, there is a suspect
    // Nothing that runs show tells the client, its tests and its runner apart.
    sentence: `${sentence}${notAfter404}: by the client, by a test that waits, or by its runner's retry of a failed test`,
    whatToDo: [...fixes].join(" "),
    again: againWithOnly(plan, names),
    runs: names,
  };
}
