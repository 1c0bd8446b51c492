import type { ContractRule } from "../contract/contract-rules.js";
import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { shownText } from "../response/describe.js";
import { headerOf } from "../response/headers.js";
import type { Attempt } from "../sending/attempt.js";

/** A difference in a response, whichever request has got it. */
export interface ResponseDifference {
  readonly rules: readonly ContractRule[];
  /** A header's name, a member's JSON path (`$.data.limits.per_day`), or another place in words, such as `status`. */
  readonly at: string;
  readonly expected: string;
  readonly found: string;
}

/** A place where a response differs from the contract. */
export interface ContractDifference extends ResponseDifference {
  readonly outcome: PromisedOutcomeId;
  /** The number of its request among those for the outcome, if it is not the first one. */
  readonly request?: number;
  readonly requestId?: string;
}

/** Adds the outcome to a difference and, so that it can be looked up, its request. */
export function withRequest(attempt: Attempt, difference: ResponseDifference): ContractDifference {
  const { outcome, nth, response } = attempt;
  const requestId = response && headerOf(response, "x-request-id");
  return {
    outcome,
    ...difference,
    ...(nth > 1 && { request: nth }),
    ...(requestId && { requestId: shownText(requestId) }),
  };
}
