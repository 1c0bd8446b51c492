import type { Assumptions } from "../rules/assumptions.js";
import type { OutcomeId } from "../rules/outcomes.js";

// What a client's run keeps of each request. `certify` judges the client by it: whether it sends a rejected key again before its
// time, which open points its tests fail on, and whether its own code hides the conditions of the run.

/** A variant of a row of the variation table, on the responses of one status. */
export interface VariedPoint {
  readonly row: string;
  readonly variant: string;
  readonly status: number;
}

/** What the conditions of a run do to one request. */
export interface ConditionEffect {
  /** The outcome of the response that the run has replaced. Default: it has replaced none. */
  readonly replaced?: OutcomeId | undefined;
  /** Milliseconds since the run rejected the key, if the client has sent it again before it had waited long enough. */
  readonly earlyMs?: number | undefined;
  /** Whether another process of the run has rejected the key, which knows when: here, how early the key came again is unknown. */
  readonly isElsewhere?: true;
}

/** What a run shows with one request. */
export interface RunTrace extends ConditionEffect {
  /** The variants that its response shows. */
  readonly points: readonly VariedPoint[];
  /** The seed that the client's own code sets in place of the run's, and where. */
  readonly pinned?: { readonly seed: number; readonly place?: string | undefined } | undefined;
  /** The name of its sandbox's scenario. */
  readonly scenario: string;
  /** The assumptions that its sandbox sets, and that the run would vary. */
  readonly ownAssumptions: readonly (keyof Assumptions)[];
}
