import type { Assumptions } from "../rules/assumptions.js";
import { type AuthorizationFacts, authorize, publicCause } from "../rules/authorize.js";
import { cachedBy } from "../rules/cached-by.js";
import { type ApiOutcomeId, isSuccess, type OutcomeId, outcomeOf, outcomes } from "../rules/outcomes.js";
import { type Endpoint, successOutcomeOf, type TextBody } from "../sandbox/endpoint.js";
import type { ApiResponse, CallResult } from "../sandbox/journal/exchange.js";
import { profileOf } from "../sandbox/profile.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { minuteEndOf, usageAt } from "../sandbox/usage.js";
import type { ApiCall } from "./call.js";
import { assumedRetryAfter, lastToReset, rateLimitHeaders, readLimits } from "./limits.js";
import { codeOf, errorBody, type FlatHeaders } from "./messages.js";
import { variationOf, vary } from "./variation/vary.js";

/** The challenge of a 401 (RFC 9110); never `Basic`, because browsers would ask for a password. */
const challengeHeaders: FlatHeaders = ["WWW-Authenticate", 'ApiKey realm="relying-party"'];

/** The call with the variation of a response with this status; unchanged except in the profile `varied`. */
export function withVariation(
  sandbox: SandboxState,
  call: ApiCall,
  status: number,
  isContext = false,
): ApiCall {
  if (profileOf(sandbox) !== "varied") return call;
  const variation = variationOf(sandbox, call, { status, isContext });
  return { ...call, id: variation.requestId, assumptions: variation.assumptions, variation };
}

/** Authorizes, counts and responds to a call (R24). */
export function respondToCall(sandbox: SandboxState, call: ApiCall): CallResult {
  return resultWithVariation(sandbox, call, decide(sandbox, call));
}

/** What the checks and the endpoint decide about a call, without everything that the specification leaves open. */
type Decision =
  | (Rejection & { readonly kind: "rejected" })
  | {
      readonly kind: "accepted";
      readonly outcome: ApiOutcomeId;
      readonly endpoint: Endpoint;
      readonly entry: KeyEntry;
    };

type DecidedCall = Pick<ApiCall, "endpoint" | "presented" | "entry" | "now"> &
  Partial<Pick<ApiCall, "route">>;

/** Decides a call, and counts it (R24). */
export function decide(sandbox: SandboxState, call: DecidedCall): Decision {
  const { route, endpoint } = call;
  if (endpoint === undefined) {
    if (route === undefined) return { kind: "rejected", outcome: "404.unknown_path" };
    return { kind: "rejected", outcome: "405.method", allow: route.allow };
  }
  const scope = scopeOf(endpoint, sandbox);
  const admitted = admit(sandbox, call, scope);
  const { entry } = call;
  if (entry === undefined || !isSuccess(admitted)) return { kind: "rejected", outcome: admitted, scope };
  return { kind: "accepted", outcome: successOutcomeOf(endpoint, admitted), endpoint, entry };
}

/** Renders a decision, varied in the profile `varied`. */
export function resultWithVariation(
  sandbox: SandboxState,
  call: ApiCall,
  decision: Decision,
): CallResult<ApiOutcomeId> {
  const varied = withVariation(sandbox, call, ...kindOfResponse(decision));
  if (varied === call) return renderDecision(sandbox, call, decision);
  return { ...renderDecision(sandbox, varied, decision), requestId: varied.id };
}

function kindOfResponse(decision: Decision): [status: number, isContext: boolean] {
  if (decision.kind === "rejected") return [outcomeOf(decision.outcome).status, false];
  const { status, responsesContext } = decision.endpoint;
  return [status, responsesContext === true];
}

function renderDecision(sandbox: SandboxState, call: ApiCall, decision: Decision): CallResult<ApiOutcomeId> {
  if (decision.kind === "rejected") return rejectCall(sandbox, call, decision);
  const { outcome, endpoint, entry } = decision;
  const response = successResponse(sandbox, call, endpoint, endpoint.respond(entry));
  return { outcome, response, code: null };
}

export function scopeOf({ scope }: Endpoint, { assumptions }: SandboxState): string | null {
  return scope === undefined ? assumptions.me_scope : scope;
}

type Caller = Pick<ApiCall, "presented" | "entry" | "now">;

/** Authorizes a call and counts it if it is admitted (R24). */
function admit(sandbox: SandboxState, call: Caller, scope: string | null): ApiOutcomeId {
  const { assumptions, windows } = sandbox;
  const { entry, now } = call;
  if (entry !== undefined) entry.usage = usageAt(entry.usage, windows, now);
  const outcome = authorize(authorizationFacts(sandbox, call, scope));
  const isAdmitted = isSuccess(outcome);
  // Only the sandbox's keys have counters.
  if (entry === undefined || !(isAdmitted || assumptions.count_rejected)) return outcome;
  const { usage } = entry;
  usage.minuteCount += 1;
  usage.dayCount += 1;
  if (windows.sliding) usage.recent.push(now);
  // A rejected request that counts may reach the limit that ends last.
  return isAdmitted ? outcome : authorize(authorizationFacts(sandbox, call, scope));
}

export function authorizationFacts(
  sandbox: SandboxState,
  { presented, entry, now }: Caller,
  scope: string | null,
): AuthorizationFacts {
  const { windows } = sandbox;
  const usage = entry && usageAt(entry.usage, windows, now);
  return {
    presented,
    key: entry?.key,
    organization: entry?.owner.organization,
    now,
    scope,
    usedThisMinute: usage?.minuteCount ?? 0,
    usedToday: usage?.dayCount ?? 0,
    dayEndsLast:
      entry !== undefined &&
      usage !== undefined &&
      usage.dayEndsAt > minuteEndOf(entry.key.limits, usage, windows, now),
  };
}

export function successResponse(
  sandbox: SandboxState,
  call: ApiCall,
  endpoint: Endpoint,
  success: TextBody,
): ApiResponse {
  const form = call.assumptions.rate_limit_headers;
  const limits =
    form === "none" || call.entry === undefined
      ? []
      : rateLimitHeaders(form, readLimits(call.entry, sandbox, call.now));
  const response = responseOf(endpoint.status, success, ["X-Request-Id", call.id, ...limits]);
  if (call.variation === undefined || success.text === "") return response;
  return vary(response, call.variation, endpoint.responsesContext);
}

interface Rejection {
  readonly outcome: ApiOutcomeId;
  readonly scope?: string | null;
  readonly allow?: string;
}

type Details = Readonly<Record<string, unknown>>;

/** Rejects a call. Outcomes with the same code have the same bytes, so that none reveals its cause (R14). */
export function rejectCall(
  sandbox: SandboxState,
  call: ApiCall,
  rejection: Rejection,
): CallResult<ApiOutcomeId> {
  const { outcome, allow } = rejection;
  const { assumptions, variation } = call;
  const details = detailsOf(sandbox, call, rejection);
  const isPlain = variation === undefined && details === undefined;
  const rendered = isPlain
    ? (plainRejections(assumptions).get(outcome) as ApiResponse)
    : ownRejection(outcome, assumptions, details);
  const headers = openHeaders(sandbox, call, outcome);
  if (allow !== undefined) headers.unshift("Allow", allow);
  const response =
    headers.length === 0 ? rendered : { ...rendered, headers: [...rendered.headers, ...headers] };
  return {
    outcome,
    response: variation === undefined ? response : vary(response, variation),
    code: codeOf(outcome, assumptions),
  };
}

// A rejection without open parts depends only on its outcome and the assumptions.
const plainRejections = /* @__PURE__ */ cachedBy((assumptions: Assumptions) => {
  const rejected = outcomes.filter(({ code }) => code !== null);
  return new Map<OutcomeId, ApiResponse>(rejected.map((row) => [row.id, ownRejection(row.id, assumptions)]));
});

function ownRejection(outcome: OutcomeId, assumptions: Assumptions, details?: Details): ApiResponse {
  const { status, message } = outcomeOf(outcome);
  return responseOf(status, errorBody(String(codeOf(outcome, assumptions)), String(message), details), []);
}

// The headers of a rejection depend only on its status, never on the cause (R14).
function openHeaders(
  sandbox: SandboxState,
  { id, entry, now, assumptions }: ApiCall,
  outcome: OutcomeId,
): string[] {
  const { status } = outcomeOf(outcome);
  const headers: string[] = [];
  if (assumptions.request_id_on_errors) headers.push("X-Request-Id", id);
  if (status === 401 && assumptions.www_authenticate) headers.push(...challengeHeaders);
  if (status === 429 && entry !== undefined) {
    const limits = readLimits(entry, sandbox, now);
    headers.push(...rateLimitHeaders(assumptions.rate_limit_headers, limits));
    headers.push(...assumedRetryAfter(assumptions.retry_after, limits, now));
  }
  return headers;
}

function detailsOf(
  sandbox: SandboxState,
  call: ApiCall,
  { outcome, scope = null }: Rejection,
): Details | undefined {
  const { entry, now, assumptions } = call;
  const { dashboard } = call.request;
  if (outcome === "404.unknown_path" && dashboard !== undefined) return { dashboard };
  if (!assumptions.error_details || entry === undefined) return undefined;
  if (outcome !== "429.per_minute" && outcome !== "429.per_day") {
    return publicCause(outcome, authorizationFacts(sandbox, call, scope))?.details;
  }
  const limit = lastToReset(readLimits(entry, sandbox, now));
  return limit && { limit: `per_${limit.name}`, retry_after_seconds: limit.reset };
}

/** A response without a body has no media type, and one with status 204 no length (RFC 9110). */
export function responseOf(
  status: number,
  { text, bytes }: TextBody,
  headers: FlatHeaders,
  type = "application/json",
): ApiResponse {
  const about = bytes === 0 ? [] : ["Content-Type", type];
  const length = status === 204 ? [] : ["Content-Length", String(bytes)];
  return { status, headers: [...about, ...headers, ...length], body: status === 204 ? "" : text };
}
