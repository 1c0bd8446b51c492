import { type ApiOutcomeId, outcomeRow } from "../rules/outcomes.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { Endpoint, TextBody } from "../sandbox/endpoint.js";
import type { ApiResponse, CallResult } from "../sandbox/journal/call-result.js";
import { profileInEffect } from "../sandbox/profile.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { publicCause } from "./authorize.js";
import { authorizationFacts, type Decision, decide } from "./decide.js";
import { codeOf, errorBody, type FlatHeaders } from "./http-messages.js";
import { assumedRetryAfter, limitsToShow, rateLimitHeaders } from "./limits.js";
import type { ResponseKind } from "./variation/choose-variants.js";
import { respondVaried } from "./variation/vary.js";

/** The member `details` of an error. */
type Details = Readonly<Record<string, unknown>>;

/** The challenge of a 401 (RFC 9110); never `Basic`, because browsers would ask for a password. */
export const challengeHeaders: FlatHeaders = ["WWW-Authenticate", 'ApiKey realm="relying-party"'];

/** Decides a call, and renders its response. */
export function respondToCall(sandbox: SandboxState, call: ApiCall): CallResult<ApiOutcomeId> {
  const decision = decide(sandbox, call);
  // Most sandboxes vary nothing: nothing is allocated for it.
  if (profileInEffect(sandbox) !== "varied") return renderDecision(sandbox, call, decision);

  // No variant changes the decision.
  return respondVaried(sandbox, call, responseKindOf(decision), (variedCall) => {
    return renderDecision(sandbox, variedCall, decision);
  });
}

/** What chooses the variants of the response. */
function responseKindOf(decision: Decision): ResponseKind {
  if (decision.kind === "rejected") return { status: outcomeRow(decision.outcome).status, content: "json" };

  const { status, isMe, hasBody } = decision.endpoint;
  if (isMe) return { status, content: "me" };
  return { status, content: hasBody ? "json" : "empty" };
}

function renderDecision(sandbox: SandboxState, call: ApiCall, decision: Decision): CallResult<ApiOutcomeId> {
  if (decision.kind === "rejected") return renderRejection(sandbox, call, decision.outcome);
  const { outcome, endpoint, entry } = decision;
  const response = renderSuccess(sandbox, call, endpoint, endpoint.respond(entry, sandbox.additions));
  return { outcome, response, code: null };
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

function makeRejection(outcome: ApiOutcomeId, code: string, details?: Details): ApiResponse {
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
function errorDetails(sandbox: SandboxState, call: ApiCall, outcome: ApiOutcomeId): Details | undefined {
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
