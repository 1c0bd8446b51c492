import { noAdvice, observe } from "../sandbox/journal/client-behavior.js";
import type { ShownKey } from "../sandbox/journal/counts.js";
import type { ApiResponse, Delivery, Ending, Exchange } from "../sandbox/journal/exchange.js";
import { settled } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { SendStoryRequest, StoryResponse } from "../sandbox/steps.js";
import { fingerprintOf, formOfKey, isWellFormedKey, parseApiKey } from "../spec/api-key.js";
import type { Presented } from "../spec/authorize.js";
import { outcomeOf } from "../spec/outcomes.js";
import { containsKey, copyOf, findFirstKeys, isOfWords, redactKeys, redactPath } from "../spec/redact.js";
import { type ApiRequest, type Received, type RequestContent, receivedRequest } from "../spec/request.js";
import {
  hasBody,
  hasKeyInOtherHeader,
  hasKeyInQuery,
  hasQuery,
  isMeantAsKey,
  type RequestTraits,
  shows,
} from "../spec/request-traits.js";
import type { InputSchema } from "./endpoint.js";
import { applyFault, bodyParts } from "./faults.js";
import { type FlatHeaders, headerPairs } from "./messages.js";
import { bodyOf, contentOf, noBody } from "./request-input.js";
import { type ApiCall, asChosen, respondToCall } from "./response.js";
import { routeOf } from "./routes.js";
import { variationOf } from "./variation/vary.js";

/**
 * Responds to a request to the API and records it.
 *
 * Synchronous; never throws on its own: every request has a response. Counts the request against the key's limits
 * (R24). If a fault hit the response, deliver it according to `delivery`.
 *
 * @example
 * const headers = ["x-api-key", "SVC_test_sbx0abc"];
 * handle(world, receivedRequest({ method: "GET", path: "/v1/relying-party/me", query: "", headers })).status; // 401
 */
export function handle(world: SandboxState, request: ApiRequest): Exchange {
  const call = beginCall(world, request);
  const faulty = world.faults.length === 0 ? undefined : applyFault(world, call);
  const ending = faulty ?? respondToCall(world, call);
  return completeCall(world, call, world.variant?.end?.(world, call, ending) ?? ending);
}

/** Starts a call: looks up its key and assigns its number. The user's handler responds to a guarded call. */
export function beginCall(world: SandboxState, request: ApiRequest, { isGuarded = false } = {}): ApiCall {
  const { apiKey, keyHash } = request;
  const started = world.platform.stopwatch();
  const now = world.clock.now();
  // Settles the timeline up to this instant, even if the clock has moved since.
  if (world.timeline.dueAt <= now) settled(world);
  const sha256 = apiKey === undefined ? "" : (keyHash ?? world.platform.sha256(apiKey));
  const entry = world.registry.find(sha256);
  const { number, id } = world.requestIds.next();
  const variation = isVaried(world) ? variationOf(world, number) : undefined;
  const route = isGuarded ? undefined : routeOf(world, request.path);
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

// Whether responses vary, or the variant of a run chooses their variants.
function isVaried({ profile, variant }: SandboxState): boolean {
  return profile === "varied" || (profile === "typical" && variant !== undefined);
}

/** The kind of the presented key (R9, R10). An empty header is malformed, not missing. */
export function presentedAs(apiKey: string | undefined): Presented {
  if (apiKey === undefined) return "missing";
  return isWellFormedKey(apiKey) ? "well_formed" : "malformed";
}

export function completeCall(world: SandboxState, call: ApiCall, ending: Ending): Exchange {
  const judgment = judge(world, call, ending);
  const exchange = describe(world, call, ending, judgment);
  if (judgment.isCounted)
    world.counters.count(exchange, judgment.misplaced?.keys, world.variant?.observe(world, exchange));
  world.history.record(exchange);
  return exchange;
}

function judge(world: SandboxState, call: ApiCall, { pathId, delivery }: Ending) {
  const { request, endpoint, isGuarded, presented, now: at } = call;
  const misplaced = misplacedKeys(world, call);
  const own = traitsOf(call);
  const traits = misplaced?.isNotAlone === true ? own | hasKeyInOtherHeader : own;
  const isMisdirected = endpoint === undefined && !isGuarded;
  const leaksRealKey = misplaced?.hasRealKey === true;
  const isProbe = isProbeOfServer(call);
  const isForTools = hasUnknownPath(call) && request.path.includes(ownPaths);
  const isCounted = !request.fromStory && !isForTools && !isProbe;
  // True for nearly every 200: no advice depends on it.
  const isUnremarkable =
    traits === 0 &&
    (pathId === "200.test" || pathId === "200.live") &&
    !world.behavior.rejected.has(call.sha256) &&
    !leaksRealKey;
  // No advice if the response hides what was wrong with the request.
  const isAdvised = isCounted && world.variant?.end === undefined && !isUnremarkable;
  const { advice, isResent } = isAdvised
    ? observe(world, call, { at, traits, isMisdirected, leaksRealKey, presented, pathId, delivery })
    : unobserved;
  return { traits, isMisdirected, leaksRealKey, isProbe, misplaced, isCounted, advice, isResent };
}

const unobserved = { advice: noAdvice, isResent: undefined };

function describe(
  world: SandboxState,
  begun: ApiCall,
  ending: Ending,
  judgment: ReturnType<typeof judge>,
): Exchange {
  const { request, route, endpoint, entry } = begun;
  const { pathId, fault = null, delivery } = ending;
  const response = request.method === "HEAD" ? { ...ending.response, body: "" } : ending.response;
  const status = begun.isGuarded ? outcomeOf(pathId).status : response.status;
  const call = begun.variation === undefined ? begun : asChosen(world, begun, status);
  const content = keptContent(begun);
  const delayMs = delivery === undefined ? 0 : delivery.delayMs;
  const { traits, isMisdirected, leaksRealKey, isProbe, advice, isResent } = judgment;
  return {
    number: begun.number,
    id: call.id,
    at: begun.now,
    // Unknown methods and paths may contain anything, including keys.
    method: endpoint === undefined ? redactKeys(request.method) : request.method,
    path: route === undefined || route.isPattern ? redactPath(request.path) : route.path,
    content: content === "unrepeatable" ? undefined : content,
    isRepeatable: content !== "unrepeatable",
    fromStory: request.fromStory,
    operation: endpoint?.operationId ?? null,
    isMisdirected,
    isProbe,
    traits,
    leaksRealKey,
    presented: begun.presented,
    client: request.client,
    keyForm: keyFormIn(begun),
    key: entry === undefined ? null : entry.key.ref,
    fingerprint: request.apiKey === undefined ? null : fingerprintOf(begun.sha256),
    pathId,
    fault,
    status,
    code: ending.code,
    note: ending.note,
    response,
    delivery,
    // To the microsecond: more digits make the journal longer in state files.
    durationMs: Math.round((world.platform.stopwatch() - begun.started + delayMs) * 1000) / 1000,
    advice,
    isResent,
    hasCreated: (endpoint?.creates && ending.commit !== undefined) || undefined,
  };
}

// Of a key that the sandbox does not have.
function keyFormIn({ entry, request: { apiKey, keyForm } }: ApiCall): string | undefined {
  return entry !== undefined || apiKey === undefined ? undefined : (keyForm ?? formOfKey(apiKey));
}

// The paths that browsers, watchdogs and load balancers request from any server.
const probedPath =
  /^\/(?:favicon\.ico|apple-touch-icon[^/]*\.png|robots\.txt|healthz?|livez|readyz|ping|status|metrics|actuator\/health(?:\/.*)?|\.well-known\/.*)?$/;

function isProbeOfServer(call: ApiCall): boolean {
  const { method, path, apiKey, traits, fromStory } = call.request;
  // Checked first, because it is cheap and every request gets here.
  if (!hasUnknownPath(call) || fromStory) return false;
  const hasKey = apiKey !== undefined || shows(traits, hasKeyInQuery | hasKeyInOtherHeader);
  return !hasKey && (method === "GET" || method === "HEAD") && probedPath.test(redactPath(path));
}

function hasUnknownPath({ route, isGuarded }: ApiCall): boolean {
  return route === undefined && !isGuarded;
}

// Ids are shorter, encoded keys longer.
const longestQueryWord = 40;
// The journal keeps a thousand of them.
const longestRest = 1000;

// A query or a body with a key in it (R46), or an unreadable one, is not kept.
function keptContent({ request, endpoint, isGuarded }: ApiCall): RequestContent | undefined | "unrepeatable" {
  if (isGuarded) return "unrepeatable";
  if (endpoint?.input === undefined || request.content === undefined) return undefined;
  const { query, contentType = "", idempotencyKey = "", body } = request.content;
  const isKept =
    body.problem === undefined &&
    query.length + contentType.length + idempotencyKey.length <= longestRest &&
    isOfWords(query, longestQueryWord, "-._=&,:") &&
    ![query, contentType, idempotencyKey, body.text].some(containsKey);
  return isKept ? { ...request.content, query: copyOf(query), headers: [] } : "unrepeatable";
}

// Declared input causes no advice.
function traitsOf({ request: { traits }, endpoint }: ApiCall): RequestTraits {
  const { query, body }: Partial<InputSchema> = endpoint?.input ?? {};
  return traits & ~((query === undefined ? 0 : hasQuery) | (body === undefined ? 0 : hasBody));
}

// The paths of the sandbox's own tools, under any base URL; API clients do not call them.
const ownPaths = "/__sandbox/";

// Describes the keys of a request in places where no key belongs, without containing them (R46); `undefined` if it has none.
function misplacedKeys(world: SandboxState, call: ApiCall) {
  const { presented } = call;
  const { apiKey = "", path, keysInPath, evidence } = call.request;
  const isUnknown = hasUnknownPath(call);
  if (presented !== "malformed" && evidence === undefined && !isUnknown) return undefined;
  const inHeader = presented === "malformed" ? findFirstKeys(apiKey) : [];
  const isNotAlone = presented === "malformed" && isMeantAsKey(apiKey, inHeader);
  const inPath = isUnknown ? (keysInPath ?? findFirstKeys(path)) : [];
  const { inQuery = [], inHeaders = [] } = evidence ?? {};
  const all = [...inQuery, ...inHeaders, ...inHeader, ...inPath];
  if (all.length === 0 && !isNotAlone) return undefined;
  const real = all.find((key) => parseApiKey(key)?.marked === false && shownKey(world, key).key === null);
  const notAlone = inHeaders[0] ?? (isNotAlone ? inHeader[0] : undefined);
  return {
    /** Whether one of them may be a real key: well-formed, not created by a sandbox, and unknown here. */
    hasRealKey: real !== undefined,
    /** Whether `x-api-key` contains more than the key, or a variable's name. */
    isNotAlone,
    /** The key for each advice id, if it is not the key in `x-api-key`. */
    keys: {
      ...(inQuery[0] !== undefined && { "key-in-query": shownKey(world, inQuery[0]) }),
      ...(notAlone !== undefined && { "key-in-authorization": shownKey(world, notAlone) }),
      ...(real !== undefined && { "real-key-suspected": shownKey(world, real) }),
    },
  };
}

function shownKey({ platform, registry }: SandboxState, key: string): ShownKey {
  const sha256 = platform.sha256(key);
  return { key: registry.find(sha256)?.key.ref ?? null, fingerprint: fingerprintOf(sha256) };
}

/**
 * Sends requests of a story or of the control plane directly to the sandbox's API, without a network and without the
 * delays of faults. The journal records these requests. The report does not, because no client sent them.
 */
export function storySender(
  world: SandboxState,
): (request: Parameters<SendStoryRequest>[0]) => StoryResponse {
  return ({ method, path: target, headers, body, keyHash }) => {
    const [path = "/", query] = target.split(/\?(.*)/s);
    const received: Received = {
      method,
      path,
      query: query === undefined ? "" : `?${query}`,
      headers: Object.entries(headers).flat(),
      traits: body === undefined || body === "" ? 0 : hasBody,
    };
    const sent = body === undefined ? noBody : bodyOf(new TextEncoder().encode(body));
    const { response, pathId, fault, delivery } = handle(world, {
      ...receivedRequest(received),
      keyHash,
      fromStory: true,
      content: contentOf(received, sent),
    });
    return { ...sentResponse(response, delivery), pathId, fault };
  };
}

/** A response as sent: its headers by lower-case name, and its body, which may be truncated. */
export function sentResponse(
  { status, headers, body }: ApiResponse,
  { cutAfter }: Partial<Delivery> = {},
): Pick<StoryResponse, "status" | "headers" | "body"> {
  return {
    status,
    headers: status === 0 ? {} : joinedHeaders(headers),
    body: cutAfter === undefined ? body : new TextDecoder().decode(bodyParts(body, { cutAfter }).parts[0]),
  };
}

function joinedHeaders(flat: FlatHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [given, value] of headerPairs(flat)) {
    const name = given.toLowerCase();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}
