import {
  describeKeyForm,
  fingerprintOf,
  isWellFormedKey,
  type PresentedKind,
} from "../rules/keys/key-text.js";
import { redactPath } from "../rules/keys/redact.js";
import { controlPath } from "../rules/paths.js";
import { type ApiRequest, hasKeyElsewhere } from "../rules/request.js";
import type { ApiCall, CallResult } from "../sandbox/call.js";
import { faultFacts, fireFault } from "../sandbox/faults.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { advise, findUnusual } from "./advise.js";
import { predictOutcome } from "./authorize.js";
import { routeAt } from "./endpoints.js";
import { faultyResult } from "./fault-responses.js";
import { respondToCall } from "./respond.js";

/**
 * Responds to a request to the API and records it.
 *
 * Synchronous; never throws on its own. Counts the request against the key's limits
 * (R24). If a fault hit the response, deliver it according to `delivery`.
 *
 * @example
 * const headers = ["x-api-key", "SVC_test_sbx0abc"];
 * handle(sandbox, readApiRequest({ method: "GET", path: "/v1/relying-party/me", query: "", headers })).status; // 401
 */
export function handle(sandbox: SandboxState, request: ApiRequest): Exchange {
  const call = startCall(sandbox, request);
  const result = resultOf(sandbox, call);
  const exchange = makeExchange(sandbox, call, result);

  if (isFromClient(exchange)) {
    // No advice if the responses of a run hide what was wrong with a request.
    if (!sandbox.clientRun?.hidesOutcomes) advise(sandbox, call, exchange);
    // The journal forgets, the counters do not.
    sandbox.counters.count(exchange, result.trace);
  }
  sandbox.journal.record(exchange);
  // V8 keeps the last text that a pattern has matched, as `RegExp.input`: it may be one with a key (R35).
  /^/.test("");
  return exchange;
}

/** Starts a call: runs what is due before it, looks up its key and its route, and assigns its number. */
export function startCall(sandbox: SandboxState, request: ApiRequest): ApiCall {
  const { apiKey, keyHash } = request;
  const started = sandbox.platform.stopwatch();
  const now = sandbox.clock.now();
  runDue(sandbox, now);

  const sha256 = apiKey === undefined ? "" : (keyHash ?? sandbox.platform.sha256(apiKey));
  const entry = sandbox.registry.find(sha256);
  // An empty header is malformed, not missing (R9, R10).
  let presented: PresentedKind = "missing";
  if (apiKey !== undefined) presented = isWellFormedKey(apiKey) ? "well_formed" : "malformed";
  const { number, id } = sandbox.requestIds.next();
  const route = routeAt(sandbox.routes, request.path);
  return {
    request,
    route,
    endpoint: route?.methods.get(request.method),
    started,
    now,
    presented,
    sha256,
    entry,
    number,
    id,
    assumptions: sandbox.assumptions,
    date: sandbox.clientRun === undefined ? undefined : sandbox.platform.time(),
  };
}

/** What a call gets: from the run of its client, if there is one, or else from the sandbox alone. A fault that fires comes before the checks. */
function resultOf(sandbox: SandboxState, call: ApiCall): CallResult {
  // Nearly always, and on the way of a request each closure counts.
  if (sandbox.clientRun === undefined && sandbox.faults.length === 0) return respondToCall(sandbox, call);

  const facts = faultFacts(call, call.request.method, () => predictOutcome(sandbox, call));
  const fault = fireFault(sandbox.faults, call.number, facts);
  // A fault that replaces the response leaves the call uncounted for the limits of its key (R24).
  const respond = () => {
    if (fault === undefined) return respondToCall(sandbox, call);
    return faultyResult(sandbox, call, fault);
  };
  // No client sent a call of the sandbox itself.
  if (sandbox.clientRun === undefined || call.request.fromStory) return respond();
  return sandbox.clientRun.resultOf(sandbox, call, { facts, fault, respond });
}

/** A call with its result, without a key (R46). */
function makeExchange(sandbox: SandboxState, call: ApiCall, result: CallResult): Exchange {
  const { request, route, endpoint, entry } = call;
  const { apiKey } = request;
  const { outcome, delivery } = result;
  const { traits, leaksRealKey, keysOfAdvice } = findUnusual(sandbox, call);

  // Unknown methods and paths may contain anything, including keys.
  const method = endpoint === undefined ? redactPath(request.method) : request.method;
  const path = route === undefined || route.isPattern ? redactPath(request.path) : route.path;

  let { response } = result;
  if (request.method === "HEAD") response = { ...response, body: "" };

  let duration = sandbox.platform.stopwatch() - call.started;
  if (delivery !== undefined) duration += delivery.latencyMs;

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
    traits,
    leaksRealKey,
    keysOfAdvice,
    presented: call.presented,
    keptHeaders: request.keptHeaders,
    keyForm: entry === undefined && apiKey !== undefined ? describeKeyForm(apiKey) : undefined,
    key: entry === undefined ? null : entry.key.ref,
    fingerprint: apiKey === undefined ? null : fingerprintOf(call.sha256),
    outcome,
    fault: result.fault ?? null,
    status: response.status,
    code: result.code,
    response,
    delivery,
    date: result.date,
    // To the microsecond: more digits make the journal longer in state files.
    durationMs: Math.round(duration * 1000) / 1000,
    // `advise` sets both, by the exchanges before this one.
    advice: [],
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

/** Whether a client sent a request to the API: no story, no probe, and no call of the control plane. */
function isFromClient(exchange: Exchange): boolean {
  const { fromStory, isProbe: isOfProbe, isMisdirected, path } = exchange;
  if (fromStory || isOfProbe) return false;
  // Meant for the control plane, at a wrong base URL: `/v1/__sandbox` or `/v1/__sandbox/keys`.
  const isOfControl = path.endsWith(controlPath) || path.includes(`${controlPath}/`);
  return !(isMisdirected && isOfControl);
}
