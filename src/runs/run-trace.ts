import type { Assumptions } from "../rules/assumptions.js";
import type { OutcomeId } from "../rules/outcomes.js";
import type { VariedPoint } from "../sandbox/variants.js";

// What a client's run keeps of each request. `certify` judges the client by it: whether it sends a rejected key again before its
// time, which open points its tests fail on, and whether its own code hides the conditions of the run.

/** What the conditions of a run do to one request. */
export interface ConditionEffect {
  /** The outcome of the response that the run has replaced; left out if it has replaced none. */
  readonly replaced?: OutcomeId | undefined;
  /** Set if this request is, or may be, too early after one of the key that the run rejected. */
  readonly afterRejection?: AfterRejection | undefined;
}

/** What is known of a request that came after the run rejected its key. */
export type AfterRejection =
  /** It is too early: the client has waited only `ms` milliseconds. */
  | { readonly kind: "too_early"; readonly ms: number }
  /** It may be too early: another process of the run rejected the key, and only that process knows when. */
  | { readonly kind: "by_other_process" };

/** What a run shows with one request. */
export interface RunTrace extends ConditionEffect {
  /** The variants that its response shows. */
  readonly points: readonly VariedPoint[];
  /** The seed that the client's own code sets in place of the run's. */
  readonly ownSeed?: number | undefined;
  /** The name of its sandbox's scenario. */
  readonly scenario: string;
  /** The assumptions that its sandbox sets, and that the run would vary. */
  readonly ownAssumptions: readonly (keyof Assumptions)[];
}
