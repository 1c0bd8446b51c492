import { outcomeRow } from "../../rules/outcomes.js";
import type { PromisedOutcomeId } from "../contract/promised-outcome.js";
import { describeResponse } from "../response/describe-response.js";
import type { RedactedResponse } from "../response/redacted-response.js";

/**
 * A request to send, with the key of its variable. Without one, the session makes the key: a new one for `401.unknown` and for `401.malformed`, and
 * none for `401.missing`.
 */
export interface AttemptRequest {
  readonly outcome: PromisedOutcomeId;
  readonly variable?: string | undefined;
}

/** A control: a later request that tells what an earlier response shows. Without a key, no key's limit can affect it. */
export const controlWithoutKey: AttemptRequest = { outcome: "401.missing" };

/** A request that was sent, and what came of it. */
export interface Attempt extends AttemptRequest {
  /** The key that was sent, that of the variable or one that the session has made. Never printed. */
  readonly apiKey?: string | undefined;
  /** Its number among the requests for its outcome, from 1. */
  readonly nth: number;
  /** On the comparison's own clock, in milliseconds: the server's clocks may differ. */
  readonly sentAt: number;
  /** On the same clock as `sentAt`. */
  readonly receivedAt: number;
  readonly response?: RedactedResponse;
  /** Why there is no response: an attempt has either this or a response. */
  readonly noResponse?: string;
  /** As far as the requests until now tell: `replaceEvidence` changes it if a later request tells more. */
  readonly evidence: Evidence;
}

/**
 * What a response shows of its outcome:
 * - `judged`: whether it is what the contract says; so is a response that did not come
 * - `key_in_doubt`: nothing; a 200 in place of a rejection, and perhaps the key is not what its variable says
 * - `limit_in_doubt`: nothing; a 429 that may be for another limit than the key's own
 * - `minute_used_before`: nothing; a 429 to a key whose minute an earlier comparison may have used up
 * - `waited_for`: nothing; a 429 whose limit the comparison waited for
 * - `outage`: nothing; an outage or a lock may have responded
 *
 * `why` of a 429 can be what came before the response: `after 3 requests; a rejected key has no limits`.
 */
export type Evidence =
  | { readonly kind: "judged" }
  | {
      readonly kind: "key_in_doubt" | "limit_in_doubt" | "minute_used_before" | "waited_for" | "outage";
      readonly why: string;
    };

/** Replaces the evidence of an attempt, because a later request has told more. Nothing else changes an attempt. */
export function replaceEvidence(attempt: Attempt, evidence: Evidence): void {
  // The member is readonly for everybody else.
  const changed: { evidence: Evidence } = attempt;
  changed.evidence = evidence;
}

/** An attempt with a response. */
export type CompletedAttempt = Attempt & { readonly response: RedactedResponse };

// Which attempts each of these functions includes:
//
// | function | status | the outcome has this status | evidence |
// |---|---|---|---|
// | `got200` | 200 | or another one | any |
// | `rightful200s` | 200 | yes | any |
// | `reachedItsOutcome` | any | yes | only `judged` |

/** Whether an attempt got 200, also with a key that should be rejected. */
export function got200(attempt: Attempt): attempt is CompletedAttempt {
  return attempt.response?.status === 200;
}

/** Returns the 200s to keys that should get 200. */
export function rightful200s(attempts: readonly Attempt[]): CompletedAttempt[] {
  return attempts.filter(got200).filter(({ outcome }) => outcomeRow(outcome).status === 200);
}

/** Whether an attempt got the status of its outcome, and its response is judged: no outage or lock may have sent it. */
export function reachedItsOutcome(attempt: Attempt): attempt is CompletedAttempt {
  const { outcome, response, evidence } = attempt;
  return response?.status === outcomeRow(outcome).status && evidence.kind === "judged";
}

/** Describes the response of an attempt: `401 unauthorized`. */
export function describeAttempt({ response, noResponse }: Attempt): string {
  return response === undefined ? `no response: ${noResponse}` : describeResponse(response);
}

/** Describes a 429 that is not judged: `429 after 3 requests; a rejected key has no limits`. */
export function describeLimited(limited: Attempt): string {
  const { evidence } = limited;
  const got = describeAttempt(limited);
  return evidence.kind === "judged" ? got : `${got} ${evidence.why}`;
}
