/**
 * The closed list of ways in which a request can end.
 *
 * Everything that speaks of outcomes is made from this table: the answers, the OpenAPI document, the
 * documentation and the coverage. A new way to end is one new row.
 */
export interface Outcome {
  readonly path: string;
  /** 0 for faults: what they do decides, and some leave nothing that has a status. */
  readonly status: number;
  /** The API's error code; `null` on success. For 429 the code is an assumption, see `rate_limit_code`. */
  readonly code: string | null;
  /** The sentence that the caller reads; the same for every row of a code, so that no row gives itself away (R14). */
  readonly message: string | null;
  /** When this happens, for people: documentation, `keys`, `explain`. */
  readonly when: string;
  /** Whether the specification promises this path; coverage counts the promised ones. */
  readonly promised: boolean;
  /** Whether there is no such answer but with the preview of the announced endpoints. Default: false. */
  readonly preview?: true;
}

const unauthorized = {
  status: 401,
  code: "unauthorized",
  message: "A valid API key is required.",
  promised: true,
} as const;
const liveAccess = {
  status: 403,
  code: "live_access_not_approved",
  message: "Live access is not approved for this organization.",
  promised: true,
} as const;
const limited = { status: 429, code: "rate_limited", message: "Too many requests.", promised: true } as const;
const success = { status: 200, code: null, message: null, promised: true } as const;
const notFound = { status: 404, code: "not_found", message: "There is nothing at this path." } as const;
const announced = { promised: false, preview: true } as const;
const fault = { status: 0, code: null, message: null, promised: false } as const;

export const outcomes = [
  { path: "200.test", ...success, when: "a valid test key" },
  { path: "200.live", ...success, when: "a valid live key of an organization approved for live access" },
  { path: "200.legacy", ...success, when: "a valid key with a legacy prefix, not rotated yet" },
  { path: "200.retiring", ...success, when: "a replaced key, still in its overlap" },
  { path: "200.replacement", ...success, when: "the key that replaced another one" },
  { path: "401.missing", ...unauthorized, when: "no x-api-key header" },
  { path: "401.malformed", ...unauthorized, when: "an x-api-key header that is not one well-formed key" },
  { path: "401.unknown", ...unauthorized, when: "a well-formed key that nobody holds" },
  { path: "401.revoked", ...unauthorized, when: "a revoked key" },
  { path: "401.expired", ...unauthorized, when: "an expired key" },
  { path: "401.rotated", ...unauthorized, when: "a replaced key whose overlap is over" },
  {
    path: "403.access_denied",
    status: 403,
    code: "access_denied",
    message: "The organization is not active.",
    promised: true,
    when: "a valid key of an organization that is not active",
  },
  {
    path: "403.live_not_approved",
    ...liveAccess,
    when: "a live key of an organization not approved for live access",
  },
  {
    path: "403.live_suspended",
    ...liveAccess,
    when: "a live key of an organization whose live access is suspended",
  },
  {
    path: "403.insufficient_scope",
    status: 403,
    code: "insufficient_scope",
    message: "The API key lacks the scope that this endpoint needs.",
    promised: true,
    when: "a valid key without the scope that the endpoint needs",
  },
  { path: "429.per_minute", ...limited, when: "more requests in a minute than the key's per_minute" },
  { path: "429.per_day", ...limited, when: "more requests in a day than the key's per_day" },
  {
    path: "404.unknown_path",
    ...notFound,
    promised: false,
    when: "a path that the API does not have",
  },
  {
    path: "405.method",
    status: 405,
    code: "method_not_allowed",
    message: "This path does not take this method.",
    promised: false,
    when: "a method that the path does not take",
  },
  {
    path: "400.bad_request",
    status: 400,
    code: "bad_request",
    message: "The body of the request is not JSON, or too long.",
    ...announced,
    when: "a body that is no JSON, not sent as JSON, or longer than 64 KiB (preview)",
  },
  {
    path: "404.unknown_record",
    ...notFound,
    ...announced,
    message: "There is no such record.",
    when: "a farmer, consent request or attestation that is not there, or not for this key (preview)",
  },
  {
    path: "409.conflict",
    status: 409,
    code: "conflict",
    message: "The record is not in a state that allows this.",
    ...announced,
    when: "a change that the state of the record does not allow (preview)",
  },
  {
    path: "422.validation",
    status: 422,
    code: "validation_failed",
    message: "The request is not valid.",
    ...announced,
    when: "a field, parameter or header that is not as described (preview)",
  },
  {
    path: "422.idempotency_key",
    status: 422,
    code: "idempotency_key_reused",
    message: "This Idempotency-Key was sent with another body before.",
    ...announced,
    when: "an Idempotency-Key that came with another body before (preview)",
  },
  { path: "fault.latency", ...fault, when: "a fault that lets the answer wait" },
  { path: "fault.status", ...fault, when: "a fault with a status from 500 to 504" },
  { path: "fault.reset", ...fault, when: "a fault that resets the connection" },
  { path: "fault.hang", ...fault, when: "a fault that leaves the request without an answer" },
  { path: "fault.truncate", ...fault, when: "a fault that cuts the body short and closes the connection" },
  { path: "fault.malformed", ...fault, when: "a fault that answers 200 with broken JSON" },
  { path: "fault.slow", ...fault, when: "a fault that sends the answer byte by byte" },
] as const satisfies readonly Outcome[];

/** The stable id of a way in which a request can end. */
export type PathId = (typeof outcomes)[number]["path"];

/** The id of a fault. */
export type FaultPathId = Extract<PathId, `fault.${string}`>;

/** The id of a way in which a request ends that meets no fault. */
export type GatePathId = Exclude<PathId, FaultPathId>;

/** The paths on which requests end that meet no fault. */
export const gatePathIds = outcomes
  .map(({ path }) => path)
  .filter((path): path is GatePathId => !path.startsWith("fault."));

/** The ids of all faults. */
export const faultPathIds = outcomes
  .map(({ path }) => path)
  .filter((path): path is FaultPathId => path.startsWith("fault."));

/** Every error code that the pretended API itself can send, the assumed one of 429 included; those of faults aside. */
export type ApiErrorCode = Exclude<(typeof outcomes)[number]["code"], null>;

const byPath: ReadonlyMap<string, Outcome> = new Map(outcomes.map((row) => [row.path, row]));

/** The row of a path id. */
export function outcomeOf(path: PathId): Outcome {
  return byPath.get(path) as Outcome;
}

/** What the sandbox answers outside the specification when the request never became one (bad HTTP, our own defect). */
export const refusals = {
  bad_request: "The request could not be understood.",
  internal_error: "The sandbox failed to answer; this is a defect of the sandbox.",
} as const;
