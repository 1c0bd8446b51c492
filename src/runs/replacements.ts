import { me } from "../api/endpoints.js";
import { faultyResult, renderFailure } from "../api/fault-responses.js";
import { headerPairs, utf8Length } from "../api/http-messages.js";
import { renderRejection, renderSuccess, retryAfterHeader } from "../api/respond.js";
import { isIdempotent } from "../rules/fault-effects.js";
import { isSuccess } from "../rules/outcomes.js";
import type { ApiCall, CallResult } from "../sandbox/call.js";
import { activateFaults, type FiredFault, fireFault, hasBody } from "../sandbox/faults.js";
import type { OwnResponse, SandboxState } from "../sandbox/sandbox-state.js";
import type { RejectionInstead, Replacement } from "./conditions.js";

/** Prepares what the conditions give a call in place of its response; `undefined` if the call cannot get it, as with some faults. */
export function replacementFor(
  sandbox: SandboxState,
  call: ApiCall,
  ownResponse: OwnResponse,
  gets: Replacement,
): (() => CallResult) | undefined {
  switch (gets.kind) {
    case "fault": {
      const { facts } = ownResponse;
      const { effect: then } = gets;
      // A client may send the call again after the fault, and its response has a body, which a fault may break.
      const mayBeHit = isIdempotent(call.request.method) && hasBody({}, facts);
      if (!mayBeHit) return undefined;
      const active = activateFaults([{ then }], sandbox.seed, sandbox.startedAt);
      const fired = fireFault(active, call.number, facts);
      return fired && (() => resultOfFault(sandbox, call, fired));
    }
    case "wrong_answer":
      return () => {
        // The result keeps its outcome.
        const result = ownResponse.respond();
        const isAccepted = isSuccess(result.outcome);
        const wrong = isAccepted ? renderRejection(sandbox, call, "401.unknown") : acceptance(sandbox, call);
        return { ...result, response: wrong.response, code: wrong.code, points: [] };
      };
    case "rejection":
      return () => rejectCall(sandbox, call, gets);
  }
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

/** The success of a call that was rejected, as if its key had passed each check and the request was counted. */
function acceptance(sandbox: SandboxState, call: ApiCall): Pick<CallResult, "response" | "code"> {
  const { endpoint = me } = call;
  let { entry } = call;
  if (entry !== undefined) {
    const { minuteCount, dayCount } = entry.usage;
    entry = { ...entry, usage: { ...entry.usage, minuteCount: minuteCount + 1, dayCount: dayCount + 1 } };
  }
  const body = entry === undefined ? endpoint.example() : endpoint.respond(entry, sandbox.additions);
  return { response: renderSuccess({ ...call, entry }, endpoint, body), code: null };
}

function rejectCall(sandbox: SandboxState, call: ApiCall, rejection: RejectionInstead): CallResult {
  const { as, seconds, asDate = false } = rejection;
  if (as === "fault.status") {
    const effect = seconds === undefined ? {} : { retryAfter: { seconds, asDate } };
    const { response, code } = renderFailure(call, 503, effect);
    return { response, code, outcome: as, fault: as };
  }
  const { response, ...rejected } = renderRejection(sandbox, call, as);
  const headers: string[] = [];
  for (const [name, value] of headerPairs(response.headers)) {
    if (name !== "Retry-After") headers.push(name, value);
  }
  if (seconds !== undefined) headers.push(...retryAfterHeader({ waitMs: seconds * 1000, asDate }, call));
  return { ...rejected, response: { ...response, headers } };
}
