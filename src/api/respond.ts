import type { Assumptions } from "../rules/assumptions.js";
import { type ApiOutcomeId, isSuccess, outcomeRow } from "../rules/outcomes.js";
import { day as dayMs, minute as minuteMs } from "../rules/time.js";
import type { ApiCall, ApiResponse, CallResult, Endpoint, TextBody } from "../sandbox/call.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { type LimitUse, limitUses, reachedLimit } from "../sandbox/usage.js";
import { decideAndCount, publicCause } from "./authorize.js";
import { codeOf, errorBody, type FlatHeaders } from "./http-messages.js";
import { type ResponseKind, respondVaried } from "./variation/vary.js";

/** The challenge of a 401 (RFC 9110); never `Basic`, because browsers would ask for a password. */
const challengeHeaders: FlatHeaders = ["WWW-Authenticate", 'ApiKey realm="relying-party"'];

/** Decides a call, which also counts it, and renders its response. */
export function respondToCall(sandbox: SandboxState, call: ApiCall): CallResult<ApiOutcomeId> {
  const outcome = decideAndCount(sandbox, call);
  // No variant changes the outcome.
  return respondVaried(sandbox, call, responseKindOf(outcome, call), (variedCall) => {
    return renderOutcome(sandbox, variedCall, outcome);
  });
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
  return { outcome, response: renderSuccess(call, endpoint, body), code: null };
}

export function renderSuccess(call: ApiCall, endpoint: Endpoint, success: TextBody): ApiResponse {
  const { entry } = call;
  const headers = ["X-Request-Id", call.id];
  const form = call.assumptions.rate_limit_headers;
  if (form !== "none" && entry !== undefined) {
    headers.push(...rateLimitHeaders(form, limitsToShow(entry, call.now)));
  }

  return responseOf(endpoint.status, success, headers);
}

/** Renders a rejection. Outcomes with the same code have the same bytes, so that none reveals its cause (R14). */
export function renderRejection(
  sandbox: SandboxState,
  call: ApiCall,
  outcome: ApiOutcomeId,
): CallResult<ApiOutcomeId> {
  const { assumptions, entry } = call;
  // Only the rejection of a limit shows the limits.
  const isOfLimit = outcomeRow(outcome).status === 429;
  const limits = isOfLimit && entry !== undefined ? limitsToShow(entry, call.now) : undefined;

  const { status, message } = outcomeRow(outcome);
  const code = String(codeOf(outcome, assumptions));
  const body = errorBody(code, String(message), errorDetails(sandbox, call, outcome, limits));
  const response = responseOf(status, body, []);
  const headers = [...response.headers, ...rejectionHeaders(call, outcome, limits)];
  return { outcome, response: { ...response, headers }, code };
}

/** The headers of a rejection besides those of its body: by its status, never by its cause (R14). */
function rejectionHeaders(call: ApiCall, outcome: ApiOutcomeId, limits: ShownLimits | undefined): string[] {
  const { id, assumptions, route } = call;
  const { status } = outcomeRow(outcome);
  const headers: string[] = [];
  if (outcome === "405.method" && route !== undefined) headers.push("Allow", route.allow);
  if (assumptions.request_id_on_errors) headers.push("X-Request-Id", id);
  if (status === 401 && assumptions.www_authenticate) headers.push(...challengeHeaders);
  if (limits !== undefined) {
    headers.push(...rateLimitHeaders(assumptions.rate_limit_headers, limits));
    headers.push(...assumedRetryAfter(call, limits));
  }
  return headers;
}

/** The details of an error: where the dashboard is, or the cause of a 403 or 429 if the service is assumed to tell it. */
function errorDetails(
  sandbox: SandboxState,
  call: ApiCall,
  outcome: ApiOutcomeId,
  limits: ShownLimits | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const { entry, assumptions } = call;
  const { dashboard } = call.request;
  if (outcome === "404.unknown_path" && dashboard !== undefined) return { dashboard };
  if (!assumptions.error_details || entry === undefined) return undefined;

  if (limits !== undefined) {
    const { reached } = limits;
    return reached && { limit: `per_${reached.name}`, retry_after_seconds: reached.secondsToReset };
  }
  return publicCause(sandbox, call, outcome)?.details;
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

/** A limit as headers and bodies show it. */
interface ShownLimit {
  readonly name: "minute" | "day";
  readonly quota: number;
  readonly remaining: number;
  /** The length of the window. */
  readonly windowSeconds: number;
  /** When the remaining quota grows (epoch milliseconds), and in how many seconds, rounded up. */
  readonly resetsAt: number;
  readonly secondsToReset: number;
}

/** The limits of a key as responses show them. */
interface ShownLimits {
  readonly minute: ShownLimit;
  readonly day: ShownLimit;
  /** The one of both that a 429 is about; `undefined` if none is reached. */
  readonly reached: ShownLimit | undefined;
}

/** The limits of a key as responses show them now. */
function limitsToShow(entry: KeyEntry, now: number): ShownLimits {
  const uses = limitUses(entry, now);
  const minute = limitToShow("minute", uses.minute, minuteMs, now);
  const day = limitToShow("day", uses.day, dayMs, now);

  let reached: ShownLimit | undefined;
  const reachedName = reachedLimit(uses);
  if (reachedName === "minute") reached = minute;
  if (reachedName === "day") reached = day;
  return { minute, day, reached };
}

function limitToShow(name: ShownLimit["name"], use: LimitUse, windowMs: number, now: number): ShownLimit {
  const { quota, used, resetsAt } = use;
  const remaining = Math.max(0, quota - used);
  const secondsToReset = Math.max(1, Math.ceil((resetsAt - now) / 1000));
  return { name, quota, remaining, windowSeconds: windowMs / 1000, resetsAt, secondsToReset };
}

/** The rate limit headers in the assumed form. */
function rateLimitHeaders(form: Assumptions["rate_limit_headers"], limits: ShownLimits): FlatHeaders {
  const { minute, day, reached } = limits;
  if (form === "none") return [];
  // draft-ietf-httpapi-ratelimit-headers-10: `q` requests are allowed in `w` seconds, `r` remain, more after `t`.
  if (form === "draft") {
    const policies: string[] = [];
    const states: string[] = [];
    for (const { name, quota, remaining, windowSeconds, secondsToReset } of [minute, day]) {
      policies.push(`"${name}";q=${quota};w=${windowSeconds}`);
      states.push(`"${name}";r=${remaining};t=${secondsToReset}`);
    }
    return ["RateLimit-Policy", policies.join(", "), "RateLimit", states.join(", ")];
  }

  // The legacy headers have one limit: the one that a client must wait for, or the one with the least quota left.
  const leastLeft = day.remaining < minute.remaining ? day : minute;
  const { quota, remaining, secondsToReset } = reached ?? leastLeft;
  return [
    "X-RateLimit-Limit",
    String(quota),
    "X-RateLimit-Remaining",
    String(remaining),
    "X-RateLimit-Reset",
    String(secondsToReset),
  ];
}

/** `Retry-After` of a 429 in the assumed form: when the reached limit resets. */
function assumedRetryAfter(call: ApiCall, { reached }: Pick<ShownLimits, "reached">): FlatHeaders {
  const form = call.assumptions.retry_after;
  if (form === "none") return [];
  // A run of a client rejects with a 429 also while no limit is reached.
  const waitMs = reached === undefined ? 1000 : reached.resetsAt - call.now;
  // A client may wait exactly until the date, with a clock that differs by a millisecond.
  if (form === "date") return retryAfterHeader({ waitMs: waitMs + 1, asDate: true }, call);
  return retryAfterHeader({ waitMs, asDate: false }, call);
}

/** `Retry-After` as seconds or as a date. */
export function retryAfterHeader(
  { waitMs, asDate }: { readonly waitMs: number; readonly asDate: boolean },
  { now, date = now }: Pick<ApiCall, "now" | "date">,
): FlatHeaders {
  if (!asDate) return ["Retry-After", String(Math.ceil(waitMs / 1000))];
  // A date has whole seconds; rounded down, it would be too early.
  return ["Retry-After", new Date(Math.ceil((date + waitMs) / 1000) * 1000).toUTCString()];
}
