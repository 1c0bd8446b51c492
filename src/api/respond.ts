import { type ApiOutcomeId, isSuccess, outcomeRow } from "../rules/outcomes.js";
import { profileInEffect } from "../sandbox/behavior.js";
import {
  type ApiCall,
  type ApiResponse,
  type CallResult,
  type Endpoint,
  ownSuccessOf,
  type RoutedCall,
  type TextBody,
} from "../sandbox/call.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { countRequest, limitUses, usageAt } from "../sandbox/usage.js";
import { type AuthorizationFacts, authorize, outcomeOfLimits, publicCause } from "./authorize.js";
import { codeOf, errorBody, type FlatHeaders } from "./http-messages.js";
import { assumedRetryAfter, limitsToShow, rateLimitHeaders } from "./limits.js";
import { type ResponseKind, respondVaried } from "./variation/vary.js";

/** The challenge of a 401 (RFC 9110); never `Basic`, because browsers would ask for a password. */
export const challengeHeaders: FlatHeaders = ["WWW-Authenticate", 'ApiKey realm="relying-party"'];

// A call is decided by the checks, which also counts it, and then its response is rendered.

/** Decides a call, and renders its response. */
export function respondToCall(sandbox: SandboxState, call: ApiCall): CallResult<ApiOutcomeId> {
  const outcome = decideAndCount(sandbox, call);
  // Most sandboxes vary nothing: nothing is allocated for it.
  if (profileInEffect(sandbox) !== "varied") return renderOutcome(sandbox, call, outcome);

  // No variant changes the outcome.
  return respondVaried(sandbox, call, responseKindOf(outcome, call), (variedCall) => {
    return renderOutcome(sandbox, variedCall, outcome);
  });
}

/** Decides which outcome a call has, and counts it (R24). */
function decideAndCount(sandbox: SandboxState, call: RoutedCall): ApiOutcomeId {
  const { route, endpoint } = call;
  if (endpoint === undefined) return route === undefined ? "404.unknown_path" : "405.method";

  const outcome = authorizeAndCount(sandbox, call);
  if (!isSuccess(outcome)) return outcome;
  // The key decides which success of `/me` it is.
  return endpoint.isMe ? outcome : ownSuccessOf(endpoint);
}

/** Authorizes a call, and counts it if it is admitted, or if the sandbox counts rejected ones as well (R24). */
function authorizeAndCount(sandbox: SandboxState, call: RoutedCall): ApiOutcomeId {
  const { assumptions, windows } = sandbox;
  const { entry, now } = call;
  // Only the keys of the sandbox are counted.
  if (entry === undefined) return authorize(authorizationFacts(sandbox, call));

  entry.usage = usageAt(entry.usage, windows, now);
  const outcomeBefore = authorize(authorizationFacts(sandbox, call));
  const isCounted = isSuccess(outcomeBefore) || assumptions.count_rejected;
  if (!isCounted) return outcomeBefore;

  countRequest(entry.usage, windows, now);
  const isOverLimit = outcomeRow(outcomeBefore).status === 429;
  if (!isOverLimit) return outcomeBefore;

  // A call over one limit may reach the other one, because it is counted, too. With 60 a minute and 1,000 a day, the 61st call of
  // this minute may be the 1,000th of today. It then gets 429.per_day: the client must wait for the next day. Only the limits are
  // asked again, because counting a call changes nothing else.
  return outcomeOfLimits(limitUses(entry, windows, now)) ?? outcomeBefore;
}

/** What the checks of a call depend on. A call without an endpoint needs no scope. */
export function authorizationFacts(
  sandbox: SandboxState,
  { presented, entry, now, endpoint }: RoutedCall,
): AuthorizationFacts {
  return {
    presented,
    key: entry?.key,
    organization: entry?.owner.organization,
    now,
    scope: endpoint === undefined ? null : requiredScope(endpoint, sandbox),
    addedScopes: sandbox.additions.scopes,
    limits: entry && limitUses(entry, sandbox.windows, now),
  };
}

/** The scope that an endpoint requires; `null` if none. */
export function requiredScope({ scope }: Endpoint, { assumptions }: SandboxState): string | null {
  return scope === undefined ? assumptions.me_scope : scope;
}

// To decide a call is to count it, in the usage of its key (R24). A prediction decides with a copy of the key's entry: the copy is
// counted, so that a success shows the usage with this call, and the sandbox's own entry stays as it is.

/** The outcome that a call would have. Counts and changes nothing. */
export function predictOutcome(sandbox: SandboxState, call: RoutedCall): ApiOutcomeId {
  return decideAndCount(sandbox, withCopiedEntry(call));
}

/**
 * Responds to a call without counting it for its key: for a response that a fault cuts, so that the client does not get it. A run
 * of a client still counts it among the responses that it varies.
 */
export function respondUncounted(sandbox: SandboxState, call: ApiCall): CallResult<ApiOutcomeId> {
  return respondToCall(sandbox, withCopiedEntry(call));
}

function withCopiedEntry<Call extends RoutedCall>(call: Call): Call {
  const { entry } = call;
  if (entry === undefined) return call;
  return { ...call, entry: { ...entry, usage: structuredClone(entry.usage) } };
}

/** What chooses the variants of the response. */
function responseKindOf(outcome: ApiOutcomeId, { endpoint }: ApiCall): ResponseKind {
  const isRejected = endpoint === undefined || !isSuccess(outcome);
  if (isRejected) return { status: outcomeRow(outcome).status, content: "json" };

  const { status, isMe, hasBody } = endpoint;
  if (isMe) return { status, content: "me" };
  return { status, content: hasBody ? "json" : "empty" };
}

function renderOutcome(
  sandbox: SandboxState,
  call: ApiCall,
  outcome: ApiOutcomeId,
): CallResult<ApiOutcomeId> {
  const { endpoint, entry } = call;
  const isRejected = endpoint === undefined || entry === undefined || !isSuccess(outcome);
  if (isRejected) return renderRejection(sandbox, call, outcome);
  const body = endpoint.respond(entry, sandbox.additions);
  return { outcome, response: renderSuccess(sandbox, call, endpoint, body), code: null };
}

export function renderSuccess(
  sandbox: SandboxState,
  call: ApiCall,
  endpoint: Endpoint,
  success: TextBody,
): ApiResponse {
  const { entry } = call;
  const headers = ["X-Request-Id", call.id];
  const form = call.assumptions.rate_limit_headers;
  if (form !== "none" && entry !== undefined) {
    headers.push(...rateLimitHeaders(form, limitsToShow(entry, sandbox, call.now)));
  }

  return responseOf(endpoint.status, success, headers);
}

/** Renders a rejection. Outcomes with the same code have the same bytes, so that none reveals its cause (R14). */
export function renderRejection(
  sandbox: SandboxState,
  call: ApiCall,
  outcome: ApiOutcomeId,
): CallResult<ApiOutcomeId> {
  const code = String(codeOf(outcome, call.assumptions));
  const details = errorDetails(sandbox, call, outcome);
  let response: ApiResponse;
  if (details === undefined) response = plainRejection(outcome, code);
  else response = makeRejection(outcome, code, details);

  const headers = rejectionHeaders(sandbox, call, outcome);
  if (headers.length > 0) response = { ...response, headers: [...response.headers, ...headers] };
  return { outcome, response, code };
}

/**
 * The last rejection without details of each outcome, to be sent again: to make one takes a third of the time of its request. Only
 * the last, because a control call can set any code for a 429.
 */
const lastPlainRejections = /* @__PURE__ */ new Map<ApiOutcomeId, { code: string; response: ApiResponse }>();

function plainRejection(outcome: ApiOutcomeId, code: string): ApiResponse {
  const last = lastPlainRejections.get(outcome);
  if (last !== undefined && last.code === code) return last.response;

  const response = makeRejection(outcome, code);
  lastPlainRejections.set(outcome, { code, response });
  return response;
}

function makeRejection(
  outcome: ApiOutcomeId,
  code: string,
  details?: Readonly<Record<string, unknown>>,
): ApiResponse {
  const { status, message } = outcomeRow(outcome);
  return responseOf(status, errorBody(code, String(message), details), []);
}

/** The headers of a rejection besides those of its body: by its status, never by its cause (R14). */
function rejectionHeaders(
  sandbox: SandboxState,
  { id, entry, now, assumptions, route }: ApiCall,
  outcome: ApiOutcomeId,
): string[] {
  const { status } = outcomeRow(outcome);
  const headers: string[] = [];
  if (outcome === "405.method" && route !== undefined) headers.push("Allow", route.allow);
  if (assumptions.request_id_on_errors) headers.push("X-Request-Id", id);
  if (status === 401 && assumptions.www_authenticate) headers.push(...challengeHeaders);
  if (status === 429 && entry !== undefined) {
    const limits = limitsToShow(entry, sandbox, now);
    headers.push(...rateLimitHeaders(assumptions.rate_limit_headers, limits));
    headers.push(...assumedRetryAfter(assumptions.retry_after, limits, now));
  }
  return headers;
}

/** The details of an error: where the dashboard is, or the cause of a 403 or 429 if the service is assumed to tell it. */
function errorDetails(
  sandbox: SandboxState,
  call: ApiCall,
  outcome: ApiOutcomeId,
): Readonly<Record<string, unknown>> | undefined {
  const { entry, now, assumptions } = call;
  const { dashboard } = call.request;
  if (outcome === "404.unknown_path" && dashboard !== undefined) return { dashboard };
  if (!assumptions.error_details || entry === undefined) return undefined;

  if (outcome === "429.per_minute" || outcome === "429.per_day") {
    const { reached } = limitsToShow(entry, sandbox, now);
    return reached && { limit: `per_${reached.name}`, retry_after_seconds: reached.secondsToReset };
  }
  return publicCause(outcome, authorizationFacts(sandbox, call))?.details;
}

/** A response with the headers of its body: without one, it has no media type, and with status 204 no length (RFC 9110). */
export function responseOf(
  status: number,
  { text, bytes }: TextBody,
  headers: FlatHeaders,
  type = "application/json",
): ApiResponse {
  const allHeaders: string[] = [];
  if (bytes > 0) allHeaders.push("Content-Type", type);
  allHeaders.push(...headers);
  if (status === 204) return { status, headers: allHeaders, body: "" };

  allHeaders.push("Content-Length", String(bytes));
  return { status, headers: allHeaders, body: text };
}
