import { type AuthorizationFacts, authorize, type Presented } from "../domain/authorize.js";
import { type ApiPathId, outcomeOf } from "../domain/outcomes.js";
import { countRequest, settleUsage } from "../sandbox/counters.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import type { Call } from "./call.js";
import type { Endpoint, EndpointInput } from "./endpoint.js";
import type { ApiAnswer, ApiRequest } from "./messages.js";
import { codeOf, errorReply, type Refusal, successReply } from "./reply.js";
import { readInput } from "./request-input.js";
import { parametersIn, type Route } from "./routes.js";
import { asChosen } from "./variation/chosen.js";

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
  /** The error code of the answer; `null` when it has none. */
  readonly code: string | null;
  /** Makes the changes to the world that the answer tells of. */
  readonly commit?: (() => void) | undefined;
}

/** Authorizes, counts and answers a call (R24). */
export function answerCall(world: World, call: Call, target: Target): Ending {
  const decided = decide(world, call, target);
  decided.commit?.();
  return decided;
}

/** Answers a call without counting it, for an answer that does not arrive whole. Its changes are made all the same. */
export function answerUncounted(world: World, call: Call, target: Target): Ending {
  const decided = evaluateAnswer(world, call, target);
  decided.commit?.();
  return decided;
}

/** The dry run of a call: counts and changes nothing. */
export function evaluateAnswer(world: World, call: Call, target: Target): Ending {
  const { entry } = call;
  if (entry === undefined) return decide(world, call, target);
  // Counted in a copy, so that a success shows the usage that the caller would have seen.
  const usage = { ...entry.usage, recent: [...entry.usage.recent] };
  return decide(world, { ...call, entry: { ...entry, usage } }, target);
}

function decide(world: World, call: Call, { request, route, endpoint }: Target): Ending {
  if (route === undefined) return refuse(world, call, { path: "404.unknown_path" });
  if (endpoint === undefined) return refuse(world, call, { path: "405.method", allow: route.allow });
  const scope = endpoint.scope(world.assumptions);
  const pathId = authorizeAndCount(world, call, scope);
  if (!isAdmitted(pathId)) return refuse(world, call, { path: pathId, scope });
  // Written out: spreading an object would take longer than the rest of the answer.
  const plain: EndpointInput = {
    now: call.now,
    params: parametersIn(route, request.path),
    query: noQuery,
    body: undefined,
    idempotencyKey: undefined,
  };
  const input = endpoint.input === undefined ? plain : readInput(endpoint.input, plain, request.content);
  const responded = "refused" in input ? input : endpoint.respond(call.entry as KeyEntry, world, input);
  if ("refused" in responded) {
    return refuse(world, call, { path: responded.refused, details: responded.details });
  }
  const answer = successReply(world, call, endpoint, responded);
  return { pathId, answer, code: null, commit: responded.commit };
}

const noQuery: EndpointInput["query"] = Object.freeze({});

function refuse(world: World, call: Call, refusal: Refusal & { readonly path: ApiPathId }): Ending {
  const { path } = refusal;
  const { assumptions } = asChosen(world, call, outcomeOf(path).status);
  return { pathId: path, answer: errorReply(world, call, refusal), code: codeOf(path, assumptions) };
}

/** Authorizes a call and counts it if it is let in (R24); returns its path. */
export function authorizeAndCount(
  world: World,
  { presented, entry, now }: Call,
  scope: string | null,
): ApiPathId {
  const { assumptions, windows } = world;
  const pathId = authorize(authorizationFacts(world, presented, entry, scope, now));
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

/** The facts that authorize a request with this key at `now`. Settles the usage of the key first. */
export function authorizationFacts(
  world: World,
  presented: Presented,
  entry: KeyEntry | undefined,
  scope: string | null,
  now: number,
): AuthorizationFacts {
  settleUsage((entry ?? world.registry.decoy).usage, world.windows, now);
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
