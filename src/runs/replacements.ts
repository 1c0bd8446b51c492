import { me } from "../api/endpoints/me.js";
import { faultyResult, renderFailure } from "../api/fault-responses.js";
import { headerPairs, utf8Length } from "../api/http-messages.js";
import { retryAfterHeader } from "../api/limits.js";
import { renderRejection, renderSuccess } from "../api/respond.js";
import { isIdempotent } from "../rules/fault-effects.js";
import { isSuccess } from "../rules/outcomes.js";
import { activateFaults } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import { type FaultFacts, type FiredFault, fireFault } from "../sandbox/fire-faults.js";
import type { CallResult } from "../sandbox/journal/call-result.js";
import type { OwnResponse, SandboxState } from "../sandbox/sandbox-state.js";
import type { FaultOfRun, RejectionOfRun, Replacement } from "./conditions.js";

// What a call gets from a run, in place of its own response.

/** Something that a call can get in place of its response, which `respond` makes; or something that it cannot get. */
type CallReplacement =
  | { readonly kind: "possible"; readonly respond: () => CallResult }
  | { readonly kind: "impossible" };

/** Prepares what the conditions give a call. Only a fault may be impossible. */
export function replacementFor(
  sandbox: SandboxState,
  call: ApiCall,
  ownResponse: OwnResponse,
  gets: Replacement,
): CallReplacement {
  switch (gets.kind) {
    case "fault": {
      const fired = fireOnce(sandbox, call, ownResponse, gets);
      if (fired === undefined) return { kind: "impossible" };
      return { kind: "possible", respond: () => resultOfFault(sandbox, call, fired) };
    }
    case "wrong_answer":
      return { kind: "possible", respond: () => wrongAnswer(sandbox, call, ownResponse.respond()) };
    case "late":
      return { kind: "possible", respond: () => lateResponse(ownResponse.respond(), gets.seconds) };
    case "rejection":
      return { kind: "possible", respond: () => rejectCall(sandbox, call, gets) };
  }
}

/** Fires a fault on a call; `undefined` if no fault may hit the call, or if this one cannot. */
function fireOnce(
  sandbox: SandboxState,
  call: ApiCall,
  { facts }: OwnResponse,
  { effect: then }: FaultOfRun,
): FiredFault | undefined {
  if (!mayBeHit(call, facts)) return undefined;
  return fireFault(activateFaults([{ then }], sandbox.seed, sandbox.startedAt), call.number, facts);
}

/** Whether a fault may hit the call: the client may send it again after the fault, and its response has a body, which a fault may break. */
function mayBeHit({ request }: ApiCall, { isHead }: FaultFacts): boolean {
  return isIdempotent(request.method) && !isHead;
}

/** What a call gets from a fault of the run. A slow body takes about a second, whatever rate the fault has. */
export function resultOfFault(sandbox: SandboxState, call: ApiCall, fired: FiredFault): CallResult {
  const result = faultyResult(sandbox, call, fired);
  const { delivery } = result;
  const isSlow = delivery?.bytesPerSecond !== undefined;
  if (!isSlow) return result;
  // The whole body in one second. An empty body has a rate of 0, which nothing is sent with.
  const bytesPerSecond = utf8Length(result.response.body);
  return { ...result, delivery: { ...delivery, bytesPerSecond } };
}

/** The result, with its response after so many seconds, or later if a fault of the sandbox delays it longer. */
function lateResponse(result: CallResult, seconds: number): CallResult {
  return {
    ...result,
    delivery: {
      delayMs: Math.max(seconds * 1000, result.delivery?.delayMs ?? 0),
      kind: "send",
      isWhole: true,
      cutAfter: undefined,
      bytesPerSecond: undefined,
    },
  };
}

/** A wrong response in place of the one of a result, which keeps its outcome: a 401 for a success, a success for anything else. */
function wrongAnswer(sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult {
  const wrong = isSuccess(result.outcome)
    ? renderRejection(sandbox, call, "401.unknown")
    : { response: acceptance(sandbox, call), code: null };
  // Nobody gets the response that varied.
  return { ...result, response: wrong.response, code: wrong.code, points: [] };
}

/** The success of a call that was rejected, as if its key had passed each check and the request was counted. */
function acceptance(sandbox: SandboxState, call: ApiCall): CallResult["response"] {
  const { entry, endpoint = me } = call;
  if (entry === undefined) return renderSuccess(sandbox, call, endpoint, endpoint.example());

  // If the sandbox counts rejected requests, its checks have counted this one already.
  const counted = sandbox.assumptions.count_rejected ? entry : countedOnceMore(entry);
  const body = endpoint.respond(counted, sandbox.additions);
  return renderSuccess(sandbox, { ...call, entry: counted }, endpoint, body);
}

/** A copy of the key's entry, with one more request in its usage. */
function countedOnceMore(entry: NonNullable<ApiCall["entry"]>): NonNullable<ApiCall["entry"]> {
  const { usage } = entry;
  return {
    ...entry,
    usage: { ...usage, minuteCount: usage.minuteCount + 1, dayCount: usage.dayCount + 1 },
  };
}

/** Rejects a call as the conditions say, with their `Retry-After` or without one. */
function rejectCall(sandbox: SandboxState, call: ApiCall, rejection: RejectionOfRun): CallResult {
  const { as, seconds, asDate = false } = rejection;
  // A client subtracts `Date`, or its own wall clock, from a date in `Retry-After`: then both headers are of the wall clock.
  const date = asDate ? sandbox.platform.time() : undefined;
  const now = date ?? call.now;

  if (as === "fault.status") {
    const effect = seconds === undefined ? {} : { retryAfter: { seconds, asDate } };
    const { response, code } = renderFailure({ ...call, now }, 503, effect);
    return { response, code, date, outcome: as, fault: as };
  }
  const { response, ...rejected } = renderRejection(sandbox, call, as);
  const headers = withoutRetryAfter(response.headers);
  if (seconds !== undefined) headers.push(...retryAfterHeader({ endsAt: now + seconds * 1000, asDate }, now));
  return { ...rejected, response: { ...response, headers }, date };
}

/** The headers, as names and values by turns, without `Retry-After`. */
function withoutRetryAfter(headers: CallResult["response"]["headers"]): string[] {
  const others: string[] = [];
  for (const [name, value] of headerPairs(headers)) {
    if (name !== "Retry-After") others.push(name, value);
  }
  return others;
}
