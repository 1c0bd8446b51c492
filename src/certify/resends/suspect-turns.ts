import { keyVariable } from "../../rules/key-text.js";
import { listed } from "../../schema/words.js";
import type { Reason } from "../checks/judgment.js";
import { isNoticed, type NotMade } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import {
  lastReadNumber,
  runReplacingNth,
  type SteadyKey,
  type WhatFollowed,
  whatFollowed,
} from "./replaced-run.js";
import { nameOfKey, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { type Doubt, sentByOtherProcess, turnOffSomePolls } from "./resend-words.js";
import type { Turn } from "./turn-plan.js";

/** Suspects that share a key: does something else than the client send it again? */
export interface Suspicion {
  readonly runs: Runs;
  readonly key: SteadyKey;
  readonly suspects: readonly Suspect[];
}

/** What a turn shows of the suspects. */
export type TurnResult =
  /** One more request followed: one that must not come, or one in time. */
  | { readonly kind: "resent" | "in_time" }
  /** The turn was another key's, and is no reason to doubt the suspects. */
  | { readonly kind: "no_doubt" }
  /** The requests of the suspects may have another reason. */
  | { readonly kind: "doubt"; readonly reason: Reason }
  | NotMade;

/** Rejects the request of a turn. */
export async function takeTurn(suspicion: Suspicion, turn: Turn): Promise<TurnResult> {
  const followed = await reject(suspicion, turn);
  if (turn.key.ref !== suspicion.key.ref) return resultOfOtherKey(suspicion, turn, followed);

  const hasFailed = followed.kind === "sent_again" && followed.run.result === "failed";
  if (!hasFailed) return resultOfSuspects(suspicion, turn, followed);
  // A suite that fails at random may fail although one more request came: then the turn is taken once more.
  return resultOfSuspects(suspicion, turn, await reject(suspicion, turn));
}

async function reject({ runs }: Suspicion, { key, nth, resendKind }: Turn): Promise<WhatFollowed> {
  const { rejection, check } = resendKind;
  const request = runReplacingNth(key, nth, rejection, check, waitAfterRejection(resendKind));
  return whatFollowed(await runs.makeAnother(request), key);
}

/** A request with the suspects' key was rejected: one more must follow, and the command must pass. */
function resultOfSuspects(suspicion: Suspicion, turn: Turn, followed: WhatFollowed): TurnResult {
  const { key, nth, resendKind } = turn;
  const when = `when its request ${nth} of ${lastReadNumber(key)} got ${resendKind.responseWords}`;
  switch (followed.kind) {
    case "not_made":
      return followed;
    case "not_judged":
      return { kind: "doubt", reason: followed.reason };
    case "nothing":
      return doubt(suspicion, { ending: `but not ${when}`, fix: turnOffSomePolls });
    case "sent_again": {
      const { run, extraRequest, earlyRequest } = followed;
      if (run.result === "failed") {
        return doubt(suspicion, { ending: `but the command failed ${when}`, fix: turnOffSomePolls });
      }
      if (!resendKind.isTimed) return { kind: "resent" };
      const isByOtherProcess = extraRequest.afterRejection?.kind === "by_other_process";
      if (isByOtherProcess) return { kind: "doubt", reason: sentByOtherProcess };
      return { kind: earlyRequest === undefined ? "in_time" : "resent" };
    }
  }
}

/** The last request of another key was rejected. If a test uses its response, and nothing follows, only tests with the suspects' key may poll. */
function resultOfOtherKey(suspicion: Suspicion, turn: Turn, followed: WhatFollowed): TurnResult {
  switch (followed.kind) {
    case "not_made":
      return followed;
    case "not_judged":
      return { kind: "doubt", reason: followed.reason };
    case "nothing":
      if (!isNoticed(followed.run)) return { kind: "no_doubt" };
      return { kind: "doubt", reason: otherKeyIsNotSentAgain(suspicion, turn.key) };
    case "sent_again":
      return { kind: "no_doubt" };
  }
}

function doubt(suspicion: Suspicion, words: Doubt): TurnResult {
  return { kind: "doubt", reason: doubtOfTurn(suspicion, words) };
}

/** As in "SVC_KEY_ACTIVE was sent again (req_1), but not when its request 2 of 4 got a 401". */
export function doubtOfTurn({ key, suspects }: Suspicion, { ending, fix }: Doubt): Reason {
  return {
    why: `${keyVariable(key.ref)} was sent again (${firstIds(suspects)}), ${ending}`,
    whatToDo: fix,
  };
}

function otherKeyIsNotSentAgain({ key, suspects }: Suspicion, otherKey: SteadyKey): Reason {
  const name = nameOfKey(key.ref);
  const otherName = nameOfKey(otherKey.ref);
  return {
    why: `requests with ${name} are sent again (${firstIds(suspects)}), those with ${otherName} are not`,
    whatToDo: turnOffSomePolls,
  };
}

/** The id of each suspect's first request. */
function firstIds(suspects: readonly Suspect[]): string {
  const ids = new Set(suspects.map(({ firstRequest }) => firstRequest.id));
  return listed([...ids], "and");
}
