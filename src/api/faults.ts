import { type FailureStatus, type FaultEffect, failures, faultPathOf, onlyDelays } from "../domain/fault.js";
import type { ApiPathId, FaultPathId, PathId } from "../domain/outcomes.js";
import { type FiredFault, fireFault } from "../sandbox/faults.js";
import type { World } from "../sandbox/world.js";
import { answerCall, answerUncounted, type Ending, evaluateAnswer, type Target } from "./answer.js";
import { type Call, requestIdOf } from "./call.js";
import { type ApiAnswer, textBody, utf8Length } from "./messages.js";
import { answerOf, errorBody } from "./reply.js";
import { asChosen } from "./variation/chosen.js";

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
  const ending = faultyAnswer(world, call, target, fired.effect);
  return { ...ending, fault, pathId: fault, delivery: deliveryOf(fired, ending.answer) };
}

function faultyAnswer(
  world: World,
  begun: Call,
  target: Target,
  { reset, hang, status, html, malformed }: FaultEffect,
): Pick<Ending, "answer" | "code"> {
  const call = asChosen(world, begun, malformed ? 200 : (status ?? 0));
  if (reset || hang) return { answer: { status: 0, headers: [], body: "" }, code: null };
  const requestId = ["X-Request-Id", requestIdOf(world, call)];
  // The same for every key.
  if (malformed) return { answer: answerOf(200, textBody(brokenJson), requestId), code: null };
  // Only its body is cut off: a consent request that it reports was made, and the client has to find out.
  if (status === undefined) return answerUncounted(world, call, target);
  if (html) return { answer: answerOf(status, textBody(gatewayPage(status)), [], "text/html"), code: null };
  const { code, message } = failures[status];
  const headers = call.assumptions.request_id_on_errors ? requestId : [];
  return { answer: answerOf(status, errorBody(code, message), headers), code };
}

const brokenJson = '{"data":{"organization":,"environment":"","scopes":[}}';

// A gateway answers with a page of its own.
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

function deliveryOf({ effect, latency }: FiredFault, { body }: ApiAnswer): Delivery {
  const { reset, hang, truncate, slow } = effect;
  return {
    delayMs: latency,
    kind: reset ? "reset" : hang ? "hang" : "send",
    cutAfter: truncate ? Math.floor(utf8Length(body) / 2) : undefined,
    bytesPerSecond: slow,
  };
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

/** Whether the whole answer comes, only later. */
export function onlyWaits({ kind, cutAfter }: Delivery): boolean {
  return kind === "send" && cutAfter === undefined;
}

/** The parts of a body in their order, and the pause before each. */
export function partsOf(
  body: string,
  { cutAfter, bytesPerSecond }: Pick<Delivery, "cutAfter" | "bytesPerSecond">,
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
