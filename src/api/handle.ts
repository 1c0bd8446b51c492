import { describeKeyForm, fingerprintOf } from "../rules/keys/key-text.js";
import { redactPath, redactPlainKeys } from "../rules/keys/redact.js";
import type { ApiRequest } from "../rules/request.js";
import { mergeTraits, type RequestTraits } from "../rules/request.js";
import type { ApiCall } from "../sandbox/api-call.js";
import { type FiredFault, fireFault } from "../sandbox/fire-faults.js";
import type { CallResult } from "../sandbox/journal/call-result.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { RunTrace } from "../sandbox/run-trace.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { noAdvice } from "./advise.js";
import { appendExchange } from "./append-exchange.js";
import { faultFacts } from "./fault-facts.js";
import { faultyResult } from "./fault-responses.js";
import { findMisplacedKeys, type MisplacedKeys } from "./misplaced-keys.js";
import { predictOutcome } from "./predict.js";
import { isProbe } from "./probe.js";
import { respondToCall } from "./respond.js";
import { startCall } from "./start-call.js";
import { assumptionsKeptFromVarying } from "./variation/own-assumptions.js";

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

  // What the journal, the report and a client's run keep of it.
  const misplaced = findMisplacedKeys(sandbox, call);
  const exchange = makeExchange(sandbox, call, result, misplaced);
  const trace = sandbox.run && runTrace(sandbox, result);
  appendExchange(sandbox, exchange, call, trace);
  return exchange;
}

/** What a call gets. A fault that is due fires in any case; a client's run may then put something in place of the response. */
function resultOf(sandbox: SandboxState, call: ApiCall): CallResult {
  const { run, faults } = sandbox;
  if (run === undefined && faults.length === 0) return respondToCall(sandbox, call);

  // Fired also for a response that the run replaces, because faults count their requests.
  const facts = faultFacts(call, call.request.method, () => predictOutcome(sandbox, call));
  const fault = fireFault(faults, call.number, facts);
  // No client sent a call of the sandbox itself.
  const isOfClient = !call.request.fromStory;
  if (run !== undefined && isOfClient) {
    const respond = () => resultWithoutRun(sandbox, call, fault);
    return run.intercept(sandbox, call, { facts, fault, respond });
  }
  return resultWithoutRun(sandbox, call, fault);
}

/** What a call gets from the fault that fired on it, or else from the checks and its endpoint. */
function resultWithoutRun(sandbox: SandboxState, call: ApiCall, fault: FiredFault | undefined): CallResult {
  if (fault === undefined) return respondToCall(sandbox, call);
  return faultyResult(sandbox, call, fault);
}

/** What a client's run shows with a call. */
function runTrace(sandbox: SandboxState, { points = [], conditionEffect }: CallResult): RunTrace {
  return {
    // What the run itself did to the response.
    replaced: conditionEffect?.replaced,
    afterRejection: conditionEffect?.afterRejection,
    points,
    scenario: sandbox.name,
    // Of the assumptions that the sandbox sets itself, those that the run would vary.
    ownAssumptions: assumptionsKeptFromVarying(sandbox),
  };
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
