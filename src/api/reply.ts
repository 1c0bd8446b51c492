import type { Assumptions } from "../domain/assumptions.js";
import { outcomeOf, outcomes, type PathId } from "../domain/outcomes.js";
import type { World } from "../sandbox/world.js";
import { assumedFor, type BegunCall, requestIdOf } from "./call.js";
import type { Endpoint, Success } from "./endpoint.js";
import { codeOf, errorBody } from "./error-body.js";
import { errorDetails } from "./error-details.js";
import { readLimits } from "./limit-reading.js";
import type { ApiAnswer, JsonBody } from "./messages.js";
import { challengeHeaders, type FlatHeaders, rateLimitHeaders, retryAfterHeaders } from "./open-headers.js";
import { vary } from "./variation/vary.js";

/** The success of a call that was let in (R1, R7). */
export function successReply(world: World, call: BegunCall, endpoint: Endpoint, success: Success): ApiAnswer {
  const form = assumedFor(world, call).rate_limit_headers;
  const limits =
    form === "none" || call.entry === undefined
      ? []
      : rateLimitHeaders(form, readLimits(call.entry, world, call.now));
  const more = success.headers === undefined ? limits : [...limits, ...success.headers];
  const headers = ["X-Request-Id", requestIdOf(world, call), ...more];
  const answer = answerOf(endpoint.status ?? 200, success, headers);
  if (call.variation === undefined) return answer;
  return vary(answer, call.variation, { isContext: endpoint.answersContext === true });
}

/** What a refusal may need to say. */
export interface Refusal {
  readonly path: PathId;
  /** The scope that the endpoint needs. */
  readonly scope?: string | null;
  /** The methods that the path takes, for a 405. */
  readonly allow?: string;
  /** What the endpoint says of its own refusal. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** The refusal of a call. Rows that share a code share their bytes, so that nothing tells them apart (R14). */
export function errorReply(world: World, call: BegunCall, refusal: Refusal): ApiAnswer {
  const { path, allow } = refusal;
  const assumptions = assumedFor(world, call);
  const saysMore = openHeaders(world, call, assumptions, path);
  const details = detailsOf(world, call, assumptions, refusal);
  const plain = call.variation === undefined ? plainReply(path, assumptions) : ownReply(path, assumptions);
  const detailed = details === undefined ? plain : ownReply(path, assumptions, details);
  const extra = allow === undefined ? saysMore : ["Allow", allow, ...saysMore];
  const answer = extra.length === 0 ? detailed : { ...detailed, headers: [...detailed.headers, ...extra] };
  return call.variation === undefined ? answer : vary(answer, call.variation);
}

// A refusal without anything that is left open depends on its path and the assumptions alone. Kept, because a world
// asks for the same ones with every request.
const plainReplies = new WeakMap<Assumptions, ReadonlyMap<PathId, ApiAnswer>>();

function plainReply(path: PathId, assumptions: Assumptions): ApiAnswer {
  let replies = plainReplies.get(assumptions);
  if (replies === undefined) {
    const refused = outcomes.filter(({ code }) => code !== null);
    replies = new Map(refused.map((row) => [row.path, ownReply(row.path, assumptions)]));
    plainReplies.set(assumptions, replies);
  }
  return replies.get(path) as ApiAnswer;
}

function ownReply(
  path: PathId,
  assumptions: Assumptions,
  details?: Readonly<Record<string, unknown>>,
): ApiAnswer {
  const { status, message } = outcomeOf(path);
  return answerOf(status, errorBody(String(codeOf(path, assumptions)), String(message), details), []);
}

// Which headers a refusal carries depends on its status alone, never on why a key was rejected (R14).
function openHeaders(world: World, call: BegunCall, assumptions: Assumptions, path: PathId): FlatHeaders {
  const { entry, now } = call;
  const { status } = outcomeOf(path);
  const headers: string[] = [];
  if (assumptions.request_id_on_errors) headers.push("X-Request-Id", requestIdOf(world, call));
  if (status === 401 && assumptions.www_authenticate) headers.push(...challengeHeaders);
  if (status === 429 && entry !== undefined) {
    const limits = readLimits(entry, world, now);
    headers.push(...rateLimitHeaders(assumptions.rate_limit_headers, limits));
    headers.push(...retryAfterHeaders(assumptions.retry_after, limits, world.platform.time));
  }
  return headers;
}

function detailsOf(
  world: World,
  { entry, now }: BegunCall,
  assumptions: Assumptions,
  { path, scope = null, details }: Refusal,
) {
  if (details !== undefined) return details;
  const { status } = outcomeOf(path);
  if (!assumptions.error_details || entry === undefined || (status !== 403 && status !== 429))
    return undefined;
  return errorDetails(path, entry, scope, readLimits(entry, world, now));
}

function answerOf(status: number, body: JsonBody, headers: FlatHeaders): ApiAnswer {
  return {
    status,
    headers: ["Content-Type", "application/json", ...headers, "Content-Length", String(body.bytes)],
    body: body.text,
  };
}

/** The same answer without its body, for HEAD. */
export function withoutBody(answer: ApiAnswer): ApiAnswer {
  return { ...answer, body: "" };
}

/** The same answer of an endpoint that is not released. Differs from the service: it will have no such header. */
export function inPreview(answer: ApiAnswer): ApiAnswer {
  return { ...answer, headers: [...answer.headers, "X-Sandbox-Preview", "true"] };
}
