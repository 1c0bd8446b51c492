import { isSuccess } from "../../rules/outcomes.js";
import type { Replacement } from "../../runs/conditions.js";
import type { RunPurpose } from "../checks/check.js";
import { type NotJudged, notJudged } from "../checks/judgment.js";
import { type ClientRun, type KeyRequest, passedMsIfTooEarly } from "../client-runs/client-run.js";
import { findDoubtOfEnd, noRequestReplaced } from "../client-runs/doubt-of-pass.js";
import type { RunRequest } from "../client-runs/runs.js";
import { longestWait } from "../client-runs/timeouts.js";

// To find resends, a run puts something else in place of the response to one request with a key. What follows is counted: a request more
// than in the plain run is one that the replacement caused. Only requests count whose response the client has read: it may send any other one
// again. As an example, the plain run sends a key three times, and the client does not read the first response. The requests 2 and 3 can be
// replaced, and a third request whose response is read is one too many.

/** A key that the plain run accepted each time. */
export interface WorkingKey {
  readonly ref: string;
  /** The numbers of its requests, from 1, whose response the client read in the plain run, such as 2 and 3. The first request may be missing. */
  readonly numbersOfReadRequests: readonly number[];
}

/** The number of the last request with the key whose response the client reads. */
export function lastReadNumber({ numbersOfReadRequests }: WorkingKey): number {
  return numbersOfReadRequests.at(-1) as number; // only keys with such a request are asked for
}

/** What followed the replacement. */
export type WhatFollowed =
  | { readonly kind: "nothing"; readonly run: ClientRun }
  | {
      readonly kind: "sent_again";
      readonly run: ClientRun;
      /** The first request more than in the plain run, such as the fourth of three. */
      readonly extraRequest: KeyRequest;
      /** The first request that came too early after the replacement; `undefined` if all came in time. It may come before the extra one: a request that the plain run has, too, such as the third of three. */
      readonly earlyRequest: KeyRequest | undefined;
    }
  | NotJudged;

/** Asks for the run in which the last request with the key gets this. `clientMayWaitMs`: how long the client may wait before its next request. */
export function runReplacingLast(
  key: WorkingKey,
  gets: Replacement,
  purpose: RunPurpose,
  clientMayWaitMs = longestWait,
): RunRequest {
  return runReplacingNth(key, lastReadNumber(key), gets, purpose, clientMayWaitMs);
}

/** Asks for the run in which the nth request with the key gets this, from 1. */
export function runReplacingNth(
  { ref }: WorkingKey,
  nth: number,
  gets: Replacement,
  purpose: RunPurpose,
  clientMayWaitMs: number,
): RunRequest {
  const which = { kind: "nth", key: ref, nth } as const;
  return { purpose, conditions: { onRequest: { which, gets } }, clientMayWaitMs };
}

/** What followed in a run that replaces the response to a request with this key. */
export function whatFollowed(run: ClientRun, key: WorkingKey): WhatFollowed {
  const doubt = findDoubtOfEnd(run);
  if (doubt !== undefined) return notJudged(doubt);

  const accepted = acceptedOfRun(run, key.ref);
  const extraRequest = firstBeyondPlain(accepted, key);
  if (extraRequest === undefined) return { kind: "nothing", run };
  // Nothing was put in place of a response, so the replacement has not caused the request.
  if (run.replacedCount === 0) return notJudged(noRequestReplaced);

  const earlyRequest = accepted.find((request) => passedMsIfTooEarly(request) !== undefined);
  return { kind: "sent_again", run, extraRequest, earlyRequest };
}

/** The first of these requests with the key that is more than in the plain run: as in the fourth one, with index 3, if that has three. */
function firstBeyondPlain(accepted: readonly KeyRequest[], key: WorkingKey): KeyRequest | undefined {
  const countInPlain = key.numbersOfReadRequests.length;
  return accepted[countInPlain];
}

/** The first request with the key that is more than in the plain run; `undefined` also if the run hit no request with this key. */
export function extraRequestAfterHit(run: ClientRun, key: WorkingKey): KeyRequest | undefined {
  const accepted = acceptedOfRun(run, key.ref);
  const isHit = accepted.some(({ isReplaced }) => isReplaced);
  return isHit ? firstBeyondPlain(accepted, key) : undefined;
}

/** Whether a run sent the key as often as the plain run. */
export function isSentAsOften(run: ClientRun, { ref, numbersOfReadRequests }: WorkingKey): boolean {
  const countInPlain = numbersOfReadRequests.length;
  return acceptedOfRun(run, ref).length === countInPlain;
}

/** The requests with a key that the sandbox accepts, or would without the conditions of the run, and whose response the client has read. */
function acceptedOfRun({ sentKeys }: ClientRun, ref: string): readonly KeyRequest[] {
  const sentKey = sentKeys.find(({ key }) => key === ref);
  return sentKey === undefined ? [] : sentKey.requests.filter(isAcceptedAndRead);
}

/** Whether a request counts. One whose response the client has not read does not: the client may send it again. */
function isAcceptedAndRead({ outcome, isUnread }: KeyRequest): boolean {
  return isSuccess(outcome) && !isUnread;
}
