import type { Learned } from "./assumptions/assumptions.js";
import type { ValuesUnlikeKeyStates } from "./assumptions/unlike-key-states.js";
import type { PromisedOutcomeId } from "./contract/promised-outcome.js";
import type { ContractDifference } from "./differences/contract-difference.js";
import type { OpenPlace } from "./rejections/judge-places.js";

/** The findings of a comparison; contains no key. */
export interface Comparison {
  readonly url: string;
  /** When it began: `2026-03-02T09:00:00Z`. */
  readonly comparedAt: string;
  readonly requests: number;
  readonly maxRequests: number;
  /** In one or two sentences. */
  readonly whyNotCompared: string | undefined;
  /** The outcome whose request ended the comparison, for example with a lock. */
  readonly endedBy: PromisedOutcomeId | undefined;
  readonly notes: readonly string[];
  /**
   * `stopped`: nothing differs, but a response or a signal ended the comparison. `not_compared`: there was no response,
   * or not one of the API.
   */
  readonly verdict: "agrees" | "agrees_in_part" | "differs" | "stopped" | "not_compared";
  readonly outcomes: readonly ComparedOutcome[];
  /** The causes of 401 that were tried, and not compared with the others (R14). */
  readonly openCauses: readonly PromisedOutcomeId[];
  /** The places of a 401 where R14 stays open, with the outcomes that agree only elsewhere. */
  readonly openPlaces: readonly OpenPlace[];
  readonly differences: readonly ContractDifference[];
  readonly assumptions: Learned["assumptions"];
  /** What would show the assumptions that no response has shown. */
  readonly unseenAssumptions: Learned["unseenAssumptions"];
  /** What no assumption sets, and the service does in another way than `key-states`. */
  readonly unlikeKeyStates: ValuesUnlikeKeyStates;
}

export interface ComparedOutcome {
  readonly outcome: PromisedOutcomeId;
  /** The variable with its key; `undefined` if it needs none, or nothing was sent. */
  readonly variable: string | undefined;
  /** The different responses in words; `undefined` if nothing was sent. */
  readonly got: string | undefined;
  readonly result: "agrees" | "agrees_in_part" | "differs" | "not_tried";
  /** Why it was not tried, or agrees only in part. */
  readonly reason: string | undefined;
}
