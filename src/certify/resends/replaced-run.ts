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
  /** How many of its requests the plain run accepted. */
  readonly acceptedInPlain: number;
}

/** What followed the replacement. */
type WhatFollowed =
  | { readonly kind: "nothing"; readonly run: ClientRun }
  | {
      readonly kind: "sent_again";
      readonly run: ClientRun;
      /** The first request more than in the plain run. */
      readonly next: KeyRequest;
      /** The first request that came too soon after the replacement, if there is one. */
      readonly early: KeyRequest | undefined;
    }
  | NotMade
  | NotJudged;

/** The run in which the nth request with the key gets this. `wait`: how long the client may wait then, in milliseconds. */
export function replacing(
  { ref }: SteadyKey,
  nth: number,
  gets: Replacement,
  purpose: RunPurpose,
  wait = longestWait,
): RunRequest {
  return { purpose, conditions: { onRequest: { which: { kind: "nth", key: ref, nth }, gets } }, wait };
}

/** What followed in a run that {@link replacing} describes. */
export function whatFollowed(run: ClientRun | NotMade, { ref, acceptedInPlain }: SteadyKey): WhatFollowed {
  if (run.kind === "not_made") return run;
  if (run.result === "timed_out") return notJudged(runTooLate);

  const accepted = acceptedRequests(run, ref);
  const next = accepted[acceptedInPlain];
  if (next === undefined) return { kind: "nothing", run };
  return { kind: "sent_again", run, next, early: accepted.find(({ earlyMs }) => earlyMs !== undefined) };
}

/** The first request with the key that is more than in the plain run, if the run hit a request with this key. */
export function firstExtraRequest(
  run: ClientRun,
  { ref, acceptedInPlain }: SteadyKey,
): KeyRequest | undefined {
  const accepted = acceptedRequests(run, ref);
  const isHit = accepted.some(({ isReplaced }) => isReplaced);
  return isHit ? accepted[acceptedInPlain] : undefined;
}

/** The requests with a key that the sandbox accepts, or would without the conditions of the run. */
export function acceptedRequests({ sent }: ClientRun, ref: string): readonly KeyRequest[] {
  const sentKey = sent.find(({ key }) => key === ref);
  return sentKey === undefined ? [] : acceptedOf(sentKey);
}

/** The accepted requests of a key, without those whose response the client has not read: it may send these again. */
export function acceptedOf({ requests }: SentKey): readonly KeyRequest[] {
  return requests.filter(({ outcome, isUnread }) => isSuccess(outcome) && !isUnread);
}
