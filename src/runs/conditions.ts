import type { Assumptions, Profile } from "../rules/assumptions.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import type { RowChoice, VariedPoint } from "../sandbox/variants.js";
import type { Scenario } from "../scenario/scenario.generated.js";

type Faults = NonNullable<Scenario["faults"]>;

/** The conditions of a client's run. They come before the state of its sandboxes, and no call of the client reads or changes them. Plain data: they also reach other processes. */
export interface RunConditions {
  readonly profile?: Profile;
  /** The only rows that vary. Default: all. */
  readonly rows?: readonly RowChoice[];
  /** Whether each response has other variants than the one before it with the same status. A 401 stays the same (R14), and what a key keeps. */
  readonly mixed?: true;
  /** Faults that come before the sandbox's own; each start of a scenario counts its requests again. */
  readonly faults?: Faults;
  readonly onRequest?: OnRequest;
}

export interface OnRequest {
  /** `first`, `each`: of the requests that would have this outcome; if a fault is put in place, that the fault can hit. */
  readonly which:
    | { readonly kind: "first" | "each"; readonly outcome: OutcomeId }
    /** The nth request with a key, from 1, on any path and by any method; if a fault is put in place, of those that the fault can hit. */
    | { readonly kind: "nth"; readonly key: string; readonly nth: number };
  readonly gets: Replacement;
}

export type Replacement =
  | { readonly kind: "fault"; readonly effect: Faults[number]["then"] }
  /** A 401 for a key that works, and a 200 for any other. A client should fail at it. */
  | { readonly kind: "wrong_answer" }
  | RejectionInstead;

/** Another outcome than its own, or a 503. A client should fail at it, and not send the key again, or not before its time. */
export interface RejectionInstead {
  readonly kind: "rejection";
  readonly as: ApiOutcomeId | "fault.status";
  /** How long to wait, in `Retry-After`. Without it, there is no such header, and a client may send again when the next minute begins. */
  readonly seconds?: number;
  /** Whether `Retry-After` has a date. Default: it has seconds. */
  readonly asDate?: boolean;
}

/**
 * Whether the client gets a wrong answer or a rejection, and may do something else then. So its requests earn no advice, and its result
 * contradicts no other run. A fault hides no outcome: a client should pass after it.
 */
export function hidesOutcomes({ onRequest }: RunConditions): boolean {
  return onRequest !== undefined && onRequest.gets.kind !== "fault";
}

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
