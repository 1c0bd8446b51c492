import type { ApiPathId } from "../domain/outcomes.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import { authorizeAndCount, isAdmitted } from "./admit.js";
import type { BegunCall } from "./call.js";
import type { Endpoint } from "./endpoint.js";
import type { ApiAnswer, ApiRequest } from "./messages.js";
import { errorReply, successReply } from "./reply.js";
import { readInput } from "./request-input.js";
import type { Route } from "./routes.js";

/** What a request asks for, as far as the API has it. */
export interface Target {
  readonly request: ApiRequest;
  readonly route: Route | undefined;
  readonly endpoint: Endpoint | undefined;
}

/** How a call ended: on which path, with which answer. */
export interface Ending {
  readonly pathId: ApiPathId;
  readonly answer: ApiAnswer;
}

/** An ending of which the world does not know yet. */
export interface Decided extends Ending {
  readonly carryOut?: (() => void) | undefined;
}

/** Answers a call as the API does: from the gate or, past it, from the endpoint. Counts it if it is let in (R24). */
export function answerCall(world: World, call: BegunCall, target: Target): Ending {
  const decided = decide(world, call, target);
  decided.carryOut?.();
  return decided;
}

/**
 * Answers a call without counting it, for an answer that does not arrive whole: what the request asked for is done, and
 * only its sender does not know.
 */
export function answerUncounted(world: World, call: BegunCall, target: Target): Ending {
  const decided = evaluateAnswer(world, call, target);
  decided.carryOut?.();
  return decided;
}

/** How the call would end now, without counting it and without changing anything. */
export function evaluateAnswer(world: World, call: BegunCall, target: Target): Decided {
  const { entry } = call;
  if (entry === undefined) return decide(world, call, target);
  // Counted in the copy alone, so that a success tells the usage that the caller would have seen.
  const usage = { ...entry.usage, recent: [...entry.usage.recent] };
  return decide(world, { ...call, entry: { ...entry, usage } }, target);
}

function decide(world: World, call: BegunCall, { request, route, endpoint }: Target): Decided {
  if (route === undefined) {
    const pathId = "404.unknown_path";
    return { pathId, answer: errorReply(world, call, { path: pathId }) };
  }
  if (endpoint === undefined) {
    const pathId = "405.method";
    return { pathId, answer: errorReply(world, call, { path: pathId, allow: route.allow }) };
  }
  const scope = endpoint.scope(world.assumptions);
  const pathId = authorizeAndCount(world, call, scope);
  if (!isAdmitted(pathId)) return { pathId, answer: errorReply(world, call, { path: pathId, scope }) };
  const asked = readInput(endpoint, route, request, call.now);
  const responded = "refused" in asked ? asked : endpoint.respond(call.entry as KeyEntry, world, asked);
  if ("refused" in responded) {
    const { refused, details } = responded;
    return { pathId: refused, answer: errorReply(world, call, { path: refused, details }) };
  }
  return { pathId, answer: successReply(world, call, endpoint, responded), carryOut: responded.commit };
}
