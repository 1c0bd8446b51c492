import { isWellFormedKey } from "../rules/api-key.js";
import type { Assumptions } from "../rules/assumptions.js";
import type { Presented } from "../rules/authorize.js";
import type { ApiRequest } from "../rules/request.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import type { ObservedCall } from "../sandbox/journal/client-behavior.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { type ApiRoute, routeAt } from "./routes.js";
import { unvariedAssumptions, type Variation } from "./variation/vary.js";

/** A request with everything that its checks and its response need; read once, so that they agree. */
export interface ApiCall extends ObservedCall {
  readonly route: ApiRoute | undefined;
  readonly endpoint: Endpoint | undefined;
  readonly started: number;
  /** The request id, even if the response does not have it. */
  readonly id: string;
  readonly assumptions: Assumptions;
  /** The variation of its response, once its status is decided; `undefined` except in the profile `varied`. */
  readonly variation: Variation | undefined;
}

/** Starts a call: looks up its key and assigns its number. */
export function startCall(sandbox: SandboxState, request: ApiRequest): ApiCall {
  const { apiKey, keyHash } = request;
  const started = sandbox.platform.stopwatch();
  const now = sandbox.clock.now();
  // Runs the timeline up to this instant, even if the clock has moved since.
  if (sandbox.timeline.dueAt <= now) runDue(sandbox);
  const sha256 = apiKey === undefined ? "" : (keyHash ?? sandbox.platform.sha256(apiKey));
  const entry = sandbox.registry.find(sha256);
  const { number, id } = sandbox.requestIds.next();
  const route = routeAt(sandbox.endpoints, request.path);
  return {
    request,
    route,
    endpoint: route?.methods.get(request.method),
    started,
    now,
    presented: presentedAs(apiKey),
    sha256,
    entry,
    number,
    id,
    assumptions: sandbox.assumptions,
    variation: undefined,
    observed: sandbox.conditions && {
      points: [],
      scenario: sandbox.name,
      unvaried: unvariedAssumptions(sandbox),
    },
  };
}

/** The kind of the presented key (R9, R10). An empty header is malformed, not missing. */
function presentedAs(apiKey: string | undefined): Presented {
  if (apiKey === undefined) return "missing";
  return isWellFormedKey(apiKey) ? "well_formed" : "malformed";
}
