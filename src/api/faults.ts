import { fireFault } from "../sandbox/faults.js";
import { type Delivery, noAnswer } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { type FailureStatus, type FaultEffect, failures, faultPathOf, onlyDelays } from "../spec/fault.js";
import type { ApiPathId } from "../spec/outcomes.js";
import { type ApiCall, answerCall, answerOf, asChosen, type Ending, evaluateAnswer } from "./answer.js";
import { errorBody, textBody, utf8Length } from "./messages.js";

/**
 * Applies the first fault that fires on the call, before authorization; `undefined` if none does. The path id is the
 * fault's, or the response's if the fault only delays it. A delayed call is authorized and counted; a call with any
 * other fault is not counted (R24).
 */
export function applyFault(world: SandboxState, call: ApiCall): Ending | undefined {
  let expected: ApiPathId | undefined;
  const fired = fireFault(world.faults, call.number, {
    key: call.entry?.key.ref,
    organization: call.entry?.key.organization,
    now: call.now,
    expectedPath() {
      expected ??= evaluateAnswer(world, call).pathId;
      return expected;
    },
  });
  if (fired === undefined) return undefined;
  const fault = faultPathOf(fired.effect);
  const ending = onlyDelays(fired.effect)
    ? answerCall(world, call)
    : { ...faultyAnswer(world, call, fired.effect), pathId: fault };
  const { reset, hang, truncate, slow } = fired.effect;
  const bytes = utf8Length(ending.answer.body);
  const delivery: Delivery = {
    delayMs: fired.latency,
    kind: reset ? "reset" : hang ? "hang" : "send",
    cutAfter: truncate ? Math.floor(bytes / 2) : undefined,
    // In a trial of a client, each body takes about a second.
    bytesPerSecond: slow !== undefined && world.trial?.faults !== undefined ? bytes : slow,
  };
  return { ...ending, fault, delivery };
}

/** The ending of a call while the service is not available. */
export function unavailable(world: SandboxState, call: ApiCall): Ending {
  const fault = "fault.status";
  return { ...faultyAnswer(world, call, { status: 503 }), pathId: fault, fault };
}

function faultyAnswer(
  world: SandboxState,
  begun: ApiCall,
  { reset, hang, status, html, malformed }: FaultEffect,
): Pick<Ending, "answer" | "code"> {
  const call = asChosen(world, begun, malformed ? 200 : (status ?? 0));
  if (reset || hang) return { answer: noAnswer, code: null };
  const requestId = ["X-Request-Id", call.id];
  // The same for every key.
  if (malformed) return { answer: answerOf(200, textBody(brokenJson), requestId), code: null };
  // Only the body is truncated: a consent request that it reports exists, and the client must find out.
  if (status === undefined) {
    const ending = evaluateAnswer(world, call);
    ending.commit?.();
    return ending;
  }
  if (html) return { answer: answerOf(status, textBody(gatewayPage(status)), [], "text/html"), code: null };
  const { code, message } = failures[status];
  const headers = call.assumptions.request_id_on_errors ? requestId : [];
  return { answer: answerOf(status, errorBody(code, message), headers), code };
}

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

/** Whether the complete response is sent, only later. */
export function onlyWaits({ kind, cutAfter }: Delivery): boolean {
  return kind === "send" && cutAfter === undefined;
}

/** The parts of a body in order, with the pause before each. */
export function bodyParts(
  body: string,
  { cutAfter, bytesPerSecond }: Partial<Pick<Delivery, "cutAfter" | "bytesPerSecond">>,
): { readonly parts: readonly Uint8Array[]; readonly pauseMs: number } {
  const whole = new TextEncoder().encode(body);
  const sent = cutAfter === undefined ? whole : whole.subarray(0, cutAfter);
  if (bytesPerSecond === undefined) return { parts: sent.length === 0 ? [] : [sent], pauseMs: 0 };
  const pauseMs = Math.max(50, 1000 / bytesPerSecond);
  const bytes = Math.max(1, Math.round((bytesPerSecond * pauseMs) / 1000));
  const parts: Uint8Array[] = [];
  for (let start = 0; start < sent.length; start += bytes) parts.push(sent.subarray(start, start + bytes));
  return { parts, pauseMs };
}
