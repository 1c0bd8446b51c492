import { isSuccess } from "../../rules/outcomes.js";
import type { Replacement } from "../../runs/conditions.js";
import type { RunPurpose } from "../checks/check.js";
import { type NotJudged, notJudged, runTooLate } from "../checks/judgment.js";
import type { ClientRun, KeyRequest, NotMade, SentKey } from "../client-runs/client-run.js";
import type { RunRequest } from "../client-runs/runs.js";
import { longestWait } from "../client-runs/timeouts.js";

// To find resends, a run puts something else in place of the response to one request with a key. What follows is counted: a request more
// than in the plain run is one that the replacement caused.

/** A key that each run sends equally often. If one of its requests gets another response and there are more in all, something resends it. */
export interface SteadyKey {
  readonly kind: "steady_key";
  readonly ref: string;
  /** How many of its requests the plain run accepted and the client read. It is also the number of the last one, from 1, in a run that replaces a response. */
  readonly usualCount: number;
}

/** What followed the replacement. */
type WhatFollowed =
  | { readonly kind: "nothing"; readonly run: ClientRun }
  | {
      readonly kind: "sent_again";
      readonly run: ClientRun;
      /** The first request more than in the plain run, such as the fourth of three. */
      readonly next: KeyRequest;
      /** The first request that came too soon after the replacement, if there is one. It may be one of the usual ones, such as the third of three. */
      readonly early: KeyRequest | undefined;
    }
  | NotMade
  | NotJudged;

/** Asks for the run in which the last request with the key gets this. `clientMayWaitMs`: how long the client may wait before its next request. */
export function runReplacingLast(
  key: SteadyKey,
  gets: Replacement,
  purpose: RunPurpose,
  clientMayWaitMs = longestWait,
): RunRequest {
  return runReplacingNth(key, key.usualCount, gets, purpose, clientMayWaitMs);
}

/** Asks for the run in which the nth request with the key gets this, from 1. */
export function runReplacingNth(
  { ref }: SteadyKey,
  nth: number,
  gets: Replacement,
  purpose: RunPurpose,
  clientMayWaitMs: number,
): RunRequest {
  const which = { kind: "nth", key: ref, nth } as const;
  return { purpose, conditions: { onRequest: { which, gets } }, clientMayWaitMs };
}

/** What followed in a run that replaces the response to a request with this key. */
export function whatFollowed(run: ClientRun | NotMade, key: SteadyKey): WhatFollowed {
  if (run.kind === "not_made") return run;
  if (run.result === "timed_out") return notJudged(runTooLate);

  const accepted = acceptedOfRun(run, key.ref);
  const next = requestBeyondUsual(accepted, key);
  if (next === undefined) return { kind: "nothing", run };
  return { kind: "sent_again", run, next, early: accepted.find(({ earlyMs }) => earlyMs !== undefined) };
}

/** The first request with the key that is more than in the plain run, if the run hit a request with this key, whatever that got. */
export function firstExtraRequest(run: ClientRun, key: SteadyKey): KeyRequest | undefined {
  const accepted = acceptedOfRun(run, key.ref);
  const isHit = accepted.some(({ isReplaced }) => isReplaced);
  return isHit ? requestBeyondUsual(accepted, key) : undefined;
}

/** The first of these requests that is more than in the plain run; `undefined` if there are no more. */
function requestBeyondUsual(
  accepted: readonly KeyRequest[],
  { usualCount }: SteadyKey,
): KeyRequest | undefined {
  return accepted[usualCount];
}

/** The requests with a key that the sandbox accepts, or would without the conditions of the run. */
export function acceptedOfRun({ sentKeys }: ClientRun, ref: string): readonly KeyRequest[] {
  const sentKey = sentKeys.find(({ key }) => key === ref);
  return sentKey === undefined ? [] : acceptedRequests(sentKey);
}

/** The accepted requests of a key, without those whose response the client has not read: it may send these again. */
export function acceptedRequests({ requests }: SentKey): readonly KeyRequest[] {
  return requests.filter(({ outcome, isUnread }) => isSuccess(outcome) && !isUnread);
}
