import { isSuccess } from "../rules/outcomes.js";
import type { Replacement } from "../runs/conditions.js";
import { type RunPurpose, resendAfter401 } from "./checks/check.js";
import { isOnPurpose } from "./checks/plan.js";
import {
  type ClientRun,
  type KeyRequest,
  longestWait,
  plainRunRequest,
  type RunRequest,
  requestsWith,
} from "./client-runs/client-run.js";
import type { Runs } from "./client-runs/runs.js";

// Resends and faults put something in place of one request: the last one with a key that always works, and that all runs send equally often.
// After it, no other test sends the key. So what follows, on any path and by any method, is one request more than in the plain run:
//
//     plain run                       1--2--3
//     a 401 in place of its last 200  1--2-[3]       nothing more
//                                     1--2-[3]--4    one more

/** A key that the plain run accepted each time, and that other runs send as often, with its requests in the plain run. */
export interface WorkingKey {
  readonly ref: string;
  readonly requests: readonly KeyRequest[];
}

/**
 * Such keys, the default key first. Those that came twice or more come before all others: only of them a client may have kept a response. A
 * client survives a rejection on purpose where --allow names the success.
 */
export async function findWorkingKeys(runs: Runs): Promise<WorkingKey[]> {
  const { plain, plan } = runs;
  const variedRuns = await runs.heldVaried();
  const others = variedRuns.length > 1 ? variedRuns : await runs.makeUpTo(plainRunRequest, 3);
  const keys: WorkingKey[] = [];
  for (const { key: ref, isUnknown, requests } of plain.sentKeys) {
    const isAlwaysAccepted = requests.every(({ outcome }) => {
      return isSuccess(outcome) && !isOnPurpose(plan, { kind: "answer", outcome });
    });
    const isSteady = others.every((run) => requestsWith(run, ref).length === requests.length);
    if (isUnknown || !isAlwaysAccepted || !isSteady) continue;

    if (ref === plan.defaultKey) keys.unshift({ ref, requests });
    else keys.push({ ref, requests });
  }
  const sentTwice = keys.filter(({ requests }) => requests.length > 1);
  const sentOnce = keys.filter(({ requests }) => requests.length === 1);
  return [...sentTwice, ...sentOnce];
}

/** So many keys are tried. What repeats the requests of three repeats those of all. */
const mostTried = 3;

/** The first of these keys with a trial that fits: a run that rejects its last request with a 401, or with a 404 if the client sends it again after a 401. `undefined` if there is none. */
export async function findFittingKey(
  runs: Runs,
  keys: readonly WorkingKey[],
  isFit: (trial: ClientRun, key: WorkingKey) => boolean,
): Promise<WorkingKey | undefined> {
  const check = resendAfter401(runs.outcomesToJudge);
  const gets = { kind: "rejection", as: check.outcome } as const;
  for (const key of keys.slice(0, mostTried)) {
    let trial = await runs.makeOnce(lastRequestRun(key, gets, check));
    if (moreRequests(trial, key).length > 0) trial = await runs.makeOnce(notFoundRun(key));
    if (isFit(trial, key)) return key;
  }
  return undefined;
}

/** Asks for a run in which the last request with the key gets this. */
export function lastRequestRun(
  { ref, requests }: WorkingKey,
  gets: Replacement,
  purpose: RunPurpose,
): RunRequest {
  // A fault counts only the requests that it can hit.
  const counted = gets.kind === "fault" ? requests.filter(({ canTakeFault }) => canTakeFault) : requests;
  const onRequest = { which: { kind: "nth", key: ref, nth: counted.length }, gets } as const;
  return { purpose, conditions: { onRequest }, clientMayWaitMs: longestWait };
}

/** A 404 in place of a rejection: nobody has to repeat that. */
export function notFoundRun(key: WorkingKey): RunRequest {
  const notFound = { kind: "rejection", as: "404.unknown_path" } as const;
  return lastRequestRun(key, notFound, { kind: "resend_control" });
}

/** The requests with the key that the plain run does not have, in a run that put something in place of one of them. */
export function moreRequests(run: ClientRun, { ref, requests }: WorkingKey): readonly KeyRequest[] {
  if (run.replacedCount === 0) return [];
  return requestsWith(run, ref).slice(requests.length);
}
