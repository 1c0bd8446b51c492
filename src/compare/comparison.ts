import { membersToSnakeCase } from "../schema/spelling.js";
import type { Learned } from "./assumptions/assumptions.js";
import type { ValuesUnlikeKeyStates } from "./assumptions/unlike-key-states.js";
import type { PromisedOutcomeId } from "./contract/contract-rules.js";
import { type ContractDifference, type Unjudged, uncomparedCauses } from "./contract/findings.js";

// The members of a comparison have the names of `--json`, in camelCase.

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
  readonly unjudged: readonly Unjudged[];
  readonly assumptions: Learned["assumptions"];
  /** What would show the assumptions that no response has shown. */
  readonly unseen: Learned["unseen"];
  /** What no assumption sets, and the service does in another way than `key-states`. */
  readonly seen: ValuesUnlikeKeyStates;
  readonly differences: readonly ContractDifference[];
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

/** Returns a comparison with the names and the order of `--json`. */
export function comparisonJson(comparison: Comparison): object {
  const { unjudged, assumptions, unseen, seen, differences, ...start } = comparison;
  const places: object[] = [];
  for (const { at, why, outcomes } of unjudged) if (at !== undefined) places.push({ at, why, outcomes });
  const uncompared = uncomparedCauses(unjudged);
  const json = { ...start, uncompared, unjudged: places, assumptions, unseen, seen, differences };
  // An object stays an object.
  return membersToSnakeCase(json) as object;
}
