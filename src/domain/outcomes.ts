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
  /** The remedy for the holder of the key or the author of the client. */
  readonly whatToDo: string;
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
  {
    path: "200.test",
    ...success,
    when: "a valid test key",
    whatToDo: "Nothing: the key works, and reaches synthetic farmers only.",
  },
  {
    path: "200.live",
    ...success,
    when: "a valid live key of an organization approved for live access",
    whatToDo: "Nothing: the key works, and is a live one.",
  },
  {
    path: "200.legacy",
    ...success,
    when: "a valid key with a legacy prefix, not rotated yet",
    whatToDo: "It works until it is rotated. Rotate it: the replacement has the current prefix.",
  },
  {
    path: "200.retiring",
    ...success,
    when: "a replaced key, still in its overlap",
    whatToDo: "It works until its overlap ends. Change over to its replacement before that.",
  },
  {
    path: "200.replacement",
    ...success,
    when: "the key that replaced another one",
    whatToDo: "Nothing: the key works, and has replaced another one. Retire the old one everywhere.",
  },
  {
    path: "401.missing",
    ...unauthorized,
    when: "no x-api-key header",
    whatToDo: "Send the key in the x-api-key header of every request; no other header or parameter is read.",
  },
  {
    path: "401.malformed",
    ...unauthorized,
    when: "an x-api-key header that is not one well-formed key",
    whatToDo:
      "Send one x-api-key header with the key and nothing else: its prefix (SVC_test_ or SVC_live_), then letters, digits, _ and -. No quotes, no Bearer, no spaces.",
  },
  {
    path: "401.unknown",
    ...unauthorized,
    when: "a well-formed key that is not known",
    whatToDo:
      "Check that the client sends the key of this sandbox: the scenario and the seed decide the keys (svc-sandbox keys), and a key of one environment does not work in the other.",
  },
  {
    path: "401.revoked",
    ...unauthorized,
    when: "a revoked key",
    whatToDo:
      "Create a new key; a revoked one never works again. Stop sending this one: trying again changes nothing.",
  },
  {
    path: "401.expired",
    ...unauthorized,
    when: "an expired key",
    whatToDo: "Create a new key; an expired one never works again. Rotate the next one before it expires.",
  },
  {
    path: "401.rotated",
    ...unauthorized,
    when: "a replaced key whose overlap is over",
    whatToDo: "Send the key that replaced it: its overlap is over.",
  },
  {
    path: "403.access_denied",
    status: 403,
    code: "access_denied",
    message: "The organization is not active.",
    promised: true,
    when: "a valid key of an organization that is not active",
    whatToDo: "The organization has to become active again; no other key of it works either.",
  },
  {
    path: "403.live_not_approved",
    ...liveAccess,
    when: "a live key of an organization not approved for live access",
    whatToDo: "The organization's compliance application has to be approved. Use a test key until then.",
  },
  {
    path: "403.live_suspended",
    ...liveAccess,
    when: "a live key of an organization whose live access is suspended",
    whatToDo: "The organization's live access has to be restored. Its test keys go on working meanwhile.",
  },
  {
    path: "403.insufficient_scope",
    status: 403,
    code: "insufficient_scope",
    message: "The API key lacks the scope that this endpoint needs.",
    promised: true,
    when: "a valid key without the scope that the endpoint needs",
    whatToDo:
      "Create a key with the scope that the endpoint needs; the scopes of a key are chosen when it is created.",
  },
  {
    path: "429.per_minute",
    ...limited,
    when: "more requests in a minute than the key's per_minute",
    whatToDo: "Wait until the minute is over, then go on more slowly. Do not try again at once.",
  },
  {
    path: "429.per_day",
    ...limited,
    when: "more requests in a day than the key's per_day",
    whatToDo: "Wait until the day is over, and spread the requests; or agree on a higher limit.",
  },
  {
    path: "404.unknown_path",
    ...notFound,
    promised: false,
    when: "a path that the API does not have",
    whatToDo: "Correct the path: GET /v1/relying-party/me is the one there is.",
  },
  {
    path: "405.method",
    status: 405,
    code: "method_not_allowed",
    message: "This path does not take this method.",
    promised: false,
    when: "a method that the path does not take",
    whatToDo: "Use GET: the Allow header of the answer lists what the path takes.",
  },
  {
    path: "400.bad_request",
    status: 400,
    code: "bad_request",
    message: "The body of the request is not JSON, or too long.",
    ...announced,
    when: "a body that is no JSON, not sent as JSON, or longer than 64 KiB (preview)",
    whatToDo: "Send the body as JSON in UTF-8, with Content-Type: application/json, no longer than 64 KiB.",
  },
  {
    path: "404.unknown_record",
    ...notFound,
    ...announced,
    message: "There is no such record.",
    when: "a farmer, consent request or attestation that is not there, or not for this key (preview)",
    whatToDo:
      "Check the id: a key sees the records of its own organization and environment, and a live key sees no synthetic farmer.",
  },
  {
    path: "409.conflict",
    status: 409,
    code: "conflict",
    message: "The record is not in a state that allows this.",
    ...announced,
    when: "a change that the state of the record does not allow (preview)",
    whatToDo: "Read the record again: its state does not allow this any more.",
  },
  {
    path: "422.validation",
    status: 422,
    code: "validation_failed",
    message: "The request is not valid.",
    ...announced,
    when: "a field, parameter or header that is not as described (preview)",
    whatToDo: "Correct what error.details.fields names, and send the request again.",
  },
  {
    path: "422.idempotency_key",
    status: 422,
    code: "idempotency_key_reused",
    message: "This Idempotency-Key was sent with another body before.",
    ...announced,
    when: "an Idempotency-Key that came with another body before (preview)",
    whatToDo: "Make a new Idempotency-Key for each new request; send the same one only to repeat it.",
  },
  {
    path: "fault.latency",
    ...fault,
    when: "a fault that lets the answer wait",
    whatToDo: "Wait for it: give the request more time than the answer takes, and do not send it twice.",
  },
  {
    path: "fault.status",
    ...fault,
    when: "a fault with a status from 500 to 504",
    whatToDo: "Send the request again after a while, each time a longer one; give up after a few times.",
  },
  {
    path: "fault.reset",
    ...fault,
    when: "a fault that resets the connection",
    whatToDo: "Connect anew and send the request again; reading who you are can be repeated safely.",
  },
  {
    path: "fault.hang",
    ...fault,
    when: "a fault that leaves the request without an answer",
    whatToDo:
      "Set a timeout on each request: without one, the client waits forever. Then send the request again.",
  },
  {
    path: "fault.truncate",
    ...fault,
    when: "a fault that cuts the body short and closes the connection",
    whatToDo:
      "Treat a body that is shorter than announced as no answer, and send the request again; most clients notice by themselves.",
  },
  {
    path: "fault.malformed",
    ...fault,
    when: "a fault that answers 200 with broken JSON",
    whatToDo:
      "Treat a body that is not valid JSON as no answer, whatever its status, and send the request again.",
  },
  {
    path: "fault.slow",
    ...fault,
    when: "a fault that sends the answer byte by byte",
    whatToDo: "Set a timeout for the whole response, not only for its headers.",
  },
] as const satisfies readonly Outcome[];

/** The stable id of a way in which a request can end. */
export type PathId = (typeof outcomes)[number]["path"];

/** The id of a path that the specification promises. */
export type PromisedPathId = Extract<(typeof outcomes)[number], { readonly promised: true }>["path"];

/** The id of a fault. */
export type FaultPathId = Extract<PathId, `fault.${string}`>;

/** The id of a way in which a request ends that meets no fault. */
export type ApiPathId = Exclude<PathId, FaultPathId>;

/** The paths on which requests end that meet no fault. */
export const apiPathIds = outcomes
  .map(({ path }) => path)
  .filter((path): path is ApiPathId => !isFault(path));

/** The ids of all faults. */
export const faultPathIds = outcomes.map(({ path }) => path).filter(isFault);

/** Every error code that the pretended API itself can send, the assumed one of 429 included; those of faults aside. */
export type ApiErrorCode = Exclude<(typeof outcomes)[number]["code"], null>;

const byPath: ReadonlyMap<string, Outcome> = new Map(outcomes.map((row) => [row.path, row]));

/** Whether a path is that of a fault. */
export function isFault(path: PathId): path is FaultPathId {
  return path.startsWith("fault.");
}

/** The row of a path id. */
export function outcomeOf(path: PathId): Outcome {
  return byPath.get(path) as Outcome;
}

/** The refusals outside the specification: of bad HTTP, and for a defect of the sandbox. */
export const refusals = {
  bad_request: "The request could not be understood.",
  internal_error: "The sandbox failed to answer; this is a defect of the sandbox.",
} as const;

/** The path of the one endpoint that is released (R1); a story's request goes there when it does not say where. */
export const mePath = "/v1/relying-party/me";
