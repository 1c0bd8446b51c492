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
  /** Of a request after the run rejected its key. Default: it came in time, or before the rejection. */
  readonly afterRejection?: AfterRejection | undefined;
}

/** How a request came after the run rejected its key, or made its response late. */
export type AfterRejection =
  /** The client has sent it so many milliseconds later, before it had waited long enough. */
  | { readonly kind: "too_early"; readonly ms: number }
  /** Another process of the run rejected the key, and only that one knows when. */
  | { readonly kind: "by_other_process" };

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
