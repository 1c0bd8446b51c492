import {
  type FailureStatus,
  type FaultEffects,
  type FaultKind,
  failures,
  faultKindTable,
  mainFaultKind,
} from "../rules/fault-effects.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { FiredFault } from "../sandbox/fire-faults.js";
import type { CallResult, Delivery } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { errorBody, textBody, utf8Length } from "./http-messages.js";
import { retryAfterHeader } from "./limits.js";
import { predictResult } from "./predict.js";
import { respondToCall, responseOf } from "./respond.js";
import { chooseVariation, visiblePoints } from "./variation/vary.js";

/** What a fault has a call get: its result without the outcome. */
type FaultResponse = Pick<CallResult, "response" | "code" | "requestId" | "points">;

const noResponse: FaultResponse = Object.freeze({
  response: Object.freeze({ status: 0, headers: [], body: "" }),
  code: null,
});

/** The status of a failure that sets none. */
const defaultFailure: FailureStatus = 503;

const brokenJson = '{"data":{"organization":,"environment":"","scopes":[}}';

/**
 * What a call gets from a fault, which comes before authorization. A call that it only delays is authorized and counted, any
 * other is not (R24).
 */
export function faultyResult(sandbox: SandboxState, call: ApiCall, fired: FiredFault): CallResult {
  const { effect } = fired;
  const mainKind = mainFaultKind(effect);
  const { ends } = faultKindTable[mainKind];
  const result = resultBeforeDelivery(sandbox, call, effect, mainKind);

  // A response that is cut is sent, too: up to there.
  let kind: Delivery["kind"] = "send";
  if (ends === "reset" || ends === "hang") kind = ends;

  let cutAfter: number | undefined;
  if (effect.truncate) cutAfter = Math.floor(utf8Length(result.response.body) / 2);
  const delivery: Delivery = {
    delayMs: fired.latency,
    kind,
    isWhole: ends === "sent",
    cutAfter,
    bytesPerSecond: effect.slow,
  };
  return { ...result, fault: `fault.${mainKind}`, delivery };
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
    case "status":
      return { ...variedFailure(sandbox, call, effect), outcome: "fault.status" };
    case "reset":
      return { ...noResponse, outcome: "fault.reset" };
    case "hang":
      return { ...noResponse, outcome: "fault.hang" };
    case "malformed":
      return { ...malformedResponse(sandbox, call), outcome: "fault.malformed" };
    case "truncate": {
      // A failure is cut, or else the response that the call would get.
      const whole =
        effect.status === undefined ? predictResult(sandbox, call) : variedFailure(sandbox, call, effect);
      return { ...whole, outcome: "fault.truncate" };
    }
  }
}

/** The response of a service that fails. In the profile `varied`, its request id varies, and nothing else. */
function variedFailure(sandbox: SandboxState, call: ApiCall, effect: FaultEffects): FaultResponse {
  const { status = defaultFailure } = effect;
  const variation = chooseVariation(sandbox, call, { status, content: "faulty" });
  const { response, code } = renderFailure(variation.call, effect);
  const points = visiblePoints(sandbox, variation, response);
  return { response, code, requestId: variation.call.id, points };
}

/** The response to a call while the service fails: its status is 503 if the effect sets none. */
export function renderFailure(call: ApiCall, effect: FaultEffects): Pick<CallResult, "response" | "code"> {
  const { status = defaultFailure, retryAfter, html } = effect;
  const headers: string[] = [];
  // A gateway in front of the service knows no request id.
  if (!html && call.assumptions.request_id_on_errors) headers.push("X-Request-Id", call.id);
  if (retryAfter !== undefined) {
    const until = call.now + retryAfter.seconds * 1000;
    headers.push(...retryAfterHeader(until, retryAfter.asDate, call.now));
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

/** A success with broken JSON: the same one for every key. */
function malformedResponse(sandbox: SandboxState, call: ApiCall): FaultResponse {
  const variation = chooseVariation(sandbox, call, { status: 200, content: "faulty" });
  const { id } = variation.call;
  const response = responseOf(200, textBody(brokenJson), ["X-Request-Id", id]);
  return { response, code: null, requestId: id, points: visiblePoints(sandbox, variation, response) };
}
