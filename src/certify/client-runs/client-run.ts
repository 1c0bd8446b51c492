import type { Report } from "../../report/report-shape.js";
import type { OutcomeId } from "../../rules/outcomes.js";
import type { RunConditions } from "../../runs/conditions.js";
import type { AfterRejection } from "../../runs/run-trace.js";
import type { VariedPoint } from "../../sandbox/variants.js";
import type { RunPurpose } from "../checks/check.js";
import type { Timeouts } from "./timeouts.js";

// A run is one start of the client's command, against sandboxes of its own. Its types, in the order in which a run gets them:
//
//     PlannedRun      what it is made for, and its conditions
//     RunEnd          how its command ended, with the RequestFacts: what its requests show; or NotMade
//     EndedRun        PlannedRun and RunEnd, with its number: only a run that was made
//     ClientRun       what the checks read of a run, also of one that was not made: PlannedRun and RequestFacts, without report and duration

/** The requests with one key in a run. */
export interface SentKey {
  /** The ref of the key, or the fingerprint of one that no sandbox has; empty for requests without a key. */
  readonly key: string;
  /** Whether no sandbox has the key, or the requests have none. A run with another seed sends another key in place of an unknown one. */
  readonly isUnknown: boolean;
  /** In the order in which they came. */
  readonly requests: readonly KeyRequest[];
}

/** One request of the client, and what the conditions of the run did to it. */
export interface KeyRequest {
  readonly id: string;
  /** Where it ended. If the run put something in place of its response: where it would have ended, without any fault. */
  readonly outcome: OutcomeId;
  /** When it came, in epoch milliseconds of its sandbox's clock. */
  readonly at: number;
  /** Whether a fault may hit it: it may be sent again, and its response has a body. */
  readonly canTakeFault: boolean;
  /** Whether the run put something else in place of its response. */
  readonly isReplaced?: boolean;
  /** Whether the client did not read its response whole: what the client sends then is no resend. */
  readonly isUnread?: boolean;
  /** How it came after the run had replaced the response to the nth request with its key. Default: in time, or before that request. */
  readonly afterRejection?: AfterRejection | undefined;
}

/** The last request of a run. */
interface LastRequest {
  readonly id: string;
  /** What the client got, also in place of another outcome. */
  readonly outcome: OutcomeId;
}

/** A response that asks the client to wait, by `Retry-After`. */
interface AskedWait {
  readonly outcome: OutcomeId;
  readonly status: number;
  readonly seconds: number;
}

/** A run that is asked for. */
export interface PlannedRun {
  /** Several runs may have one purpose, such as all that reject the last request with a 401. */
  readonly purpose: RunPurpose;
  readonly seed: number;
  readonly conditions: RunConditions;
  /** How long the client may wait before its next request. */
  readonly clientMayWaitMs: number;
  readonly timeouts: Timeouts;
  /** Whether no other run may be under way. */
  readonly isAlone: boolean;
}

/** What the requests of a run show, over all its sandboxes. */
export interface RequestFacts {
  readonly sentKeys: readonly SentKey[];
  /** The variants that its responses had and that `minimal` does not have, by row and status. */
  readonly points: readonly VariedPoint[];
  /** How many requests the conditions of the run hit. */
  readonly replacedCount: number;
  /** The last request of any key, with what it got; `undefined` if it sent none. */
  readonly lastRequest: LastRequest | undefined;
  /** The last response of any key that asks the client to wait; `undefined` if there was none. */
  readonly lastAskedWait: AskedWait | undefined;
  /** The seed that the client's own code sets in place of the run's. */
  readonly ownSeed: number | undefined;
  /** The assumptions that its sandboxes set, and that the run would vary. */
  readonly ownAssumptions: readonly string[];
  /** The names of the scenarios of its sandboxes. */
  readonly scenarios: readonly string[];
}

/** What a run shows that has sent no request. */
export const noRequestFacts: RequestFacts = {
  sentKeys: [],
  points: [],
  replacedCount: 0,
  lastRequest: undefined,
  lastAskedWait: undefined,
  ownSeed: undefined,
  ownAssumptions: [],
  scenarios: [],
};

/** How the command of a run ended, and what its requests show. */
export interface RunEnd extends RequestFacts {
  readonly kind: "ended";
  readonly result: "passed" | "failed" | "timed_out";
  /** The exit code; after a signal, 128 plus the number of the signal; `null` if the command did not end in time, or did not start. */
  readonly code: number | null;
  readonly durationMs: number;
  readonly report: Report;
  /** Whether another run was under way at the same time. */
  readonly isShared?: boolean;
  /** The last lines of its output, without keys and colors. */
  readonly output: readonly string[];
  /** Why the command could not be started. */
  readonly failure?: Error & { readonly code?: string | undefined };
}

/** A run that a signal ended, or that was not begun because of one. */
export interface NotMade {
  readonly kind: "not_made";
}

/** A run that was asked for, as the checks see it. Of one that was not made, there is nothing to see. */
export interface ClientRun extends PlannedRun, RequestFacts {
  readonly result: RunEnd["result"] | NotMade["kind"];
  readonly code: RunEnd["code"];
  readonly isShared?: boolean;
  readonly output: readonly string[];
}

/** A run that has ended. */
export interface EndedRun extends PlannedRun, RunEnd {
  /** Its place in the order in which the runs ended, from 1; those of a second pass come after those of the first. */
  readonly number: number;
}

/** Runs the client's command. */
export interface ClientRunner {
  /** Waits until a job is free, and then runs the command. */
  readonly run: (request: PlannedRun) => Promise<RunEnd | NotMade>;
  /** Makes all later runs one at a time. */
  readonly separateRuns: () => void;
  /** Shows a line of progress. */
  readonly say: (line: string) => void;
}

/** How many milliseconds had passed since the rejection of its key when a request came too early; `undefined` for any other request. */
export function passedMsIfTooEarly({ afterRejection }: KeyRequest): number | undefined {
  return afterRejection?.kind === "too_early" ? afterRejection.ms : undefined;
}

/** Whether certify was stopped before the run ended. */
export function isNotMade({ result }: ClientRun): boolean {
  return result === "not_made";
}

/** Whether the command failed, or did not end in time. */
export function isBroken({ result }: ClientRun): boolean {
  return result === "failed" || result === "timed_out";
}

/** Whether the command failed because of what the run put in place of a response. */
export function isNoticed({ result, replacedCount }: ClientRun): boolean {
  return result === "failed" && replacedCount > 0;
}
