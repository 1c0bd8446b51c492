import {
  type FailureStatus,
  type FaultEffects,
  type FaultKind,
  failures,
  faultKindTable,
  mainFaultKind,
} from "../rules/fault-effects.js";
import type { ApiCall, ApiResponse, CallResult, Delivery } from "../sandbox/call.js";
import type { FiredFault } from "../sandbox/faults.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { withCopiedEntry } from "./authorize.js";
import { errorBody, textBody, utf8Length } from "./http-messages.js";
import { respondToCall, responseOf, retryAfterHeader } from "./respond.js";
import { respondVaried } from "./variation/vary.js";

/** The status of a failure that sets none. */
const defaultFailure: FailureStatus = 503;

/** What stands for the response of a call that gets none. */
const noResponse: ApiResponse = Object.freeze({ status: 0, headers: [], body: "" });

const brokenJson = '{"data":{"organization":,"environment":"","scopes":[}}';

/**
 * What a call gets from a fault, which comes before authorization. A call that it only delays is authorized and counted, any
 * other is not (R24).
 */
export function faultyResult(sandbox: SandboxState, call: ApiCall, fired: FiredFault): CallResult {
  const { effect } = fired;
  const mainKind = mainFaultKind(effect);
  const result = resultBeforeDelivery(sandbox, call, effect, mainKind);
  const delivery = deliveryOf(fired, mainKind, result.response.body);
  return { ...result, fault: `fault.${mainKind}`, delivery };
}

/** How a fault of this kind has a response with this body delivered: its start, its speed and its end. */
function deliveryOf({ effect, latencyMs }: FiredFault, mainKind: FaultKind, body: string): Delivery {
  const { ends } = faultKindTable[mainKind];
  // A response that is cut is sent, too: half of its body.
  let kind: Delivery["kind"] = "send";
  if (ends === "reset" || ends === "hang") kind = ends;
  let cutAfter: number | undefined;
  if (ends === "cut") cutAfter = Math.floor(utf8Length(body) / 2);
  return { latencyMs, kind, isWhole: ends === "sent", cutAfter, bytesPerSecond: effect.slow };
}

/** The outcome and the response of a call that a fault of this kind hits, before the fault cuts or delays it. */
function resultBeforeDelivery(
  sandbox: SandboxState,
  call: ApiCall,
  effect: FaultEffects,
  kind: FaultKind,
): CallResult {
  switch (kind) {
    case "latency":
    case "slow":
      // A delayed response keeps its outcome.
      return respondToCall(sandbox, call);
    case "status": {
      // In the profile `varied`, the request id varies, and nothing else.
      const { status = defaultFailure } = effect;
      return respondVaried(sandbox, call, { status, content: "of_fault" }, (variedCall) => {
        const { response, code } = renderFailure(variedCall, status, effect);
        return { outcome: "fault.status", response, code };
      });
    }
    case "reset":
      return { outcome: "fault.reset", response: noResponse, code: null };
    case "hang":
      return { outcome: "fault.hang", response: noResponse, code: null };
    case "malformed":
      // A success, the same one for every key.
      return respondVaried(sandbox, call, { status: 200, content: "of_fault" }, ({ id }) => {
        const response = responseOf(200, textBody(brokenJson), ["X-Request-Id", id]);
        return { outcome: "fault.malformed", response, code: null };
      });
    case "truncate": {
      // A failure is cut, or else the response that the call would get. The client does not get it, so the call counts only among
      // the responses that a client's run varies.
      const isFailure = effect.status !== undefined;
      const uncut = isFailure
        ? resultBeforeDelivery(sandbox, call, effect, "status")
        : respondToCall(sandbox, withCopiedEntry(call));
      return { ...uncut, outcome: "fault.truncate" };
    }
  }
}

/** The response to a call while the service fails with this status, and its error code. */
export function renderFailure(
  call: ApiCall,
  status: FailureStatus,
  { retryAfter, html }: FaultEffects,
): Pick<CallResult, "response" | "code"> {
  const headers: string[] = [];
  // A gateway in front of the service knows no request id.
  if (!html && call.assumptions.request_id_on_errors) headers.push("X-Request-Id", call.id);
  if (retryAfter !== undefined) {
    const { seconds, asDate } = retryAfter;
    headers.push(...retryAfterHeader({ waitMs: seconds * 1000, asDate }, call));
  }

  if (html) {
    const page = textBody(gatewayPage(status));
    return { response: responseOf(status, page, headers, "text/html"), code: null };
  }
  const { code, message } = failures[status];
  return { response: responseOf(status, errorBody(code, message), headers), code };
}

/** The page with which a gateway in front of the service responds. */
function gatewayPage(status: FailureStatus): string {
  const title = `${status} ${failures[status].reason}`;
  return [
    "<html>",
    `<head><title>${title}</title></head>`,
    "<body>",
    `<center><h1>${title}</h1></center>`,
    "<hr><center>gateway</center>",
    "</body>",
    "</html>",
    "",
  ].join("\r\n");
}
