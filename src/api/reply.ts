import type { Assumptions } from "../domain/assumptions.js";
import { outcomeOf, outcomes, type PathId } from "../domain/outcomes.js";
import type { World } from "../sandbox/world.js";
import { type Call, requestIdOf } from "./call.js";
import type { Endpoint, Success } from "./endpoint.js";
import {
  challengeHeaders,
  type FlatHeaders,
  rateLimitHeaders,
  readLimits,
  retryAfterHeaders,
  secondsToRetry,
} from "./limits.js";
import { type ApiAnswer, jsonBody, type TextBody } from "./messages.js";
import { asChosen } from "./variation/chosen.js";
import { vary } from "./variation/vary.js";

/** The success of a call that was let in (R1, R7). */
export function successReply(world: World, begun: Call, endpoint: Endpoint, success: Success): ApiAnswer {
  const status = endpoint.status ?? 200;
  const isContext = endpoint.answersContext === true;
  const call = asChosen(world, begun, status, isContext);
  const form = call.assumptions.rate_limit_headers;
  const limits =
    form === "none" || call.entry === undefined
      ? []
      : rateLimitHeaders(form, readLimits(call.entry, world, call.now));
  const more = success.headers === undefined ? limits : [...limits, ...success.headers];
  const headers = ["X-Request-Id", requestIdOf(world, call), ...more];
  const answer = answerOf(status, success, headers);
  if (call.variation === undefined) return answer;
  return vary(answer, call.variation, { isContext });
}

/** A refusal, with the parts that its answer may need. */
export interface Refusal {
  readonly path: PathId;
  /** The scope that the endpoint needs. */
  readonly scope?: string | null;
  /** The methods that the path takes, for a 405. */
  readonly allow?: string;
  /** Details of the endpoint's own refusal. */
  readonly details?: Details | undefined;
}

type Details = Readonly<Record<string, unknown>>;

/** The refusal of a call. Rows that share a code share their bytes, so that nothing tells them apart (R14). */
export function errorReply(world: World, begun: Call, refusal: Refusal): ApiAnswer {
  const call = asChosen(world, begun, outcomeOf(refusal.path).status);
  const { path, allow, details = detailsOf(world, call, refusal) } = refusal;
  const { assumptions, variation } = call;
  const isPlain = variation === undefined && details === undefined;
  const own = isPlain ? plainReply(path, assumptions) : ownReply(path, assumptions, details);
  const headers = openHeaders(world, call, path);
  if (allow !== undefined) headers.unshift("Allow", allow);
  const answer = headers.length === 0 ? own : { ...own, headers: [...own.headers, ...headers] };
  return variation === undefined ? answer : vary(answer, variation);
}

// A refusal without open parts depends on its path and the assumptions alone, so that it is made once.
const plainReplies = new WeakMap<Assumptions, Map<PathId, ApiAnswer>>();

function plainReply(path: PathId, assumptions: Assumptions): ApiAnswer {
  let replies = plainReplies.get(assumptions);
  if (replies === undefined) {
    const refused = outcomes.filter(({ code }) => code !== null);
    replies = new Map(refused.map((row) => [row.path, ownReply(row.path, assumptions)]));
    plainReplies.set(assumptions, replies);
  }
  return replies.get(path) as ApiAnswer;
}

function ownReply(path: PathId, assumptions: Assumptions, details?: Details): ApiAnswer {
  const { status, message } = outcomeOf(path);
  return answerOf(status, errorBody(String(codeOf(path, assumptions)), String(message), details), []);
}

// Which headers a refusal carries depends on its status alone, never on why a key was rejected (R14).
function openHeaders(world: World, call: Call, path: PathId): string[] {
  const { entry, now, assumptions } = call;
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
  { entry, now, assumptions }: Call,
  { path, scope = null }: Refusal,
): Details | undefined {
  if (!assumptions.error_details || entry === undefined) return undefined;
  const { organization } = entry.holder;
  switch (path) {
    case "403.access_denied":
      return { organization_status: organization.status };
    case "403.live_not_approved":
    case "403.live_suspended":
      return { live_access: organization.liveAccess };
    case "403.insufficient_scope":
      return { required_scope: scope };
    case "429.per_minute":
    case "429.per_day": {
      const seconds = secondsToRetry(readLimits(entry, world, now));
      return { limit: path.slice("429.".length), retry_after_seconds: seconds };
    }
    default:
      // A 401 never says why (R14); a 403 or 429 without a case above is a type error.
      path satisfies Exclude<PathId, `403.${string}` | `429.${string}`>;
      return undefined;
  }
}

/** An answer with its fixed headers. */
export function answerOf(
  status: number,
  { text, bytes }: TextBody,
  headers: FlatHeaders,
  type = "application/json",
): ApiAnswer {
  return {
    status,
    headers: ["Content-Type", type, ...headers, "Content-Length", String(bytes)],
    body: text,
  };
}

/** The error code of a path; `null` on success. The code of 429 is an assumption. */
export function codeOf(path: PathId, assumptions: Assumptions): string | null {
  const { status, code } = outcomeOf(path);
  return status === 429 ? assumptions.rate_limit_code : code;
}

/** The code of the next answer on this path; `null` on success, and where it varies from answer to answer. */
export function expectedCode(world: World, path: PathId): string | null {
  const { profile, assumptions, givenAssumptions } = world;
  const varies = profile === "varied" && givenAssumptions.rate_limit_code === undefined;
  return varies && outcomeOf(path).status === 429 ? null : codeOf(path, assumptions);
}

/** The error body of the API (section 7 of the specification; R27). */
export function errorBody(code: string, message: string, details?: Details): TextBody {
  return jsonBody({ error: { code, message, ...(details !== undefined && { details }) } });
}
