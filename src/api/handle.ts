import {
  describeKeyForm,
  fingerprintOf,
  isWellFormedKey,
  type PresentedKind,
} from "../rules/keys/key-text.js";
import { redactPath } from "../rules/keys/redact.js";
import { controlPath } from "../rules/known-paths.js";
import { type ApiRequest, hasKeyElsewhere, mergeTraits, type RequestTraits } from "../rules/request.js";
import type { ApiCall, CallResult } from "../sandbox/call.js";
import { type FaultFacts, type FiredFault, faultFacts, fireFault } from "../sandbox/faults.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { isStepDue } from "../sandbox/timeline.js";
import { advise, noAdvice } from "./advise.js";
import { faultyResult } from "./fault-responses.js";
import { findMisplacedKeys, type MisplacedKeys } from "./misplaced-keys.js";
import { predictOutcome, respondToCall } from "./respond.js";
import { routeAt } from "./routes.js";

/**
 * Responds to a request to the API and records it.
 *
 * Synchronous; never throws on its own: every request has a response. Counts the request against the key's limits
 * (R24). If a fault hit the response, deliver it according to `delivery`.
 *
 * @example
 * const headers = ["x-api-key", "SVC_test_sbx0abc"];
 * handle(sandbox, readApiRequest({ method: "GET", path: "/v1/relying-party/me", query: "", headers })).status; // 401
 */
export function handle(sandbox: SandboxState, request: ApiRequest): Exchange {
  const call = startCall(sandbox, request);
  const result = resultOf(sandbox, call);
  const misplaced = findMisplacedKeys(sandbox, call);
  const exchange = makeExchange(sandbox, call, result, misplaced);
  appendExchange(sandbox, exchange, call, result.trace);
  return exchange;
}

/** Starts a call: runs what is due before it, looks up its key and its route, and assigns its number. */
export function startCall(sandbox: SandboxState, request: ApiRequest): ApiCall {
  const { apiKey, keyHash } = request;
  const started = sandbox.platform.stopwatch();
  const now = sandbox.clock.now();

  // Also runs a step that has become due since this instant: `runDue` reads the clock again.
  if (isStepDue(sandbox.timeline, now)) runDue(sandbox);

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
  };
}

/** The kind of the presented key (R9, R10). An empty header is malformed, not missing. */
function presentedAs(apiKey: string | undefined): PresentedKind {
  if (apiKey === undefined) return "missing";
  return isWellFormedKey(apiKey) ? "well_formed" : "malformed";
}

/** What a call gets: from the run of its client, if there is one, or else from the sandbox alone. */
function resultOf(sandbox: SandboxState, call: ApiCall): CallResult {
  const { run, faults } = sandbox;
  // No client sent a call of the sandbox itself.
  if (run !== undefined && !call.request.fromStory) return run.resultOf(sandbox, call);
  if (faults.length === 0) return respondToCall(sandbox, call);
  return resultWith(sandbox, call, fireFault(faults, call.number, factsOfCall(sandbox, call)));
}

/** What faults see of a call. */
export function factsOfCall(sandbox: SandboxState, call: ApiCall): FaultFacts {
  return faultFacts(call, call.request.method, () => predictOutcome(sandbox, call));
}

/** What a call gets from the fault that fired on it, or else from the checks and its endpoint. Counts the call for the limits of its key, unless the fault replaces the response (R24). */
export function resultWith(sandbox: SandboxState, call: ApiCall, fault: FiredFault | undefined): CallResult {
  if (fault === undefined) return respondToCall(sandbox, call);
  return faultyResult(sandbox, call, fault);
}

/** A call with its result, without a key (R46). */
function makeExchange(
  sandbox: SandboxState,
  call: ApiCall,
  result: CallResult,
  { isAlmostKey, leaksRealKey, keysOfAdvice }: MisplacedKeys,
): Exchange {
  const { request, route, endpoint, entry } = call;
  const { outcome, delivery } = result;

  // Unknown methods and paths may contain anything, including keys.
  const method = endpoint === undefined ? redactPath(request.method) : request.method;
  const path = route === undefined || route.isPattern ? redactPath(request.path) : route.path;

  let { response } = result;
  if (request.method === "HEAD") response = { ...response, body: "" };

  let duration = sandbox.platform.stopwatch() - call.started;
  if (delivery !== undefined) duration += delivery.delayMs;

  return {
    number: call.number,
    id: result.requestId ?? call.id,
    at: call.now,
    method,
    path,
    fromStory: request.fromStory,
    operation: endpoint?.operationId ?? null,
    isMisdirected: endpoint === undefined,
    isProbe: isProbe(call),
    traits: shownTraits(call, isAlmostKey),
    leaksRealKey,
    keysOfAdvice,
    presented: call.presented,
    keptHeaders: request.keptHeaders,
    keyForm: unknownKeyForm(call),
    key: entry === undefined ? null : entry.key.ref,
    fingerprint: request.apiKey === undefined ? null : fingerprintOf(call.sha256),
    outcome,
    fault: result.fault ?? null,
    faultName: result.faultName,
    status: response.status,
    code: result.code,
    response,
    delivery,
    date: result.date,
    // To the microsecond: more digits make the journal longer in state files.
    durationMs: Math.round(duration * 1000) / 1000,
    // `appendExchange` sets both, by the exchanges before this one.
    advice: noAdvice,
    isResent: undefined,
  };
}

/** The paths that browsers, watchdogs and load balancers request from any server. */
const probedPath =
  /^\/(?:favicon\.ico|apple-touch-icon[^/]*\.png|robots\.txt|healthz?|livez|readyz|ping|status|metrics|actuator\/health(?:\/.*)?|\.well-known\/.*)?$/;

/** Whether a call probes any web server, such as for a favicon. */
function isProbe(call: ApiCall): boolean {
  const { method, path, apiKey, traits, fromStory } = call.request;
  if (call.route !== undefined || fromStory) return false;
  // A client of the API has a key, or tries to send one.
  if (apiKey !== undefined || hasKeyElsewhere(traits)) return false;
  if (method !== "GET" && method !== "HEAD") return false;
  return probedPath.test(redactPath(path));
}

/** The form of a presented key that the sandbox does not have. */
function unknownKeyForm(call: ApiCall): string | undefined {
  const { apiKey } = call.request;
  if (call.entry !== undefined || apiKey === undefined) return undefined;
  return describeKeyForm(apiKey);
}

/** What is unusual about a request, now that its endpoint and its key are known. */
function shownTraits(call: ApiCall, isAlmostKey: boolean): RequestTraits {
  let { traits } = call.request;
  if (traits.length === 0 && !isAlmostKey) return traits;

  // Only `/me` is specified to read neither a query nor a body (R8).
  const { endpoint } = call;
  if (endpoint !== undefined && !endpoint.isMe) {
    traits = traits.filter((trait) => trait !== "query" && trait !== "body");
  }
  // An almost-key in `x-api-key` and a key in another header have the same advice: send the key alone, in `x-api-key`.
  if (isAlmostKey) traits = mergeTraits(traits, ["key in other header"]);
  return traits;
}

/**
 * Appends an exchange to the journal, with advice, and counts it for the report: the journal forgets, the counters do not.
 * `trace` is what a client's run keeps of it.
 */
function appendExchange(
  sandbox: SandboxState,
  exchange: Exchange,
  call: ApiCall,
  trace: object | undefined,
): void {
  if (isFromClient(exchange)) {
    // No advice if the responses of a run hide what was wrong with a request.
    if (!sandbox.run?.hidesOutcomes) advise(sandbox, call, exchange);
    sandbox.counters.count(exchange, trace);
  }
  sandbox.journal.record(exchange);
}

/** Whether a client sent a request to the API: no story, no probe, and no call of the control plane. */
function isFromClient(exchange: Exchange): boolean {
  if (exchange.fromStory || exchange.isProbe) return false;
  return !isLostControlCall(exchange);
}

/** Whether a request was meant for the control plane, at a wrong base URL: `/v1/__sandbox` or `/v1/__sandbox/keys`. */
function isLostControlCall({ isMisdirected, path }: Exchange): boolean {
  if (!isMisdirected) return false;
  return path.endsWith(controlPath) || path.includes(`${controlPath}/`);
}
