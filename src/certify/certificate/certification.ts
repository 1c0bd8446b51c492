import type { Judgment, Reason } from "../checks/judgment.js";
import type { EndedRun } from "../client-runs/client-run.js";

/**
 * What certify has found out about a client. `not_started`: the command cannot be started. `no_run`: certify was stopped before even the plain
 * run ended.
 */
export type Certification =
  | JudgedClient
  | { readonly kind: "not_started"; readonly failure: NonNullable<EndedRun["failure"]> }
  | { readonly kind: "no_run" };

/** A client of which at least the plain run ended. */
export interface JudgedClient extends Judgment {
  readonly kind: "judged";
  /** How many runs were made. */
  readonly runCount: number;
  readonly plain: EndedRun;
  /** Whether a signal ended certify before its last run. */
  readonly isStopped: boolean;
  /** Why the client cannot be judged, or not wholly. Default: it can. */
  readonly whyNotJudged?: Reason;
  /** The scenarios of the client's sandboxes. */
  readonly scenarios: readonly string[];
}
