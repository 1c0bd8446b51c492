import { describeKeyForm } from "../rules/describe-key-form.js";
import { fingerprintOf } from "../rules/key-text.js";
import { redactPlainKeys } from "../rules/redact.js";
import { redactPath } from "../rules/redact-path.js";
import type { ApiRequest } from "../rules/request.js";
import { mergeTraits, type RequestTraits } from "../rules/request-traits.js";
import type { ApiCall } from "../sandbox/api-call.js";
import { type FaultFacts, type FiredFault, faultFacts, fireFault } from "../sandbox/faults.js";
import type { CallResult } from "../sandbox/journal/call-result.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { noAdvice } from "./advise.js";
import { appendExchange } from "./append-exchange.js";
import { faultyResult } from "./fault-responses.js";
import { findMisplacedKeys, type MisplacedKeys } from "./misplaced-keys.js";
import { predictOutcome } from "./predict.js";
import { isProbe } from "./probe.js";
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
  const method = endpoint === undefined ? redactPlainKeys(request.method) : request.method;
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
