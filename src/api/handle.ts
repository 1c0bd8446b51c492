import { fingerprintOf, formOfKey } from "../rules/api-key.js";
import type { ApiOutcomeId } from "../rules/outcomes.js";
import { redactKeys } from "../rules/redact.js";
import { type ApiRequest, type RequestTraits, withTraits } from "../rules/request.js";
import { redactPath } from "../rules/request-path.js";
import { fireFault } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import { appendExchange } from "../sandbox/append-exchange.js";
import { noAdvice } from "../sandbox/journal/client-behavior.js";
import type { CallResult, Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { faultyResult } from "./fault-responses.js";
import { isProbe, type MisplacedKeys, misplacedKeysOf } from "./misplaced-keys.js";
import { faultFacts, predictOutcome } from "./predict.js";
import { respondToCall } from "./respond.js";
import { startCall } from "./start-call.js";

/**
 * Responds to a request to the API and records it.
 *
 * Synchronous; never throws on its own: every request has a response. Counts the request against the key's limits
 * (R24). If a fault hit the response, deliver it according to `delivery`.
 *
 * @example
 * const headers = ["x-api-key", "SVC_test_sbx0abc"];
 * handle(sandbox, receivedRequest({ method: "GET", path: "/v1/relying-party/me", query: "", headers })).status; // 401
 */
export function handle(sandbox: SandboxState, request: ApiRequest): Exchange {
  const call = startCall(sandbox, request);
  const result = resultOf(sandbox, call);
  const misplaced = misplacedKeysOf(sandbox, call);
  const exchange = exchangeOf(sandbox, call, result, misplaced);
  appendExchange(sandbox, exchange, call, misplaced.keys);
  return exchange;
}

/** What a call gets: what the client's run puts in its place, or a fault, or what the checks decide. */
function resultOf(sandbox: SandboxState, call: ApiCall): CallResult {
  const { run, faults } = sandbox;
  if (run === undefined && faults.length === 0) return respondToCall(sandbox, call);
  let outcome: ApiOutcomeId | undefined;
  const expectedOutcome = () => (outcome ??= predictOutcome(sandbox, call));
  const facts = faultFacts(call, expectedOutcome, call.request.method);
  // In any case, because the scenario's faults count their requests.
  const fault = fireFault(faults, call.number, facts);
  const respond = () =>
    fault === undefined ? respondToCall(sandbox, call) : faultyResult(sandbox, call, fault);
  const isOfClient = run !== undefined && !call.request.fromStory;
  return isOfClient ? run.intercept(sandbox, call, { facts, fault, respond }) : respond();
}

/** Describes a call and its response for the journal, without a key (R46). `appendExchange` adds its advice. */
function exchangeOf(
  sandbox: SandboxState,
  call: ApiCall,
  result: CallResult,
  { isNotAlone, leaksRealKey }: MisplacedKeys,
): Exchange {
  const { request, route, endpoint, entry } = call;
  const { outcome, fault = null, delivery, date, requestId = call.id } = result;
  const response = request.method === "HEAD" ? { ...result.response, body: "" } : result.response;
  const { status } = response;
  const delayMs = delivery === undefined ? 0 : delivery.delayMs;
  return {
    number: call.number,
    id: requestId,
    at: call.now,
    // Unknown methods and paths may contain anything, including keys.
    method: endpoint === undefined ? redactKeys(request.method) : request.method,
    path: route === undefined || route.isPattern ? redactPath(request.path) : route.path,
    fromStory: request.fromStory,
    operation: endpoint?.operationId ?? null,
    isMisdirected: endpoint === undefined,
    isProbe: isProbe(call),
    traits: traitsOf(call, isNotAlone),
    leaksRealKey,
    presented: call.presented,
    keptHeaders: request.keptHeaders,
    keyForm: keyFormIn(call),
    key: entry === undefined ? null : entry.key.ref,
    fingerprint: request.apiKey === undefined ? null : fingerprintOf(call.sha256),
    outcome,
    fault,
    status,
    code: result.code,
    response,
    delivery,
    date,
    // To the microsecond: more digits make the journal longer in state files.
    durationMs: Math.round((sandbox.platform.stopwatch() - call.started + delayMs) * 1000) / 1000,
    advice: noAdvice,
    isResent: undefined,
  };
}

// Of a key that the sandbox does not have.
function keyFormIn({ entry, request: { apiKey } }: ApiCall): string | undefined {
  return entry !== undefined || apiKey === undefined ? undefined : formOfKey(apiKey);
}

// Only `/me` is specified to read neither a query nor a body (R8).
function traitsOf({ request: { traits }, endpoint }: ApiCall, isNotAlone: boolean): RequestTraits {
  if (traits.length === 0 && !isNotAlone) return traits;
  const isOther = endpoint !== undefined && !endpoint.isMe;
  const ofEndpoint = traits.filter((trait) => !isOther || (trait !== "query" && trait !== "body"));
  return withTraits(ofEndpoint, isNotAlone ? ["key in other header"] : []);
}
