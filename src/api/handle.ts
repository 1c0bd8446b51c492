import type { FaultPathId, PathId } from "../domain/outcomes.js";
import { redactKeys, redactPath } from "../domain/redact.js";
import {
  hasBody,
  hasKeyInOtherHeader,
  hasKeyInQuery,
  hasQuery,
  type RequestTraits,
  shows,
} from "../domain/request-traits.js";
import type { World } from "../sandbox/world.js";
import { answerCall } from "./answer.js";
import { beginCall, recordCall } from "./call.js";
import type { InputSchema } from "./endpoint.js";
import { applyFault, type Delivery } from "./faults.js";
import type { ApiAnswer, ApiRequest } from "./messages.js";
import { routeAt } from "./routes.js";

/** An answer and its path; the path is for journals and adapters, not for the caller. */
export interface Handled {
  readonly answer: ApiAnswer;
  readonly pathId: PathId;
  /** The fault that hit the request, also when it only delayed the answer. */
  readonly fault: FaultPathId | null;
  /** The delivery as a fault changed it; `undefined` to send the answer as it is. */
  readonly delivery: Delivery | undefined;
}

// The paths of our own tools, under any base URL: no client of the API calls them.
const ownPaths = "/__sandbox/";

// The paths that browsers, tools and watchdogs ask of any server.
const probedPaths: ReadonlySet<string> = new Set(["/", "/favicon.ico", "/health", "/robots.txt"]);

// The service will have no such header.
const previewMark = ["X-Sandbox-Preview", "true"];

/**
 * Answers one request to the API and writes it into the journal.
 *
 * Synchronous, and never throws by itself: every request has an answer. Counts the request against the key's limits
 * (R24). The answer to a request that meets a fault has to be delivered as `delivery` says.
 *
 * @example
 * handle(world, { method: "GET", path: "/v1/relying-party/me", apiKey: undefined }).answer.status; // 401
 */
export function handle(world: World, request: ApiRequest): Handled {
  const { method, path, apiKey, traits = 0, evidence } = request;
  const call = beginCall(world, apiKey);
  const route = routeAt(path, world.preview);
  const endpoint = route?.methods.get(method);
  const target = { request, route, endpoint };

  const faulty = world.faults.active.length === 0 ? undefined : applyFault(world, call, target);
  const { pathId, answer: given, code } = faulty ?? answerCall(world, call, target);
  const marked = route?.preview === true ? { ...given, headers: [...given.headers, ...previewMark] } : given;
  const answer = method === "HEAD" ? { ...marked, body: "" } : marked;
  const unknownPath = route === undefined ? path : undefined;
  recordCall(world, call, {
    // Methods and paths that the API does not have may hold anything, keys included.
    method: endpoint === undefined ? redactKeys(method) : method,
    path: route === undefined || route.isPattern ? redactPath(path) : route.path,
    pathId,
    status: answer.status,
    code,
    traits: endpoint?.input === undefined ? traits : traits & ~traitsOf(endpoint.input),
    isMisdirected: endpoint === undefined,
    isPreview: route?.preview === true,
    evidence,
    unknownPath,
    keysInPath: request.keysInPath,
    isUnjudged:
      request.isTold === true ||
      (unknownPath !== undefined && (unknownPath.includes(ownPaths) || isProbe(request))),
    isTold: request.isTold === true,
    answer,
    cutAfter: faulty?.delivery.cutAfter,
    content: endpoint?.input === undefined ? undefined : request.content,
    connection: request.connection,
    delivery: request.delivery,
    fault: faulty?.fault ?? null,
    delayMs: faulty?.delivery.delayMs ?? 0,
  });
  return {
    pathId,
    answer,
    fault: faulty?.fault ?? null,
    delivery: faulty?.delivery,
  };
}

function isProbe({ method, path, apiKey, traits = 0 }: ApiRequest): boolean {
  const hasKey = apiKey !== undefined || shows(traits, hasKeyInQuery | hasKeyInOtherHeader);
  return !hasKey && (method === "GET" || method === "HEAD") && probedPaths.has(path);
}

// Input that the endpoint declares earns no advice.
function traitsOf({ query, body }: InputSchema): RequestTraits {
  return (query === undefined ? 0 : hasQuery) | (body === undefined ? 0 : hasBody);
}
