import { me } from "../api/endpoints/me.js";
import { faultyResult, renderFailure } from "../api/fault-responses.js";
import { headerPairs, utf8Length } from "../api/http-messages.js";
import { retryAfterHeader } from "../api/limits.js";
import { renderRejection, renderSuccess } from "../api/respond.js";
import { isSuccess } from "../rules/outcomes.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { FiredFault } from "../sandbox/fire-faults.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { RejectionOfRun } from "./conditions.js";

// What a call gets from a run, in place of its own response.

/** What a call gets from a fault of the run, which sends a slow body in about a second. */
export function resultOfFault(sandbox: SandboxState, call: ApiCall, fired: FiredFault): CallResult {
  const result = faultyResult(sandbox, call, fired);
  const { delivery } = result;
  if (delivery?.bytesPerSecond === undefined) return result;
  // An empty body has no parts, so its rate of 0 does not matter.
  const bytesPerSecond = utf8Length(result.response.body);
  return { ...result, delivery: { ...delivery, bytesPerSecond } };
}

/** The result, with its response after so many seconds. */
export function lateResponse(result: CallResult, seconds: number): CallResult {
  return {
    ...result,
    delivery: {
      delayMs: seconds * 1000,
      kind: "send",
      isWhole: true,
      cutAfter: undefined,
      bytesPerSecond: undefined,
    },
  };
}

/** A wrong response in place of the one of a result, which keeps its outcome: a 401 for a success, a success for anything else. */
export function wrongAnswer(sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult {
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

  const { usage } = entry;
  const counted = {
    ...entry,
    usage: { ...usage, minuteCount: usage.minuteCount + 1, dayCount: usage.dayCount + 1 },
  };
  // The checks have counted it already if the sandbox counts rejected requests.
  const asAccepted = sandbox.assumptions.count_rejected ? entry : counted;
  return renderSuccess(
    sandbox,
    { ...call, entry: asAccepted },
    endpoint,
    endpoint.respond(asAccepted, sandbox.additions),
  );
}

/** Rejects a call as the conditions say, with their `Retry-After` or without one. */
export function rejectCall(sandbox: SandboxState, call: ApiCall, rejection: RejectionOfRun): CallResult {
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
  const headers: string[] = [];
  for (const [name, value] of headerPairs(response.headers)) {
    if (name !== "Retry-After") headers.push(name, value);
  }
  if (seconds !== undefined) headers.push(...retryAfterHeader(now + seconds * 1000, asDate, now));
  return { ...rejected, response: { ...response, headers }, date };
}
