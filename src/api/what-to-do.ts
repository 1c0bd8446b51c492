import { faultKindRow, isFault, isIdempotent, whatToDoAfter } from "../rules/fault-effects.js";
import { isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import { headerPairs } from "./http-messages.js";
import type { NextResult } from "./next-request.js";
import type { RejectionReason } from "./rejection-reason.js";

/** What to do about an outcome. `next`: why the next request would get the same one; `undefined` if it would get another one. */
export function whatToDoAbout(outcome: OutcomeId, next: RejectionReason | undefined): string {
  const { status, whatToDo } = outcomeRow(outcome);
  if (status === 429 && next !== undefined && next.until === null) {
    return `Create a new key: waiting does not help (${next.why}).`;
  }
  return whatToDo;
}

/** What its client should do after a request. `next`: what the next request would get, if that is the same outcome. */
export function whatToDoAfterRequest(exchange: Exchange, next: NextResult | undefined): string {
  const { outcome, fault } = exchange;
  if (isFault(outcome)) {
    const headers = new Map(headerPairs(exchange.response.headers));
    const retryAfter = headers.get("Retry-After");
    return whatToDoAfter(outcome, { isIdempotent: isIdempotent(exchange.method), retryAfter });
  }

  // A client with a short timeout has given up, although the request succeeded.
  if (isSuccess(outcome) && fault !== null && faultKindRow(fault).onlyDelays) {
    return `The request succeeded, but late. ${faultKindRow(fault).whatToDo}`;
  }
  return whatToDoAbout(outcome, next);
}
