import type { Report } from "../../report/report-shape.js";
import { isFault } from "../../rules/fault-effects.js";
import type { OutcomeId } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import type { AfterRejection, RunConditions } from "../../runs/conditions.js";
import type { VariedPoint } from "../../sandbox/variants.js";
import { listed } from "../../schema/words.js";
import type { RunPurpose } from "../checks/check.js";
import { notJudged, type ResultOfCheck } from "../checks/judgment.js";

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
}

export const plainRunRequest: RunRequest = { purpose: { kind: "plain" } };

/** Asks for a run in which the first request with this outcome, or each one, gets the wrong answer: a 401 in place of a success, and a 200 in place of a rejection. */
export function wrongAnswerRun(kind: "first" | "each", outcome: OutcomeId) {
  const onRequest = { which: { kind, outcome }, gets: { kind: "wrong_answer" } } as const;
  const purpose = { kind: "answer", outcome } as const;
  return { purpose, conditions: { onRequest } } satisfies RunRequest;
}

export interface PlannedRun extends Required<RunRequest> {
  /** When it is ended, in milliseconds: since its start, and since its last request. */
  readonly timeouts: { readonly total: number; readonly silent: number };
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
  /** The last lines of its output, without keys and colors. */
  readonly output: readonly string[];
  /** Why the command could not be started. */
  readonly failure?: Error & { readonly code?: string | undefined };
}

export interface ClientRun extends PlannedRun, RunEnd {
  /** Its place in the order in which the runs ended, from 1. */
  readonly number: number;
}

export interface ClientRunner {
  /** Waits until a job is free, and then runs the command. `stopped`: a signal ended the run, or it was not begun because of one. */
  readonly run: (request: PlannedRun) => Promise<RunEnd | "stopped">;
  /** How many runs it makes at the same time. */
  readonly jobs: number;
  readonly say: (line: string) => void;
}

export function requestsWith({ sentKeys }: Pick<ClientRun, "sentKeys">, ref: string): readonly KeyRequest[] {
  return sentKeys.find(({ key }) => key === ref)?.requests ?? [];
}

export function isBroken({ result }: ClientRun): boolean {
  return result !== "passed";
}

/** How the command ended, in words. */
export function endWords({ result }: Pick<ClientRun, "result">): string {
  return result === "timed_out" ? "did not end in time" : result;
}

/** Whether the command failed because of what the run put in place of a response. */
export function isNoticed({ result, replacedCount }: ClientRun): boolean {
  return result === "failed" && replacedCount > 0;
}

/** How long a client may wait for a response, in milliseconds: longer than the usual timeouts. */
export const longestWait = 30_000;

/**
 * How long a run may take. `timeout`: what --timeout sets. `plainMs`: how long the plain run took; `undefined` for the plain run itself.
 * `clientMayWaitMs`: how long the client may wait before its next request. `least`: the time that every run has.
 *
 * As an example, the plain run took 10 s, and the client may wait 61 s for the next minute. The run may take 50 s, and the wait besides:
 * 111 s. It may be silent for the wait and for as long as the plain run took: 71 s.
 */
export function timeoutsFor(
  timeout: number | undefined,
  plainMs: number | undefined,
  clientMayWaitMs = 0,
  least = longestWait,
): PlannedRun["timeouts"] {
  if (timeout !== undefined) return { total: timeout, silent: timeout };
  if (plainMs === undefined) return { total: minute, silent: minute };

  const withoutWait = Math.max(least, 5 * plainMs);
  if (clientMayWaitMs === 0) return { total: withoutWait, silent: withoutWait };
  const waitAndPlainRun = Math.max(longestWait, clientMayWaitMs) + plainMs;
  return {
    total: withoutWait + clientMayWaitMs,
    // Never less than in a run in which the client may not wait.
    silent: Math.max(withoutWait, waitAndPlainRun),
  };
}

/**
 * What a run shows that did not fail: that the client does what it should, or nothing. `whatWasTried`: responses that vary, or a response
 * that the run replaces. The command must send what it sent in the plain run: with a cache of tests, it passes whatever the sandbox does.
 */
export function resultOfPass(
  plain: Pick<ClientRun, "sentKeys">,
  run: Pick<ClientRun, "number" | "result" | "sentKeys" | "ownSeed" | "points" | "replacedCount">,
  whatWasTried: "varied" | "replaced",
): ResultOfCheck {
  if (run.result === "timed_out") {
    return notJudged(`the command did not end in time in run ${run.number}`, "Set a longer --timeout.");
  }
  const missing = missingRequests(plain, run);
  if (missing.length > 0) {
    const named = missing.length > 3 ? [...missing.slice(0, 3), "others"] : missing;
    return notJudged(
      `the command did not send what it sent in the plain run: ${listed(named, "and")}`,
      "Send the same keys to the same endpoints in each run: turn off what keeps results from one run to the next, such as a cache on disk, or one of tests (`--rerun-tasks` of Gradle, `--force` of Turborepo, `--skip-nx-cache` of Nx).",
    );
  }
  if (whatWasTried === "replaced") {
    if (run.replacedCount > 0) return { kind: "held" };
    return notJudged(
      "no request was hit",
      "Send the requests of the plain run again: without a cache of your client's own on disk.",
    );
  }
  if (run.ownSeed !== undefined) {
    return notJudged(
      `your code sets the seed ${run.ownSeed}`,
      "Leave the seed out: the sandbox then has the run's.",
    );
  }
  if (run.points.length > 0) return { kind: "held" };
  return notJudged("no response varied", "Leave out what your tests set themselves, such as assumptions.");
}

/** What the plain run sent and this run did not, as in "`active` (200.test)". A key of which a request was hit is left out: what follows may change with it. */
function missingRequests(plain: Pick<ClientRun, "sentKeys">, run: Pick<ClientRun, "sentKeys">): string[] {
  const keysHit = new Set<string>();
  const missing = new Set<string>();
  for (const { key, requests } of run.sentKeys) {
    if (requests.some(({ isReplaced }) => isReplaced)) keysHit.add(key);
  }
  for (const sentKey of plain.sentKeys) {
    if (keysHit.has(sentKey.key)) continue;
    for (const request of requestWords(sentKey)) missing.add(request);
  }
  for (const sentKey of run.sentKeys) {
    for (const request of requestWords(sentKey)) missing.delete(request);
  }
  return [...missing];
}

/** The requests with one key in words, without those that a fault of the client's own tests hit. */
function requestWords({ key, isUnknown, requests }: SentKey): string[] {
  const words: string[] = [];
  for (const { outcome } of requests) {
    if (isFault(outcome)) continue;
    words.push(isUnknown ? `a request that ends on ${outcome}` : `\`${key}\` (${outcome})`);
  }
  return words;
}
