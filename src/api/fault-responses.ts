import {
  effectAt,
  type FailureStatus,
  type FaultEffect,
  type FaultKind,
  type FaultOutcomeId,
  failures,
  faultEffects,
  mainEffectOf,
} from "../rules/fault-effects.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import { randomStream } from "../rules/seed.js";
import type { Fault, FiredFault } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { ApiResponse, CallResult, Delivery } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { errorBody, textBody, utf8Length } from "./http-messages.js";
import { retryAfterHeader } from "./limits.js";
import { predict } from "./predict.js";
import { respondToCall, responseOf } from "./respond.js";
import { withVariants } from "./variation/vary.js";

/** What a call gets from a fault, before authorization. A call that it only delays is authorized and counted, any other is not (R24). */
export function faultyResult(
  sandbox: SandboxState,
  call: ApiCall,
  fired: FiredFault,
  isOfRun = false,
): CallResult {
  const kind = mainEffectOf(fired.effect);
  const fault = `fault.${kind}` as const;
  const { ends } = faultEffects[kind];
  // A delayed response keeps its outcome.
  const result = isDelay(kind)
    ? respondToCall(sandbox, call)
    : { ...responses[kind](sandbox, call, fired.effect), outcome: fault };
  const { truncate, slow } = fired.effect;
  const bytes = utf8Length(result.response.body);
  const delivery: Delivery = {
    delayMs: fired.latency,
    kind: deliveryKinds[ends],
    isWhole: isDelay(kind) || ends === "sent",
    cutAfter: truncate ? Math.floor(bytes / 2) : undefined,
    // In a run, each body takes about a second.
    bytesPerSecond: isOfRun && slow !== undefined ? bytes : slow,
  };
  return { ...result, fault, delivery };
}

/** The result of a call while the service is not available, with the seconds of its `Retry-After`. Default: none. */
export function unavailable(
  sandbox: SandboxState,
  call: ApiCall,
  seconds?: number,
  asDate = false,
): CallResult {
  const fault = "fault.status";
  const effect: FaultEffect = {
    status: 503,
    ...(seconds !== undefined && { retryAfter: { seconds, asDate } }),
  };
  // A date is on the wall clock, which the client reads. Clients subtract `Date` from it, so that is of the same clock.
  const date = asDate ? sandbox.platform.time() : undefined;
  const { response, code } = statusResponse({ ...call, now: date ?? call.now }, effect);
  return { response, code, date, outcome: fault, fault };
}

/** What adapters do for each end of an effect. */
const deliveryKinds = {
  sent: "send",
  cut: "send",
  reset: "reset",
  hang: "hang",
} as const satisfies Readonly<Record<(typeof faultEffects)[FaultKind]["ends"], Delivery["kind"]>>;

type FaultResponse = (
  sandbox: SandboxState,
  call: ApiCall,
  effect: FaultEffect,
) => Pick<CallResult, "response" | "code" | "requestId">;

const noResponse: ApiResponse = Object.freeze({ status: 0, headers: [], body: "" });

const none: FaultResponse = () => ({ response: noResponse, code: null });

function statusResponse(call: ApiCall, { status = 503, html, retryAfter }: FaultEffect) {
  const { seconds = 0, asDate = false } = retryAfter ?? {};
  const wait = retryAfter ? retryAfterHeader(call.now + seconds * 1000, asDate, call.now) : [];
  if (html)
    return { response: responseOf(status, textBody(gatewayPage(status)), wait, "text/html"), code: null };
  const { code, message } = failures[status];
  const headers = [...(call.assumptions.request_id_on_errors ? ["X-Request-Id", call.id] : []), ...wait];
  return { response: responseOf(status, errorBody(code, message), headers), code };
}

const failure: FaultResponse = (sandbox, call, effect) =>
  withVariants(sandbox, call, { status: effect.status ?? 503, content: "faulty" }, (varied) =>
    statusResponse(varied, effect),
  );

/** The same for every key. */
const brokenResponse: FaultResponse = (sandbox, call) =>
  withVariants(sandbox, call, { status: 200, content: "faulty" }, ({ id }) => ({
    response: responseOf(200, textBody(brokenJson), ["X-Request-Id", id]),
    code: null,
  }));

type Delay = FaultKind &
  { [Kind in FaultKind]: (typeof faultEffects)[Kind]["onlyDelays"] extends true ? Kind : never }[FaultKind]; // the table's

function isDelay(kind: FaultKind): kind is Delay {
  return faultEffects[kind].onlyDelays;
}

const responses: Readonly<Record<Exclude<FaultKind, Delay>, FaultResponse>> = {
  status: failure,
  reset: none,
  hang: none,
  malformed: brokenResponse,
  truncate: (sandbox, call, effect) =>
    effect.status === undefined ? predict(sandbox, call) : failure(sandbox, call, effect),
};

const brokenJson = '{"data":{"organization":,"environment":"","scopes":[}}';

// A gateway responds with its own page.
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

export function bodyParts(
  body: string,
  { cutAfter, bytesPerSecond }: Partial<Pick<Delivery, "cutAfter" | "bytesPerSecond">>,
): { readonly parts: readonly Uint8Array[]; readonly pauseMs: number } {
  const whole = new TextEncoder().encode(body);
  const sentBytes = cutAfter === undefined ? whole : whole.subarray(0, cutAfter);
  if (bytesPerSecond === undefined) return { parts: sentBytes.length === 0 ? [] : [sentBytes], pauseMs: 0 };
  const pauseMs = Math.max(50, 1000 / bytesPerSecond);
  const bytes = Math.max(1, Math.round((bytesPerSecond * pauseMs) / 1000));
  const parts: Uint8Array[] = [];
  for (let start = 0; start < sentBytes.length; start += bytes)
    parts.push(sentBytes.subarray(start, start + bytes));
  return { parts, pauseMs };
}

/** Whether the status of a fault on an outcome comes with a gateway's page: on about half of the outcomes. */
function sendsPage(outcome: OutcomeId): boolean {
  return randomStream(0, "fault.page", outcome)() % 2 === 1;
}

/** The effect of a fault, as its example has it. A status comes with a gateway's page if that is wanted. */
export function exampleOfFault(fault: FaultOutcomeId, hasPage: boolean): Fault["then"] {
  const { example } = effectAt(fault);
  return fault === "fault.status" && hasPage ? { ...example, body: "html" } : example;
}

/** Returns a fault of one kind for the first request that would end on each outcome. */
export function faultsOn(outcomes: readonly OutcomeId[], fault: FaultOutcomeId): Fault[] {
  return outcomes.map((outcome) => {
    const then = exampleOfFault(fault, sendsPage(outcome));
    return { when: { outcome: outcome as ApiOutcomeId, requests: [1] }, then };
  });
}
