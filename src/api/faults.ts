import { type FailureStatus, type FaultEffect, failures, faultPathOf, onlyDelays } from "../domain/fault.js";
import type { ApiPathId, FaultPathId, PathId } from "../domain/outcomes.js";
import { type FiredFault, fireFault } from "../sandbox/faults.js";
import type { World } from "../sandbox/world.js";
import { answerCall, answerUncounted, type Ending, evaluateAnswer, type Target } from "./answer.js";
import { type Call, requestIdOf } from "./call.js";
import { type ApiAnswer, utf8Length } from "./messages.js";
import { answerOf, errorBody } from "./reply.js";

/** The ending of a call that a fault hit. */
export interface FaultyEnding extends Omit<Ending, "pathId"> {
  readonly fault: FaultPathId;
  /** The path of the fault; of the answer, where the fault only delays it. */
  readonly pathId: PathId;
  readonly delivery: Delivery;
}

/**
 * Applies the first fault that fires on the call, before it is authorized; `undefined` when none does.
 *
 * A call that is only delayed is authorized and counts; any other counts nothing (R24).
 */
export function applyFault(world: World, call: Call, target: Target): FaultyEnding | undefined {
  let expected: ApiPathId | undefined;
  const fired = fireFault(world.faults.active, call.number, {
    key: call.entry?.key.ref,
    organization: call.entry?.key.organization,
    now: call.now,
    expectedPath() {
      expected ??= evaluateAnswer(world, call, target).pathId;
      return expected;
    },
  });
  if (fired === undefined) return undefined;
  const fault = faultPathOf(fired.effect);
  if (onlyDelays(fired.effect)) {
    const ending = answerCall(world, call, target);
    return { ...ending, fault, delivery: deliveryOf(fired, ending.answer) };
  }
  const { answer, code } = faultyAnswer(world, call, target, fired.effect);
  return { fault, pathId: fault, answer, code, delivery: deliveryOf(fired, answer) };
}

function faultyAnswer(
  world: World,
  call: Call,
  target: Target,
  { reset, hang, status, html, malformed }: FaultEffect,
): Pick<Ending, "answer" | "code"> {
  if (reset || hang) return { answer: noAnswer, code: null };
  if (malformed) return { answer: malformedReply(world, call), code: null };
  if (status !== undefined && html) return { answer: gatewayPage(status), code: null };
  if (status !== undefined) {
    return { answer: failureReply(world, call, status), code: failures[status].code };
  }
  // Only its body is cut off: a consent request that it reports was made, and the client has to find out.
  return answerUncounted(world, call, target);
}

function deliveryOf({ effect, latency }: FiredFault, { body }: ApiAnswer): Delivery {
  const { reset, hang, truncate, slow } = effect;
  return {
    delayMs: latency,
    kind: reset ? "reset" : hang ? "hang" : "send",
    cutAfter: truncate ? Math.floor(utf8Length(body) / 2) : undefined,
    bytesPerSecond: slow,
  };
}

const noAnswer: ApiAnswer = { status: 0, headers: [], body: "" };

// A failure of the service, in the API's error body.
function failureReply(world: World, call: Call, status: FailureStatus): ApiAnswer {
  const { code, message } = failures[status];
  const requestId = call.assumptions.request_id_on_errors ? ["X-Request-Id", requestIdOf(world, call)] : [];
  return answerOf(status, errorBody(code, message), requestId);
}

// A failure of a gateway, which answers with a page of its own.
function gatewayPage(status: FailureStatus): ApiAnswer {
  const title = `${status} ${failures[status].reason}`;
  const text = `<html>\r
<head><title>${title}</title></head>\r
<body>\r
<center><h1>${title}</h1></center>\r
<hr><center>gateway</center>\r
</body>\r
</html>\r
`;
  return answerOf(status, { text, bytes: text.length }, [], "text/html");
}

// The same for every key.
const brokenJson = '{"data":{"organization":,"environment":"","scopes":[}}';

// A success whose body arrives whole and is no JSON.
function malformedReply(world: World, call: Call): ApiAnswer {
  const body = { text: brokenJson, bytes: utf8Length(brokenJson) };
  return answerOf(200, body, ["X-Request-Id", requestIdOf(world, call)]);
}

/** The delivery of an answer that a fault changed, as adapters carry it out; plain data. */
export interface Delivery {
  /** Milliseconds of real time before anything happens. */
  readonly delayMs: number;
  /** Send the answer, reset the connection, or send nothing until the client gives up. */
  readonly kind: "send" | "reset" | "hang";
  /** Bytes of the body before the connection is closed; `undefined` when it is sent whole. */
  readonly cutAfter: number | undefined;
  /** The rate of the body; `undefined` for at once. */
  readonly bytesPerSecond: number | undefined;
}

const shortestPause = 50;

/** The parts of a body in their order, and the pause before each. */
export function partsOf(
  body: string,
  { cutAfter, bytesPerSecond }: Pick<Delivery, "cutAfter" | "bytesPerSecond">,
): { readonly parts: readonly Uint8Array[]; readonly pauseMs: number } {
  const whole = new TextEncoder().encode(body);
  const sent = cutAfter === undefined ? whole : whole.subarray(0, cutAfter);
  if (bytesPerSecond === undefined) return { parts: sent.length === 0 ? [] : [sent], pauseMs: 0 };
  const pauseMs = Math.max(shortestPause, 1000 / bytesPerSecond);
  const bytes = Math.max(1, Math.round((bytesPerSecond * pauseMs) / 1000));
  const parts: Uint8Array[] = [];
  for (let start = 0; start < sent.length; start += bytes) parts.push(sent.subarray(start, start + bytes));
  return { parts, pauseMs };
}
