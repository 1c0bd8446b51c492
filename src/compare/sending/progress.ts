import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { type Attempt, describeAttempt } from "./attempt.js";
import { type Ending, endings } from "./endings.js";

/** Whether more may be sent; `why` is why not, even if requests are left. */
export type SessionProgress =
  | { readonly kind: "running" }
  | NotTheApi
  | EndedByResponse
  | { readonly kind: "ended_by_signal"; readonly why: string };

/** The host does not respond, or not like the API. */
export interface NotTheApi {
  readonly kind: "not_the_api";
  readonly why: string;
  /** In one or two sentences. */
  readonly message: string;
}

/** The response to a request for this outcome may be one of a lock, a limit or an outage. */
interface EndedByResponse {
  readonly kind: "ended_by_response";
  readonly why: string;
  readonly outcome: PromisedOutcomeId;
  readonly note: string;
}

/** Ends a comparison at a response. `got` describes it with what tells more: `401: locked after 5 requests`. */
export function endedByResponse(attempt: Attempt, ending: Ending, got: string): EndedByResponse {
  const { outcome } = attempt;
  const { suspicion } = endings[ending];
  return {
    kind: "ended_by_response",
    outcome,
    why: `nothing was sent after ${outcome} got ${describeAttempt(attempt)}`,
    note: `${outcome} got ${got}. Nothing was sent after it: it may be ${suspicion}. Try again later.`,
  };
}
