import { isWellFormedKey } from "../domain/api-key.js";
import { type AuthorizationFacts, authorize, type Presented } from "../domain/authorize.js";
import type { ApiPathId } from "../domain/outcomes.js";
import type { KeyEntry } from "../sandbox/registry.js";
import { countRequest, settleUsage } from "../sandbox/usage.js";
import type { World } from "../sandbox/world.js";
import type { BegunCall } from "./call.js";
import type { Endpoint } from "./endpoint.js";
import type { ApiAnswer, ApiRequest } from "./messages.js";
import { errorReply, successReply } from "./reply.js";
import { readInput } from "./request-input.js";
import type { Route } from "./routes.js";

/** The route and endpoint of a request, as far as the API has them. */
export interface Target {
  readonly request: ApiRequest;
  readonly route: Route | undefined;
  readonly endpoint: Endpoint | undefined;
}

/** The path and the answer on which a call ended. */
export interface Ending {
  readonly pathId: ApiPathId;
  readonly answer: ApiAnswer;
}

/** An ending whose changes to the world are not made yet. */
interface Decision extends Ending {
  readonly commit?: (() => void) | undefined;
}

/** Authorizes, counts and answers a call (R24). */
export function answerCall(world: World, call: BegunCall, target: Target): Ending {
  const decided = decide(world, call, target);
  decided.commit?.();
  return decided;
}

/** Answers a call without counting it, for an answer that does not arrive whole. Its changes are made all the same. */
export function answerUncounted(world: World, call: BegunCall, target: Target): Ending {
  const decided = evaluateAnswer(world, call, target);
  decided.commit?.();
  return decided;
}

/** The dry run of a call: counts and changes nothing. */
export function evaluateAnswer(world: World, call: BegunCall, target: Target): Decision {
  const { entry } = call;
  if (entry === undefined) return decide(world, call, target);
  // Counted in a copy, so that a success shows the usage that the caller would have seen.
  const usage = { ...entry.usage, recent: [...entry.usage.recent] };
  return decide(world, { ...call, entry: { ...entry, usage } }, target);
}

function decide(world: World, call: BegunCall, { request, route, endpoint }: Target): Decision {
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
  const input = readInput(endpoint, route, request, call.now);
  const responded = "refused" in input ? input : endpoint.respond(call.entry as KeyEntry, world, input);
  if ("refused" in responded) {
    const { refused, details } = responded;
    return { pathId: refused, answer: errorReply(world, call, { path: refused, details }) };
  }
  return { pathId, answer: successReply(world, call, endpoint, responded), commit: responded.commit };
}

/** Authorizes a call and counts it if it is let in (R24); returns its path. */
export function authorizeAndCount(
  world: World,
  { apiKey, entry, now }: BegunCall,
  scope: string | null,
): ApiPathId {
  const { assumptions, windows } = world;
  const pathId = authorize(authorizationFacts(world, presentedAs(apiKey), entry, scope, now));
  // Only keys of this world have counters.
  if (entry !== undefined && (isAdmitted(pathId) || assumptions.count_refused)) {
    countRequest(entry.usage, windows, now);
  }
  return pathId;
}

/** Whether a request on this path was let in. */
export function isAdmitted(pathId: ApiPathId): boolean {
  return pathId.startsWith("200");
}

/** The kind of key that was presented (R9, R10). An empty header is present, but malformed. */
export function presentedAs(apiKey: string | undefined): Presented {
  if (apiKey === undefined) return "missing";
  return isWellFormedKey(apiKey) ? "well_formed" : "malformed";
}

/** The facts that authorize a request with this key at `now`. Settles the usage of the key first. */
export function authorizationFacts(
  world: World,
  presented: Presented,
  entry: KeyEntry | undefined,
  scope: string | null,
  now: number,
): AuthorizationFacts {
  if (entry !== undefined) settleUsage(entry.usage, world.windows, now);
  return {
    presented,
    key: entry?.key,
    organization: entry?.holder.organization,
    now,
    scope,
    usedThisMinute: entry?.usage.minuteCount ?? 0,
    usedToday: entry?.usage.dayCount ?? 0,
  };
}
