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
import { errorBody, type FlatHeaders, textBody, utf8Length } from "./http-messages.js";
import { retryAfterHeader } from "./limits.js";
import { predict } from "./predict.js";
import { respondToCall, responseOf } from "./respond.js";
import { type ResponseKind, withVariants } from "./variation/vary.js";

/** What a call gets from a fault, before authorization. A call that it only delays is authorized and counted, any other is not (R24). */
export function faultyResult(
  sandbox: SandboxState,
  call: ApiCall,
  fired: FiredFault,
  isOfRun = false,
): CallResult {
  const { effect } = fired;
  const kind = mainEffectOf(effect);
  const { ends } = faultEffects[kind];
  const result = faultyResponse(sandbox, call, effect, kind);

  const bytes = utf8Length(result.response.body);
  const cutAfter = effect.truncate ? Math.floor(bytes / 2) : undefined;
  // In a run, each body takes about a second.
  const bytesPerSecond = isOfRun && effect.slow !== undefined ? bytes : effect.slow;
  const isWhole = isDelay(kind) || ends === "sent";
  const delivery: Delivery = {
    delayMs: fired.latency,
    kind: deliveryKinds[ends],
    isWhole,
    cutAfter,
    bytesPerSecond,
  };
  return { ...result, fault: `fault.${kind}`, delivery };
}

function faultyResponse(
  sandbox: SandboxState,
  call: ApiCall,
  effect: FaultEffect,
  kind: FaultKind,
): CallResult {
  // A delayed response keeps its outcome.
  if (isDelay(kind)) return respondToCall(sandbox, call);
  return { ...responses[kind](sandbox, call, effect), outcome: `fault.${kind}` };
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
) => Pick<CallResult, "response" | "code" | "requestId" | "points">;

const noResponse: ApiResponse = Object.freeze({ status: 0, headers: [], body: "" });

const none: FaultResponse = () => ({ response: noResponse, code: null });

function statusResponse(call: ApiCall, effect: FaultEffect) {
  const { status = 503, retryAfter } = effect;
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

const failure: FaultResponse = (sandbox, call, effect) => {
  const kind: ResponseKind = { status: effect.status ?? 503, content: "faulty" };
  return withVariants(sandbox, call, kind, (varied) => statusResponse(varied, effect));
};

/** The same for every key. */
const brokenResponse: FaultResponse = (sandbox, call) => {
  const kind: ResponseKind = { status: 200, content: "faulty" };
  return withVariants(sandbox, call, kind, ({ id }) => {
    const response = responseOf(200, textBody(brokenJson), ["X-Request-Id", id]);
    return { response, code: null };
  });
};

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
  truncate: (sandbox, call, effect) => {
    if (effect.status !== undefined) return failure(sandbox, call, effect);
    return predict(sandbox, call);
  },
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
  // All of the body without `cutAfter`.
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

/** Whether the status of a fault on an outcome comes with a gateway's page: on about half of the outcomes. */
function sendsPage(outcome: OutcomeId): boolean {
  return randomStream(0, "fault.page", outcome)() % 2 === 1;
}

/** The effect of a fault, as its example has it. A status comes with a gateway's page if that is wanted. */
export function exampleOfFault(fault: FaultOutcomeId, hasPage: boolean): Fault["then"] {
  const { example } = effectAt(fault);
  if (fault === "fault.status" && hasPage) return { ...example, body: "html" };
  return example;
}

/** Returns a fault of one kind for the first request that would end on each outcome. */
export function faultsOn(outcomes: readonly OutcomeId[], fault: FaultOutcomeId): Fault[] {
  return outcomes.map((outcome) => {
    const then = exampleOfFault(fault, sendsPage(outcome));
    return { when: { outcome: outcome as ApiOutcomeId, requests: [1] }, then };
  });
}
