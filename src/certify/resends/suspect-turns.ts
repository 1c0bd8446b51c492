import { keyVariable } from "../../rules/keys/key-text.js";
import { listed } from "../../schema/words.js";
import type { Reason } from "../checks/judgment.js";
import { isNoticed } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import {
  lastReadNumber,
  runReplacingNth,
  type WhatFollowed,
  type WorkingKey,
  whatFollowed,
} from "./replaced-run.js";
import { nameOfKey, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { type DoubtWords, sentByOtherProcess, turnOffSomePolls } from "./resend-words.js";
import type { Turn } from "./turn-plan.js";

// A turn rejects a request once more, and asks whether the client resends everywhere. So a resend is what each turn must show: the suspicion
// stays if one more request follows in every turn, and a turn without one is the reason to doubt it.

/** Suspects that share a key. */
export interface SuspectsOfKey {
  readonly runs: Runs;
  readonly key: WorkingKey;
  readonly suspects: readonly Suspect[];
}

/** What a turn of the suspects' key shows: a resend, one more request in time, or a reason to doubt the suspicion. */
export type ResultOfTurn =
  | { readonly kind: "resent" | "in_time" }
  | { readonly kind: "doubt"; readonly reason: Reason };

/** Rejects the request of a turn, with the suspects' key: one more must follow, and the command must pass. */
export async function takeTurn(suspected: SuspectsOfKey, turn: Turn): Promise<ResultOfTurn> {
  const followed = await makeRunOfTurn(suspected, turn);
  const hasFailed = followed.kind === "sent_again" && followed.run.result === "failed";
  if (!hasFailed) return resultOfTurn(suspected, turn, followed);
  // A suite that fails at random may fail although one more request came: then the turn is taken once more.
  return resultOfTurn(suspected, turn, await makeRunOfTurn(suspected, turn));
}

async function makeRunOfTurn({ runs }: SuspectsOfKey, { key, nth, resendKind }: Turn): Promise<WhatFollowed> {
  const { rejection, check } = resendKind;
  const request = runReplacingNth(key, nth, rejection, check, waitAfterRejection(resendKind));
  return whatFollowed(await runs.makeAnother(request), key);
}

function resultOfTurn(suspected: SuspectsOfKey, turn: Turn, followed: WhatFollowed): ResultOfTurn {
  const { key, nth, resendKind } = turn;
  const when = `when its request ${nth} of ${lastReadNumber(key)} got ${resendKind.responseWords}`;
  switch (followed.kind) {
    case "not_judged":
      return { kind: "doubt", reason: followed.reason };
    case "nothing":
      return doubtOfSuspicion(suspected, { ending: `but not ${when}`, fix: turnOffSomePolls });
    case "sent_again": {
      const { run, extraRequest, earlyRequest } = followed;
      if (run.result === "failed") {
        return doubtOfSuspicion(suspected, {
          ending: `but the command failed ${when}`,
          fix: turnOffSomePolls,
        });
      }
      if (!resendKind.isTimed) return { kind: "resent" };
      const isByOtherProcess = extraRequest.afterRejection?.kind === "by_other_process";
      if (isByOtherProcess) return { kind: "doubt", reason: sentByOtherProcess };
      return { kind: earlyRequest === undefined ? "in_time" : "resent" };
    }
  }
}

/** Rejects the last request of another key. If a test uses its response, and nothing follows, only tests with the suspects' key may poll. */
export async function findDoubtByOtherKey(suspected: SuspectsOfKey, turn: Turn): Promise<Reason | undefined> {
  const followed = await makeRunOfTurn(suspected, turn);
  switch (followed.kind) {
    case "not_judged":
      return followed.reason;
    case "nothing":
      return isNoticed(followed.run) ? otherKeyIsNotSentAgain(suspected, turn.key) : undefined;
    case "sent_again":
      return undefined;
  }
}

function doubtOfSuspicion(suspected: SuspectsOfKey, words: DoubtWords): ResultOfTurn {
  return { kind: "doubt", reason: sentAgainBut(suspected, words) };
}

/** As in "SVC_KEY_ACTIVE was sent again (req_1), but not when its request 2 of 4 got a 401". */
export function sentAgainBut({ key, suspects }: SuspectsOfKey, { ending, fix }: DoubtWords): Reason {
  return {
    why: `${keyVariable(key.ref)} was sent again (${firstIds(suspects)}), ${ending}`,
    whatToDo: fix,
  };
}

function otherKeyIsNotSentAgain({ key, suspects }: SuspectsOfKey, otherKey: WorkingKey): Reason {
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
