import { type FaultOutcomeId, faultKindRow } from "./fault-effects.js";

// What a client does after a fault depends on whether it can repeat the request.

const idempotentMethods = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"];

/** Whether two requests of this method do the same as one (RFC 9110, 9.2.2). */
export function isIdempotent(method: string): boolean {
  return idempotentMethods.includes(method);
}

/** What matters of a request with a fault for what a client should do. */
interface FaultyRequest {
  readonly isIdempotent: boolean;
  /** The header `Retry-After` of its response. */
  readonly retryAfter?: string | undefined;
}

/** What a client should do after a fault: by the fault's kind, and by whether the request can be repeated. */
export function whatToDoAfter(outcome: FaultOutcomeId, request: FaultyRequest): string {
  const { whatToDo, whatToDoIfNotIdempotent = whatToDo } = faultKindRow(outcome);
  const advice = request.isIdempotent ? whatToDo : whatToDoIfNotIdempotent;
  if (outcome !== "fault.status" || request.retryAfter === undefined) return advice;
  return `Wait as its Retry-After says (${request.retryAfter}). ${advice}`;
}
