import type { Assumptions, Profile } from "../domain/assumptions.js";
import type { FaultPathId, PathId } from "../domain/outcomes.js";
import type { Report } from "../report/report.js";

/** The outcome of certifying a client. Plain data; its texts may hold what the caller wrote: renderers redact and escape. */
export interface CertifyResult {
  /** The bundled name, or the file as it was given. */
  readonly scenario: string;
  /** SHA-256 in hex of its content: that of a file that was moved is the same. */
  readonly scenarioDigest: string;
  /** The version of the API's specification. */
  readonly specification: string;
  /** The version of svc-sandbox. */
  readonly sandbox: string;
  /** The seeds of the runs with the profile `varied`. */
  readonly seeds: readonly number[];
  /** The kinds of faults that were tried, each in a run of its own. */
  readonly faults: readonly FaultPathId[];
  /** The assumptions that the baseline was given, as learned from a real environment. Left out: none. */
  readonly like?: Partial<Assumptions>;
  /** The program of the client and its arguments. */
  readonly command: readonly string[];
  /** ISO 8601 in UTC, on the real clock. */
  readonly startedAt: string;
  /** The real time from the first run to the last, in milliseconds. */
  readonly durationMs: number;
  /** What the caller says of the client. */
  readonly clientVersion?: string;
  /** Every run, in the order of the plan. */
  readonly runs: readonly Run[];
  /** The reports of all runs, merged. */
  readonly report: Report;
  readonly verdict: CertifyVerdict;
}

/** `unusable`: no statement about the client is possible, since the baseline does not pass or the client never calls the API. */
export type CertifyVerdict = (typeof certifyVerdicts)[number];
export const certifyVerdicts = ["passed", "failed", "flaky", "unusable"] as const;

/** `flaky`: the same run passed once and failed once. */
export type RunOutcome = (typeof runOutcomes)[number];
export const runOutcomes = ["passed", "failed", "flaky", "timed_out", "not_run"] as const;

/** One run of the command in a fresh sandbox. */
export interface Run {
  /** As in `varied 7` or `fault.reset`; no two runs have the same. */
  readonly name: string;
  readonly profile: Profile;
  readonly seed: number;
  readonly fault?: FaultPathId;
  readonly outcome: RunOutcome;
  /** The exit code; `null` for a run that was not made, or had to be ended. */
  readonly code: number | null;
  readonly durationMs: number;
  /** The number of requests of the client. */
  readonly requests: number;
  /** The coverage, a whole number, rounded down. */
  readonly percent: number;
  /** The last request before the client ended. */
  readonly lastRequest?: { readonly id: string; readonly pathId: PathId; readonly status: number };
  /** Why it failed, narrowed down. */
  readonly cause?: RunCause;
}

/** The least that breaks the client. */
export interface RunCause {
  /** As in `fails when a 401 has charset=utf-8 in its Content-Type`. */
  readonly sentence: string;
  /** The varied points that all have to be there for the client to fail; none when a fault alone breaks it. */
  readonly points: readonly CausePoint[];
  readonly fault?: FaultPathId;
  /** The path on which it fails, when it is one alone. */
  readonly pathId?: PathId;
}

/** A variant of a row of the variation table, on the answers of one status. */
export interface CausePoint {
  readonly row: string;
  readonly variant: string;
  readonly status: number;
}
