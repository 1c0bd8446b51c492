import type { Endpoint } from "../api/endpoint.js";
import type { Report } from "../report/report-shape.js";
import type { PathId } from "../rules/outcomes.js";
import type { RunConditions } from "../sandbox/conditions.js";
import { type Purpose, type RunFacts, type Writes, whyNoEvidence } from "./evidence.js";
import type { PlannedRun, Timeouts } from "./plan.js";
import type { CertifyResult, PromiseRun, Run } from "./result.js";
import type { CountedRun, ObservedTries } from "./retries.js";

export interface ClientRun extends Pick<Run, "code" | "durationMs" | "lastRequest">, ObservedTries, RunFacts {
  readonly outcome: "passed" | "failed" | "timed_out";
  readonly report: Report;
  readonly lastOn: (statuses: readonly number[]) => Run["lastRequest"];
  /** A path where a fault affected a request. */
  readonly suspect: PathId | undefined;
  /** The assumptions that its sandboxes set, and that the run would vary. */
  readonly unvaried: readonly string[];
  /** The scenarios of its sandboxes. */
  readonly scenarios: readonly string[];
  readonly writes: Writes;
  /** Whether another run was under way at the same time. */
  readonly isShared?: boolean;
  /** The last lines of its output, without keys and colors. */
  readonly output: readonly string[];
  readonly failure?: Error & { readonly code?: string | undefined };
}

export interface CertificationPlan {
  /** The baseline first. */
  readonly runs: readonly [PlannedRun, ...PlannedRun[]];
  readonly jobs: number;
  /** Milliseconds for each run. Default: see {@link timeoutsFor}. */
  readonly timeout?: number | undefined;
  readonly endpoints: readonly Endpoint[];
  readonly kinds: CertifyResult["promises"]["kinds"];
  /** The names of the only promises and experiments. Default: all. */
  readonly only?: readonly string[] | undefined;
  readonly bail?: boolean | undefined;
  /** Maximum milliseconds for all runs together. */
  readonly budget?: number | undefined;
}

export interface Progress {
  /** Starts a phase. */
  readonly begin: (what: string) => void;
  readonly ran: (run: Run) => void;
  readonly broke: (run: PromiseRun) => void;
  /** Counts another attempt to find a cause. */
  readonly tried: () => void;
  readonly found: (run: Run) => void;
}

export interface RunLimits {
  readonly timeouts: Timeouts;
  readonly isWanted: () => boolean;
  /** Whether a run ends after its conditions hit so many requests. Default: never. */
  readonly isOver?: ((hits: number) => boolean) | undefined;
  /** Whether no other run may be under way. Default: false. */
  readonly isAlone?: boolean | undefined;
}

export interface Tools {
  /** Runs the client once it is its turn; `undefined` if the run is no longer wanted then, or stopped. */
  readonly run: (
    planned: PlannedRun,
    conditions: RunConditions,
    limits: RunLimits,
  ) => Promise<ClientRun | undefined>;
  /** Makes all later runs one at a time, because this run failed next to another and passed alone. */
  readonly separate: (run: PlannedRun) => void;
  readonly isStopped: () => boolean;
  /** Real time in milliseconds. */
  readonly stopwatch: () => number;
  readonly progress: Progress;
}

export function runOf(planned: PlannedRun, clientRun: ClientRun, baseline: Pick<RunFacts, "sent">): Run {
  const { outcome, code, durationMs, lastRequest, report } = clientRun;
  const { requests, coverage } = report;
  const facts = { ...planned, outcome, code, durationMs, requests, percent: coverage.percent };
  const run = lastRequest === undefined ? facts : { ...facts, lastRequest };
  if (outcome !== "passed") return run;
  const reason = whyNoEvidence(baseline, clientRun, purposeOf(planned));
  return reason === undefined ? run : { ...run, outcome: "not_tried", reason };
}

function purposeOf({ profile, fault }: PlannedRun): Purpose {
  if (fault !== undefined) return "fault";
  return profile === "minimal" ? "requests" : "points";
}

export function notRun(planned: PlannedRun): Run {
  return { ...planned, outcome: "not_run", code: null, durationMs: 0, requests: 0, percent: 0 };
}

export function countedOf({ sent, outcome }: ClientRun): CountedRun {
  return { sent, failed: outcome !== "passed", isTimedOut: outcome === "timed_out" };
}
