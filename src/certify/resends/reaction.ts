import { keyVariable } from "../../rules/keys/key-text.js";
import { isSuccess } from "../../rules/outcomes.js";
import type { Replacement, RunConditions } from "../../runs/conditions.js";
import { type NotJudged, notJudged, runTooLate } from "../checks/judgment.js";
import {
  type ClientRun,
  type KeyRequest,
  longestWait,
  type RunRequest,
  requestsWith,
} from "../client-runs/client-run.js";
import { noRequestReplaced } from "../client-runs/doubt-of-pass.js";
import type { Runs } from "../client-runs/runs.js";
import type { ResendKind } from "./resend-kinds.js";

// A run replaces the response to one request with a key: by a rejection or, in a control run, by a 404 or the late response itself. How does
// the client react? A request more than in the plain run is one that the replacement caused:
//
//     plain run                   1--2--3
//     its last response replaced  1--2-[3]       nothing more: the client stops
//                                 1--2-[3]--4    one more, which counts by its time if the rejection has one
//
// Only requests count whose response the client has read: it may send any other one again. As an example, the plain run sends a key three
// times, and the client does not read the first response. The requests 2 and 3 count, and can be replaced; a third one that counts is one more.

/** A key that the plain run accepted each time, with its requests there that count. */
export interface WorkingKey {
  readonly ref: string;
  readonly requests: readonly KeyRequest[];
}

/** The requests with a key that count in a run: the sandbox accepts them, or would without the conditions of the run, and the client has read the response. */
export function countedRequests(run: ClientRun, ref: string): KeyRequest[] {
  return requestsWith(run, ref).filter(({ outcome, isUnread }) => isSuccess(outcome) && !isUnread);
}

export function lastRequest({ requests }: WorkingKey): KeyRequest {
  return requests.at(-1) as KeyRequest; // only keys with such a request are asked for
}

/** How many milliseconds had passed since the rejection of its key when a request came too early; `undefined` for any other request. */
export function msIfTooEarly({ afterRejection }: KeyRequest): number | undefined {
  return afterRejection?.kind === "too_early" ? afterRejection.ms : undefined;
}

/** What the client did in a run that replaced the response to one request with a key. */
export type Reaction =
  | { readonly kind: "nothing_more"; readonly run: ClientRun }
  | {
      /**
       * One request more came. `then_failed`: and the command failed: a test that failed may send the key again, to find out why. After a
       * rejection with a time, `by_other_process`: nobody knows when; `in_time`: not before its time. `resent`: any other one, which must not come.
       */
      readonly kind: "then_failed" | "by_other_process" | "in_time" | "resent";
      /** The first request that came too early, if there is one: it may be one that the plain run has, too. Otherwise the first one more. */
      readonly request: KeyRequest;
    }
  | NotJudged;

/** What the client did in this run. `isTimed`: whether the request got a rejection after whose time the key may be sent again. */
export function reactionIn(run: ClientRun, { ref, requests }: WorkingKey, isTimed: boolean): Reaction {
  if (run.result === "timed_out") return notJudged(runTooLate);
  const counted = countedRequests(run, ref);
  const extraRequest = counted[requests.length];
  if (extraRequest === undefined) return { kind: "nothing_more", run };
  // Nothing was put in place of a response, so the replacement has not caused the request.
  if (run.replacedCount === 0) return notJudged(noRequestReplaced);

  if (run.result === "failed") return { kind: "then_failed", request: extraRequest };
  if (!isTimed) return { kind: "resent", request: extraRequest };
  const isByOtherProcess = extraRequest.afterRejection?.kind === "by_other_process";
  if (isByOtherProcess) return { kind: "by_other_process", request: extraRequest };
  const earlyRequest = counted.find((request) => msIfTooEarly(request) !== undefined);
  if (earlyRequest !== undefined) return { kind: "resent", request: earlyRequest };
  return { kind: "in_time", request: extraRequest };
}

/** Asks for a control run, in which the last request with the key gets this. `clientMayWaitMs`: how long the client may wait before its next request. */
export function controlRun(key: WorkingKey, gets: Replacement, clientMayWaitMs = longestWait): RunRequest {
  const conditions = replacing(key, lastRequest(key), gets);
  return { purpose: { kind: "resend_control" }, conditions, clientMayWaitMs };
}

function replacing({ ref }: WorkingKey, { nth }: KeyRequest, gets: Replacement): RunConditions {
  return { onRequest: { which: { kind: "nth", key: ref, nth }, gets } };
}

/** A request with a key that a run rejects with this kind of rejection. */
export interface Turn {
  readonly key: WorkingKey;
  readonly request: KeyRequest;
  readonly resendKind: ResendKind;
}

/** A kind of rejection of the last request after which the key came again. Other reasons for that must still be excluded. */
export interface SuspectedKind extends Turn {
  readonly kind: "suspect";
  /** The requests that must not have come, one of each run that shows it. */
  readonly resends: readonly KeyRequest[];
}

/** Makes a new run in which the request of this turn is rejected. */
export async function takeTurn(runs: Runs, { key, request, resendKind }: Turn): Promise<Reaction> {
  const { check, rejection, clientMayWaitMs, isTimed } = resendKind;
  const conditions = replacing(key, request, rejection);
  const run = await runs.makeAnother({ purpose: check, conditions, clientMayWaitMs });
  return reactionIn(run, key, isTimed);
}

export const sentByOtherProcess = {
  why: "another process of the command sent the key after the rejection, whose clock no run shows",
  whatToDo: "Send the key in tests of one process only.",
};

/** As in "after a 401, SVC_KEY_ACTIVE was sent again (req_1)". The request is the first one that came too soon, if there is one. */
export function sentAgainAfter({ key, resendKind }: Turn, requests: readonly KeyRequest[]): string {
  const early = requests.find((request) => msIfTooEarly(request) !== undefined);
  let ids = String(requests[0]?.id);
  if (resendKind.isTimed && early !== undefined) ids = `${early.id}, ${msIfTooEarly(early)} ms later`;
  return `after ${resendKind.responseWords}, ${keyVariable(key.ref)} was sent again (${ids})`;
}
