import type { Assumptions } from "../rules/assumptions.js";
import type { OutcomeId } from "../rules/outcomes.js";

/** A variant of a row of the variation table, on the responses of one status. */
export interface VariedPoint {
  readonly row: string;
  readonly variant: string;
  readonly status: number;
}

/** How a request came after the last rejection of the run, and whether it waited as the rejection asked for. */
export interface Arrival {
  readonly afterMs: number;
  readonly when: "early" | "in time" | "late";
}

/** What the conditions of a run show with one request. */
export interface RunTrace {
  /** What varied in its response. */
  readonly points: VariedPoint[];
  /** Where the request would have ended without the fault, wrong answer or rejection of the run that hit it. */
  hit?: OutcomeId | undefined;
  /** Of a request with the key of a resend. */
  arrival?: Arrival | undefined;
  /** The seed that the client's own code sets in place of the run's, and where. */
  readonly pinned?: { readonly seed: number; readonly place?: string | undefined } | undefined;
  /** The name of its sandbox's scenario. */
  readonly scenario: string;
  /** The assumptions that its sandbox sets, and that the run would vary. */
  readonly ownAssumptions: readonly (keyof Assumptions)[];
}
