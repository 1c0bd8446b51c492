import { keyVariable } from "../../rules/keys/key-text.js";
import { isSuccess, type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import { nameOf } from "../checks/check.js";
import { type Held, type NotJudged, notJudged, type Reason } from "../checks/judgment.js";
import { type ClientRun, countRequests, isNoticed, type KeyRequest } from "../client-runs/client-run.js";
import { findDoubtOfPass } from "../client-runs/doubt-of-pass.js";
import { failuresNeeded, makePlainRunsNextToFailures } from "../client-runs/failures.js";
import type { Runs } from "../client-runs/runs.js";
import {
  countedRequests,
  msIfTooEarly,
  type Reaction,
  sentByOtherProcess,
  type Turn,
  takeTurn,
} from "./reaction.js";
import { passesUnnoticed } from "./steady-key.js";

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

/** A kind of rejection of the last request after which the key came again. Other reasons for that must still be excluded. */
export interface SuspectedKind extends Turn {
  readonly kind: "suspect";
  /** The requests that must not have come, one of each run that shows it. */
  readonly resends: readonly KeyRequest[];
}

/** Rejects the last request with the key in run after run, until they show something together. `neededWaits`: see `shownTogether`. */
export async function tryKind(
  runs: Runs,
  turn: Turn,
  neededWaits: number,
): Promise<Held | NotJudged | SuspectedKind> {
  const kinds: Reaction["kind"][] = [];
  const requests: KeyRequest[] = [];
  const resends: KeyRequest[] = [];
  for (;;) {
    const reaction = await takeTurn(runs, turn);
    const doubt = findDoubtOfReaction(runs, turn, reaction);
    if (doubt !== undefined) return notJudged(doubt);
    kinds.push(reaction.kind);
    if ("request" in reaction) requests.push(reaction.request);
    if (reaction.kind === "resent") resends.push(reaction.request);

    switch (shownTogether(kinds, neededWaits, failuresNeeded(runs.plan))) {
      case "one_more_run":
        continue;
      case "resent":
        return { ...turn, kind: "suspect", resends };
      case "sometimes":
        return notJudged({
          why: `${sentAgainAfter(turn, requests)}, but only in some runs`,
          whatToDo:
            "Find out what else it depends on, such as the order of tests. If your client waits at random, add to the time, never subtract from it.",
        });
      case "held": {
        if (kinds.includes("nothing_more")) await makePlainRunsNextToFailures(runs);
        const doubtOfHeld = await findResendInOtherRuns(runs, turn);
        return doubtOfHeld === undefined ? { kind: "held", key: turn.key.ref } : notJudged(doubtOfHeld);
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

/** As in "after a 401, SVC_KEY_ACTIVE was sent again (req_1)". The request is the first one that came too soon, if there is one. */
export function sentAgainAfter({ key, resendKind }: Turn, requests: readonly KeyRequest[]): string {
  const early = requests.find((request) => msIfTooEarly(request) !== undefined);
  let ids = String(requests[0]?.id);
  if (resendKind.isTimed && early !== undefined) ids = `${early.id}, ${msIfTooEarly(early)} ms later`;
  return `after ${resendKind.responseWords}, ${keyVariable(key.ref)} was sent again (${ids})`;
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
