import { type FaultEffect, failures, faultPathOf, onlyDelays } from "../domain/fault.js";
import type { ApiPathId, FaultPathId, PathId } from "../domain/outcomes.js";
import { type FiredFault, fireFault } from "../sandbox/faults.js";
import type { World } from "../sandbox/world.js";
import { answerCall, answerUncounted, evaluateAnswer, type Target } from "./answer-call.js";
import { assumedFor, type BegunCall } from "./call.js";
import type { Delivery } from "./delivery.js";
import { codeOf } from "./error-body.js";
import { failureReply, gatewayPage, malformedReply, noAnswer } from "./failure-reply.js";
import { type ApiAnswer, utf8Length } from "./messages.js";

/** How a call ended that a fault hit. */
export interface FaultyEnding {
  readonly fault: FaultPathId;
  /** That of the fault; where it only lets the answer wait, that of the answer. */
  readonly pathId: PathId;
  readonly answer: ApiAnswer;
  /** The error code of the answer; `null` when it has none. */
  readonly code: string | null;
  readonly delivery: Delivery;
}

/**
 * Lets the faults of the world have the call before the gate does; `undefined` when none of them hits it.
 *
 * What a fault only delays goes on through the gate and counts; anything else counts nothing (R24).
 */
export function applyFault(world: World, call: BegunCall, target: Target): FaultyEnding | undefined {
  let foreseen: ApiPathId | undefined;
  const fired = fireFault(world.faults.active, call.number, {
    key: call.entry?.key.ref,
    organization: call.entry?.key.organization,
    now: call.now,
    foreseenPath() {
      foreseen ??= evaluateAnswer(world, call, target).pathId;
      return foreseen;
    },
  });
  if (fired === undefined) return undefined;
  const fault = faultPathOf(fired.effect);
  if (onlyDelays(fired.effect)) {
    const { pathId, answer } = answerCall(world, call, target);
    const code = codeOf(pathId, assumedFor(world, call));
    return { fault, pathId, answer, code, delivery: deliveryOf(fired, answer) };
  }
  const { answer, code } = spoilt(world, call, target, fired.effect);
  return { fault, pathId: fault, answer, code, delivery: deliveryOf(fired, answer) };
}

function spoilt(
  world: World,
  call: BegunCall,
  target: Target,
  { reset, hang, status, html, malformed }: FaultEffect,
): { answer: ApiAnswer; code: string | null } {
  if (reset || hang) return { answer: noAnswer, code: null };
  if (malformed) return { answer: malformedReply(world, call), code: null };
  if (status !== undefined && html) return { answer: gatewayPage(status), code: null };
  if (status !== undefined) {
    return { answer: failureReply(world, call, status), code: failures[status].code };
  }
  // Only its body is cut off: a consent request that it tells of is there, and a client has to find that out.
  const { pathId, answer } = answerUncounted(world, call, target);
  return { answer, code: codeOf(pathId, assumedFor(world, call)) };
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
