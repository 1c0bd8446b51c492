import { fingerprintOf, isWellFormedKey, noKey } from "../domain/api-key.js";
import type { Presented } from "../domain/authorize.js";
import { outcomeOf, type PathId } from "../domain/outcomes.js";
import { isProbe } from "../domain/probe.js";
import { containsKey, copyOf, isOfWords, redactKeys, redactPath } from "../domain/redact.js";
import {
  hasBody,
  hasKeyInOtherHeader,
  hasKeyInQuery,
  hasQuery,
  type RequestTraits,
  shows,
} from "../domain/request-traits.js";
import type { ApiAnswer, ApiRequest, Exchange, NamedLimit, RequestContent } from "../history/exchange.js";
import { noAdvice, observe } from "../world/client-behaviour.js";
import type { KeyEntry } from "../world/registry.js";
import type { World } from "../world/world.js";
import { answerCall, type Ending } from "./answer.js";
import { asChosen, type Call } from "./call.js";
import { changedEnding, routeOf } from "./changes.js";
import type { InputSchema } from "./endpoint.js";
import { applyFault } from "./faults.js";
import { limitNamedBy, readLimits } from "./limits.js";
import { findMisplacedKeys, type MisplacedKeys } from "./misplaced-keys.js";
import { variationOf } from "./variation/vary.js";

/**
 * Answers one request to the API and records it.
 *
 * Synchronous, and never throws by itself: every request has a response. Counts the request against the key's limits
 * (R24). A response that a fault hit must be delivered as `delivery` describes.
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

/** Begins a call: looks up its key and gives it its number. A handler of the user's responds to a guarded one. */
export function beginCall(world: World, request: ApiRequest, { isGuarded = false } = {}): Call {
  const { apiKey } = request;
  const started = world.platform.stopwatch();
  const now = world.clock.now();
  // The timeline is as far as this instant, even if the clock moved on since it was settled.
  if (world.timeline.dueAt <= now) world.settle();
  // Hashed and looked up in every case, so that the time taken does not tell the rejections apart (R14).
  const sha256 = world.platform.sha256(apiKey ?? noKey);
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
    delivery: request.delivery ?? { at: started },
    presented: presentedAs(apiKey),
    sha256,
    entry,
    number,
    id: variation === undefined ? id : variation.requestId,
    assumptions: variation === undefined ? world.assumptions : variation.assumptions,
    variation,
  };
}

// Whether responses are varied, or chosen point by point in a trial of a client.
function isVaried({ profile, trial }: World): boolean {
  return profile === "varied" || (profile === "typical" && trial?.choose !== undefined);
}

/** The kind of key that was presented (R9, R10). An empty header is present, but malformed. */
export function presentedAs(apiKey: string | undefined): Presented {
  // Checked in every case: a missing key takes as long as any other (R14).
  const isWellFormed = isWellFormedKey(apiKey ?? noKey);
  if (apiKey === undefined) return "missing";
  return isWellFormed ? "well_formed" : "malformed";
}

/** Makes the record of a call that has ended; journal, report, advice and events read it. */
export function completeCall(world: World, begun: Call, ending: Ending): Exchange {
  const { request, route, endpoint, isGuarded, entry } = begun;
  const { pathId, fault = null, delivery } = ending;
  const answer = sentAs(ending.answer, begun);
  const status = isGuarded ? outcomeOf(pathId).status : answer.status;
  const call = begun.variation === undefined ? begun : asChosen(world, begun, status);
  const misplaced = misplacedKeys(world, begun, pathId);
  const content = contentOf(begun);
  const delayMs = delivery === undefined ? 0 : delivery.delayMs;
  if (request.delivery === undefined) begun.delivery.at += delayMs;
  const exchange: Exchange = {
    number: begun.number,
    id: call.id,
    at: begun.now,
    // Methods and paths that the API does not have may hold anything, keys included.
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
    namedLimit: pathId.startsWith("429") ? limitNamedTo(call, world) : undefined,
    answer,
    delivery,
    durationMs: world.platform.stopwatch() - begun.started + delayMs,
    advice: noAdvice,
  };
  const isForTools = hasUnknownPath(begun) && request.path.includes(ownPaths);
  const isUnjudged = exchange.fromStory || isForTools || exchange.isProbe;
  // A client cannot know what was wrong with its request when the response hides it.
  const isAdvised = !isUnjudged && world.trial?.broken?.isAdvised !== false;
  if (isAdvised && !isUnremarkable(exchange, entry)) Object.assign(exchange, observe(world, begun, exchange));
  if (!isUnjudged) world.counters.count(exchange, misplaced?.keys);
  world.history.record(exchange);
  return exchange;
}

// Nearly every request that gets 200: nothing that advice depends on.
function isUnremarkable({ traits, pathId, leaksRealKey }: Exchange, entry: KeyEntry | undefined): boolean {
  return (
    traits === 0 &&
    (pathId === "200.test" || pathId === "200.live") &&
    entry?.behaviour === undefined &&
    entry?.key.replaces === undefined &&
    !leaksRealKey
  );
}

// The service will have no such header.
const previewMark = ["X-Sandbox-Preview", "true"];

function sentAs(answer: ApiAnswer, { request, route }: Call): ApiAnswer {
  const marked = route?.preview ? { ...answer, headers: [...answer.headers, ...previewMark] } : answer;
  return request.method === "HEAD" ? { ...marked, body: "" } : marked;
}

function isProbeOfServer(call: Call): boolean {
  const { method, path, apiKey, traits = 0, fromStory } = call.request;
  // First: every request is tested.
  if (!hasUnknownPath(call) || fromStory === true) return false;
  const hasKey = apiKey !== undefined || shows(traits, hasKeyInQuery | hasKeyInOtherHeader);
  return isProbe(method, redactPath(path), hasKey);
}

function hasUnknownPath({ route, isGuarded }: Call): boolean {
  return route === undefined && !isGuarded;
}

// Each 401 takes as long (R14).
function misplacedKeys(world: World, call: Call, pathId: PathId): MisplacedKeys | undefined {
  const { request, entry } = call;
  const isRejected = entry === undefined || pathId.startsWith("401");
  if (!isRejected && request.evidence === undefined && !hasUnknownPath(call)) return undefined;
  return findMisplacedKeys(world, call);
}

// Ids are shorter, encoded keys longer.
const longestQueryWord = 40;

// A thousand of them are kept.
const longestRest = 1000;

// Nothing is kept of a query or a body with a key in it (R46), or that could not be read.
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

function limitNamedTo({ request, entry, assumptions, now }: Call, world: World): NamedLimit {
  if (entry === undefined) return undefined;
  return limitNamedBy(assumptions, readLimits(entry, world, now), { hasBody: request.method !== "HEAD" });
}

// Input that the endpoint declares earns no advice.
function traitsOf({ request: { traits = 0 }, endpoint }: Call): RequestTraits {
  const { query, body }: InputSchema = endpoint?.input ?? {};
  return traits & ~((query === undefined ? 0 : hasQuery) | (body === undefined ? 0 : hasBody));
}

// The paths of our own tools, under any base URL: no client of the API calls them.
const ownPaths = "/__sandbox/";
