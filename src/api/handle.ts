import { noAdvice, observe } from "../sandbox/client-behaviour.js";
import type { ApiAnswer, ApiRequest, Exchange, RequestContent } from "../sandbox/history/exchange.js";
import type { World } from "../sandbox/world.js";
import { fingerprintOf, isWellFormedKey } from "../spec/api-key.js";
import type { Presented } from "../spec/authorize.js";
import { outcomeOf } from "../spec/outcomes.js";
import { containsKey, copyOf, isOfWords, redactKeys, redactPath } from "../spec/redact.js";
import {
  hasBody,
  hasKeyInOtherHeader,
  hasKeyInQuery,
  hasQuery,
  type RequestTraits,
  shows,
} from "../spec/request-traits.js";
import { answerCall, type Ending } from "./answer.js";
import { asChosen, type Call } from "./call.js";
import { changedEnding, routeOf } from "./changes.js";
import type { InputSchema } from "./endpoint.js";
import { applyFault } from "./faults.js";
import { findMisplacedKeys, type MisplacedKeys } from "./misplaced-keys.js";
import { variationOf } from "./variation/vary.js";

/**
 * Responds to a request to the API and records it.
 *
 * Synchronous; never throws on its own: every request has a response. Counts the request against the key's limits
 * (R24). If a fault hit the response, deliver it according to `delivery`.
 *
 * @example
 * handle(world, { method: "GET", path: "/v1/relying-party/me", apiKey: undefined }).status; // 401
 */
export function handle(world: World, request: ApiRequest): Exchange {
  const call = beginCall(world, request);
  const faulty = world.faults.active.length === 0 ? undefined : applyFault(world, call);
  const ended = faulty ?? answerCall(world, call);
  const ending = world.changes === undefined ? ended : changedEnding(world, call, ended);
  const broken = world.trial?.broken?.end(world, call, ending) as Ending | undefined;
  return completeCall(world, call, broken ?? ending);
}

/** Starts a call: looks up its key and assigns its number. The user's handler responds to a guarded call. */
export function beginCall(world: World, request: ApiRequest, { isGuarded = false } = {}): Call {
  const { apiKey, keyHash } = request;
  const started = world.platform.stopwatch();
  const now = world.clock.now();
  // Settles the timeline up to this instant, even if the clock has moved since.
  if (world.timeline.dueAt <= now) world.settle();
  const sha256 = apiKey === undefined ? "" : (keyHash ?? world.platform.sha256(apiKey));
  const entry = world.registry.find(sha256);
  const { number, id } = world.requestIds.next();
  const variation = isVaried(world) ? variationOf(world, number) : undefined;
  const route = isGuarded ? undefined : routeOf(world, request.path, now);
  return {
    request,
    route,
    endpoint: route?.methods.get(request.method),
    isGuarded,
    started,
    now,
    presented: presentedAs(apiKey),
    sha256,
    entry,
    number,
    id: variation === undefined ? id : variation.requestId,
    assumptions: variation === undefined ? world.assumptions : variation.assumptions,
    variation,
  };
}

// Whether responses vary, or a trial of a client chooses their variants.
function isVaried({ profile, trial }: World): boolean {
  return profile === "varied" || (profile === "typical" && trial?.choose !== undefined);
}

/** The kind of the presented key (R9, R10). An empty header is malformed, not missing. */
export function presentedAs(apiKey: string | undefined): Presented {
  if (apiKey === undefined) return "missing";
  return isWellFormedKey(apiKey) ? "well_formed" : "malformed";
}

/** Creates the record of a completed call for the journal, report, advice and events. */
export function completeCall(world: World, begun: Call, ending: Ending): Exchange {
  const { request, route, endpoint, isGuarded, entry } = begun;
  const { pathId, fault = null, delivery } = ending;
  const answer = sentAs(ending.answer, begun);
  const status = isGuarded ? outcomeOf(pathId).status : answer.status;
  const call = begun.variation === undefined ? begun : asChosen(world, begun, status);
  const misplaced = misplacedKeys(world, begun);
  const content = contentOf(begun);
  const delayMs = delivery === undefined ? 0 : delivery.delayMs;
  const exchange: Exchange = {
    number: begun.number,
    id: call.id,
    at: begun.now,
    // Unknown methods and paths may contain anything, including keys.
    method: endpoint === undefined ? redactKeys(request.method) : request.method,
    path: route === undefined || route.isPattern ? redactPath(request.path) : route.path,
    content: content === "unrepeatable" ? undefined : content,
    isRepeatable: content !== "unrepeatable",
    fromStory: request.fromStory === true,
    isPreview: route?.preview ?? false,
    isMisdirected: endpoint === undefined && !isGuarded,
    isProbe: isProbeOfServer(begun),
    traits: misplaced?.isNotAlone === true ? traitsOf(begun) | hasKeyInOtherHeader : traitsOf(begun),
    leaksRealKey: misplaced?.hasRealKey === true,
    presented: begun.presented,
    key: entry === undefined ? null : entry.key.ref,
    fingerprint: request.apiKey === undefined ? null : fingerprintOf(begun.sha256),
    pathId,
    fault,
    status,
    code: ending.code,
    answer,
    delivery,
    durationMs: world.platform.stopwatch() - begun.started + delayMs,
    advice: noAdvice,
  };
  const isForTools = hasUnknownPath(begun) && request.path.includes(ownPaths);
  const isUnjudged = exchange.fromStory || isForTools || exchange.isProbe;
  // No advice if the response hides what was wrong with the request.
  const isAdvised = !isUnjudged && world.trial?.broken === undefined;
  if (isAdvised && !isUnremarkable(world, begun, exchange))
    Object.assign(exchange, observe(world, begun, exchange));
  if (!isUnjudged) world.counters.count(exchange, misplaced?.keys);
  world.history.record(exchange);
  return exchange;
}

// True for nearly every 200: no advice depends on it.
function isUnremarkable(
  { behaviour }: World,
  { sha256 }: Call,
  { traits, pathId, leaksRealKey }: Exchange,
): boolean {
  return (
    traits === 0 &&
    (pathId === "200.test" || pathId === "200.live") &&
    !behaviour.rejected.has(sha256) &&
    !leaksRealKey
  );
}

// The real API will not have this header.
const previewMark = ["X-Sandbox-Preview", "true"];

function sentAs(answer: ApiAnswer, { request, route }: Call): ApiAnswer {
  const marked = route?.preview ? { ...answer, headers: [...answer.headers, ...previewMark] } : answer;
  return request.method === "HEAD" ? { ...marked, body: "" } : marked;
}

// The paths that browsers, watchdogs and load balancers request from any server.
const probedPath =
  /^\/(?:favicon\.ico|apple-touch-icon[^/]*\.png|robots\.txt|healthz?|livez|readyz|ping|status|metrics|actuator\/health(?:\/.*)?|\.well-known\/.*)?$/;

// Whether a browser or a watchdog sent a request, not a client of the API.
function isProbeOfServer(call: Call): boolean {
  const { method, path, apiKey, traits = 0, fromStory } = call.request;
  // Checked first, because it is cheap and every request gets here.
  if (!hasUnknownPath(call) || fromStory === true) return false;
  const hasKey = apiKey !== undefined || shows(traits, hasKeyInQuery | hasKeyInOtherHeader);
  return !hasKey && (method === "GET" || method === "HEAD") && probedPath.test(redactPath(path));
}

function hasUnknownPath({ route, isGuarded }: Call): boolean {
  return route === undefined && !isGuarded;
}

function misplacedKeys(world: World, call: Call): MisplacedKeys | undefined {
  const { request, presented } = call;
  const mayHaveKeys = presented === "malformed" || request.evidence !== undefined || hasUnknownPath(call);
  return mayHaveKeys ? findMisplacedKeys(world, call) : undefined;
}

// Ids are shorter, encoded keys longer.
const longestQueryWord = 40;

// The journal keeps a thousand of them.
const longestRest = 1000;

// A query or a body with a key in it (R46), or an unreadable one, is not kept.
function contentOf({ request, endpoint, isGuarded }: Call): RequestContent | undefined | "unrepeatable" {
  if (isGuarded) return "unrepeatable";
  if (endpoint?.input === undefined || request.content === undefined) return undefined;
  const { query, contentType = "", idempotencyKey = "", body } = request.content;
  const isKept =
    body.problem === undefined &&
    query.length + contentType.length + idempotencyKey.length <= longestRest &&
    isOfWords(query, longestQueryWord, "-._=&,:") &&
    ![query, contentType, idempotencyKey, body.text].some(containsKey);
  return isKept ? { ...request.content, query: copyOf(query) } : "unrepeatable";
}

// Declared input causes no advice.
function traitsOf({ request: { traits = 0 }, endpoint }: Call): RequestTraits {
  const { query, body }: InputSchema = endpoint?.input ?? {};
  return traits & ~((query === undefined ? 0 : hasQuery) | (body === undefined ? 0 : hasBody));
}

// The paths of the sandbox's own tools, under any base URL; API clients do not call them.
const ownPaths = "/__sandbox/";
