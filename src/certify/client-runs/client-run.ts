import type { Report } from "../../report/report-shape.js";
import type { OutcomeId } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import type { RunConditions } from "../../runs/conditions.js";
import type { AfterRejection } from "../../runs/run-trace.js";
import type { VariedPoint } from "../../sandbox/variants.js";
import type { RunPurpose } from "../checks/check.js";

// A run is one start of the client's command, against sandboxes of its own. A part of certify asks for it (RunRequest), the runner gets it
// with its defaults and its timeouts (PlannedRun), and returns how the command ended (RunEnd) and what its requests show (RequestFacts).
// All of these together are a ClientRun.

/** A run that is asked for. A run that has ended can be asked for again. */
export interface RunRequest {
  readonly purpose: RunPurpose;
  /** Default of the profile: `minimal`. */
  readonly conditions?: RunConditions;
  readonly seed?: number;
  /** How long the client may wait before its next request. Default: 0. */
  readonly clientMayWaitMs?: number;
  /** Whether no other run may be under way. Default: false. */
  readonly isAlone?: boolean;
  /** Whether it repeats a run that did not end in time: it is then ended sooner. Default: false. */
  readonly isAfterHang?: boolean;
}

export const plainRunRequest: RunRequest = { purpose: { kind: "plain" } };

export interface PlannedRun extends Required<RunRequest> {
  readonly timeouts: Timeouts;
}

/** When a run is ended, in milliseconds: since its start, and since its last request. */
export interface Timeouts {
  readonly total: number;
  readonly silent: number;
}

/** The requests with one key in a run, in the order in which they came. */
export interface SentKey {
  /** The ref of the key, or the fingerprint of one that no sandbox has; empty for requests without a key. */
  readonly key: string;
  /** Whether no sandbox has the key, or the requests have none. A run with another seed sends another key in place of an unknown one. */
  readonly isUnknown: boolean;
  readonly requests: readonly KeyRequest[];
}

/** One request of the client, and what the conditions of the run did to it. */
export interface KeyRequest {
  readonly id: string;
  /** Its number among all requests with its key in the run, from 1. */
  readonly nth: number;
  /** Where it ended. If the run put something in place of its response: where it would have ended, without any fault. */
  readonly outcome: OutcomeId;
  /** In epoch milliseconds of its sandbox's clock. */
  readonly at: number;
  /** Whether a fault may hit it: it may be sent again, and its response has a body. */
  readonly canTakeFault: boolean;
  readonly isReplaced?: boolean;
  /** Whether the client did not read its response whole: what the client sends then is no resend. */
  readonly isUnread?: boolean;
  /** How it came after the run had replaced the response to the nth request with its key. Default: in time, or before that request. */
  readonly afterRejection?: AfterRejection | undefined;
}

export interface RequestFacts {
  readonly sentKeys: readonly SentKey[];
  /** The variants that its responses had and that `minimal` does not have. */
  readonly points: readonly VariedPoint[];
  readonly replacedCount: number;
  /** The last request of any key, with what it got, also in place of another outcome; `undefined` if it sent none. */
  readonly lastRequest: { readonly id: string; readonly outcome: OutcomeId } | undefined;
  /** The last response of any key that asks the client to wait, by `Retry-After`; `undefined` if there was none. */
  readonly lastAskedWait:
    | { readonly outcome: OutcomeId; readonly status: number; readonly seconds: number }
    | undefined;
  /** The seed that the client's own code sets in place of the run's. */
  readonly ownSeed: number | undefined;
  /** The assumptions that its sandboxes set, and that the run would vary. */
  readonly ownAssumptions: readonly string[];
  readonly scenarios: readonly string[];
  /** The other headers than `x-api-key` in which it sent a key. */
  readonly headersWithKey: readonly string[];
}

export interface RunEnd extends RequestFacts {
  readonly result: "passed" | "failed" | "timed_out";
  /** The exit code; after a signal, 128 plus the number of the signal; `null` if the command did not end in time, or did not start. */
  readonly code: number | null;
  /** The signal that ended it, as in `SIGSEGV`. Default: none. */
  readonly signal?: string | undefined;
  readonly durationMs: number;
  readonly report: Report;
  /** Whether another run was under way at the same time. */
  readonly isShared?: boolean;
  /** The last lines of its output, without keys and colors. */
  readonly output: readonly string[];
  /** Why the command could not be started. */
  readonly failure?: Error & { readonly code?: string | undefined };
}

export interface ClientRun extends PlannedRun, RunEnd {
  /** Its place in the order in which the runs ended, from 1; those of a second pass come after those of the first. */
  readonly number: number;
}

export interface ClientRunner {
  /** Waits until a job is free, and then runs the command. `stopped`: a signal ended the run, or it was not begun because of one. */
  readonly run: (request: PlannedRun) => Promise<RunEnd | "stopped">;
  /** Makes all later runs one at a time. */
  readonly separateRuns: () => void;
  readonly say: (line: string) => void;
}

export function requestsWith({ sentKeys }: Pick<ClientRun, "sentKeys">, ref: string): readonly KeyRequest[] {
  return sentKeys.find(({ key }) => key === ref)?.requests ?? [];
}

export function countRequests(
  { sentKeys }: Pick<ClientRun, "sentKeys">,
  isSuch: (outcome: OutcomeId) => boolean,
): number {
  let count = 0;
  for (const { requests } of sentKeys) count += requests.filter(({ outcome }) => isSuch(outcome)).length;
  return count;
}

/** How the command failed, as in "exit code 1" or "exit code 139, after SIGSEGV". */
export function exitWords({ code, signal }: Pick<ClientRun, "code" | "signal">): string {
  return signal === undefined ? `exit code ${code}` : `exit code ${code}, after ${signal}`;
}

export function isBroken({ result }: ClientRun): boolean {
  return result !== "passed";
}

/** Whether the command failed because of what the run put in place of a response. */
export function isNoticed({ result, replacedCount }: ClientRun): boolean {
  return result === "failed" && replacedCount > 0;
}

/** How long a client may wait for a response, in milliseconds: longer than the usual timeouts. */
export const longestWait = 30_000;

/** The least time of a run after one that did not end, in milliseconds. */
const shortestAfterHang = 10_000;

/**
 * How long a run may take. `timeout`: what --timeout sets. `plainMs`: how long the plain run took; `undefined` for the plain run itself.
 * `clientMayWaitMs`: how long the client may wait before its next request.
 *
 * As an example, the plain run took 10 s, and the client may wait 61 s for the next minute. The run may take 50 s, and the wait besides:
 * 111 s. It may be silent for the wait and for as long as the plain run took: 71 s.
 *
 * `longestPassedMs`: of a run after one that did not end, how long the longest run took that passed without anything in place of a response.
 * All of these needed no more, so five times as long is enough on a busy machine, too.
 */
export function timeoutsFor(
  timeout: number | undefined,
  plainMs: number | undefined,
  clientMayWaitMs = 0,
  longestPassedMs?: number,
): Timeouts {
  let usual = { total: minute, silent: minute };
  if (timeout !== undefined) usual = { total: timeout, silent: timeout };
  else if (plainMs !== undefined) usual = timeoutsAfter(plainMs, clientMayWaitMs, longestWait);
  if (longestPassedMs === undefined) return usual;

  const { total, silent } = timeoutsAfter(longestPassedMs, clientMayWaitMs, shortestAfterHang);
  return { total: Math.min(usual.total, total), silent: Math.min(usual.silent, silent) };
}

/** How long a run may take after one that took `ms`; `least`: at least so long. */
function timeoutsAfter(ms: number, clientMayWaitMs: number, least: number): Timeouts {
  const withoutWait = Math.max(least, 5 * ms);
  if (clientMayWaitMs === 0) return { total: withoutWait, silent: withoutWait };
  const waitAndPlainRun = Math.max(longestWait, clientMayWaitMs) + ms;
  return {
    total: withoutWait + clientMayWaitMs,
    // Never less than in a run in which the client may not wait.
    silent: Math.max(withoutWait, waitAndPlainRun),
  };
}

/** Whether a run may have less time when it is made again: it did not end, and no response asked it to wait, or for longer than it may take. */
export function isEndedSooner({ result, lastAskedWait, timeouts }: ClientRun): boolean {
  const askedMs = 1000 * (lastAskedWait?.seconds ?? 0);
  return result === "timed_out" && (askedMs === 0 || askedMs >= timeouts.total);
}
