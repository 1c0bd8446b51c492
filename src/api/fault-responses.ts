import {
  type FailureStatus,
  type FaultEffects,
  type FaultKind,
  type FaultOutcomeId,
  failures,
  faultKindRow,
  faultKindTable,
  mainFaultKind,
} from "../rules/fault-effects.js";
import type { Fault, FiredFault } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { CallResult, Delivery } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { errorBody, type FlatHeaders, textBody, utf8Length } from "./http-messages.js";
import { retryAfterHeader } from "./limits.js";
import { predict } from "./predict.js";
import { respondToCall, responseOf } from "./respond.js";
import { type ResponseKind, withVariants } from "./variation/vary.js";

type FaultResponse = Pick<CallResult, "response" | "code" | "requestId" | "points">;

/** What adapters do for each end of an effect. */
const deliveryKinds = {
  sent: "send",
  cut: "send",
  reset: "reset",
  hang: "hang",
} as const satisfies Readonly<Record<(typeof faultKindTable)[FaultKind]["ends"], Delivery["kind"]>>;

const noResponse: FaultResponse = Object.freeze({
  response: Object.freeze({ status: 0, headers: [], body: "" }),
  code: null,
});

/** The status of a failure that sets none. */
const defaultFailure: FailureStatus = 503;

const brokenJson = '{"data":{"organization":,"environment":"","scopes":[}}';

/**
 * What a call gets from a fault, which comes before authorization. A call that it only delays is authorized and counted, any
 * other is not (R24). `isOfRun`: a run sends it, not the scenario.
 */
export function faultyResult(
  sandbox: SandboxState,
  call: ApiCall,
  fired: FiredFault,
  isOfRun = false,
): CallResult {
  const { effect } = fired;
  const kind = mainFaultKind(effect);
  const { ends } = faultKindTable[kind];
  const result = resultOfKind(sandbox, call, effect, kind);

  const bytes = utf8Length(result.response.body);
  const cutAfter = effect.truncate ? Math.floor(bytes / 2) : undefined;
  // In a run, each body takes about a second. An empty one has no parts, so its rate of 0 does not matter.
  const bytesPerSecond = isOfRun && effect.slow !== undefined ? bytes : effect.slow;
  const delivery: Delivery = {
    delayMs: fired.latency,
    kind: deliveryKinds[ends],
    isWhole: ends === "sent",
    cutAfter,
    bytesPerSecond,
  };
  return { ...result, fault: `fault.${kind}`, delivery };
}

/** The outcome and the response of a call that a fault of this kind hits, before the fault cuts or delays it. */
function resultOfKind(
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
      return { ...failureResponse(sandbox, call, effect), outcome: "fault.status" };
    case "reset":
      return { ...noResponse, outcome: "fault.reset" };
    case "hang":
      return { ...noResponse, outcome: "fault.hang" };
    case "malformed":
      return { ...malformedResponse(sandbox, call), outcome: "fault.malformed" };
    case "truncate": {
      const whole =
        effect.status === undefined ? predict(sandbox, call) : failureResponse(sandbox, call, effect);
      return { ...whole, outcome: "fault.truncate" };
    }
  }
}

/** The response of a service that fails, which varies in the profile `varied`. */
function failureResponse(sandbox: SandboxState, call: ApiCall, effect: FaultEffects): FaultResponse {
  const kind: ResponseKind = { status: effect.status ?? defaultFailure, content: "faulty" };
  return withVariants(sandbox, call, kind, (varied) => plainFailure(varied, effect));
}

function plainFailure(call: ApiCall, effect: FaultEffects): FaultResponse {
  const { status = defaultFailure, retryAfter } = effect;
  let wait: FlatHeaders = [];
  if (retryAfter !== undefined) {
    const until = call.now + retryAfter.seconds * 1000;
    wait = retryAfterHeader(until, retryAfter.asDate, call.now);
  }

  if (effect.html) {
    const page = textBody(gatewayPage(status));
    return { response: responseOf(status, page, wait, "text/html"), code: null };
  }

  const { code, message } = failures[status];
  const headers: string[] = [];
  if (call.assumptions.request_id_on_errors) headers.push("X-Request-Id", call.id);
  headers.push(...wait);
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
  const kind: ResponseKind = { status: 200, content: "faulty" };
  return withVariants(sandbox, call, kind, ({ id }) => {
    const response = responseOf(200, textBody(brokenJson), ["X-Request-Id", id]);
    return { response, code: null };
  });
}

/** The result of a call while the service is not available, with the seconds of its `Retry-After`. Default: none. */
export function unavailableResult(
  sandbox: SandboxState,
  call: ApiCall,
  seconds?: number,
  asDate = false,
): CallResult {
  const fault = "fault.status";
  const effect: FaultEffects = {
    status: defaultFailure,
    ...(seconds !== undefined && { retryAfter: { seconds, asDate } }),
  };

  // A date is on the wall clock, which the client reads. Clients subtract `Date` from it, so that is of the same clock.
  const date = asDate ? sandbox.platform.time() : undefined;
  const { response, code } = plainFailure({ ...call, now: date ?? call.now }, effect);
  return { response, code, date, outcome: fault, fault };
}

/** The parts in which adapters send a body that may be cut or slow, and the pause before each. */
export function bodyParts(
  body: string,
  { cutAfter, bytesPerSecond }: Partial<Pick<Delivery, "cutAfter" | "bytesPerSecond">>,
): { readonly parts: readonly Uint8Array[]; readonly pauseMs: number } {
  // Without `cutAfter`, all of the body.
  const sentBytes = new TextEncoder().encode(body).subarray(0, cutAfter);
  if (bytesPerSecond === undefined) {
    const parts = sentBytes.length === 0 ? [] : [sentBytes];
    return { parts, pauseMs: 0 };
  }

  // At most twenty parts a second, each of at least one byte.
  const pauseMs = Math.max(50, 1000 / bytesPerSecond);
  const bytes = Math.max(1, Math.round((bytesPerSecond * pauseMs) / 1000));
  const parts: Uint8Array[] = [];
  for (let start = 0; start < sentBytes.length; start += bytes) {
    parts.push(sentBytes.subarray(start, start + bytes));
  }
  return { parts, pauseMs };
}

/** The effect of a fault, as its example has it. A status comes with a gateway's page if that is wanted. */
export function exampleOfFault(fault: FaultOutcomeId, hasPage: boolean): Fault["then"] {
  const { example } = faultKindRow(fault);
  if (fault === "fault.status" && hasPage) return { ...example, body: "html" };
  return example;
}
