import words from "./outcomes.json" with { type: "json" };

/** A way in which a request can end. */
export interface Outcome extends Answer {
  readonly path: PathId;
  /** When this happens, for people: documentation, `keys`, `explain`. */
  readonly when: string;
  /** The remedy for the holder of the key or the author of the client. */
  readonly whatToDo: string;
}

interface Answer {
  /** 0 for faults: what they do decides, and some leave nothing that has a status. */
  readonly status: number;
  /** The API's error code; `null` on success. For 429 the code is an assumption, see `rate_limit_code`. */
  readonly code: string | null;
  /** The sentence that the caller reads; the same for every row of a code, so that no row gives itself away (R14). */
  readonly message: string | null;
  /** Whether the specification promises this path; coverage counts the promised ones. */
  readonly promised: boolean;
  /** Whether there is no such answer but with the preview of the announced endpoints. Default: false. */
  readonly preview?: true;
}

const success = { status: 200, code: null, message: null, promised: true } as const;
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
const announced = { promised: false, preview: true } as const;
const fault = { status: 0, code: null, message: null, promised: false } as const;

const answers = {
  "200.test": success,
  "200.live": success,
  "200.legacy": success,
  "200.retiring": success,
  "200.replacement": success,
  "401.missing": unauthorized,
  "401.malformed": unauthorized,
  "401.unknown": unauthorized,
  "401.revoked": unauthorized,
  "401.expired": unauthorized,
  "401.rotated": unauthorized,
  "403.access_denied": {
    status: 403,
    code: "access_denied",
    message: "The organization is not active.",
    promised: true,
  },
  "403.live_not_approved": liveAccess,
  "403.live_suspended": liveAccess,
  "403.insufficient_scope": {
    status: 403,
    code: "insufficient_scope",
    message: "The API key lacks the scope that this endpoint needs.",
    promised: true,
  },
  "429.per_minute": limited,
  "429.per_day": limited,
  "404.unknown_path": {
    status: 404,
    code: "not_found",
    message: "There is nothing at this path.",
    promised: false,
  },
  "405.method": {
    status: 405,
    code: "method_not_allowed",
    message: "This path does not take this method.",
    promised: false,
  },
  "400.bad_request": {
    status: 400,
    code: "bad_request",
    message: "The body of the request is not JSON, or too long.",
    ...announced,
  },
  "404.unknown_record": {
    status: 404,
    code: "not_found",
    message: "There is no such record.",
    ...announced,
  },
  "409.conflict": {
    status: 409,
    code: "conflict",
    message: "The record is not in a state that allows this.",
    ...announced,
  },
  "422.validation": {
    status: 422,
    code: "validation_failed",
    message: "The request is not valid.",
    ...announced,
  },
  "422.idempotency_key": {
    status: 422,
    code: "idempotency_key_reused",
    message: "This Idempotency-Key was sent with another body before.",
    ...announced,
  },
  "fault.latency": fault,
  "fault.status": fault,
  "fault.reset": fault,
  "fault.hang": fault,
  "fault.truncate": fault,
  "fault.malformed": fault,
  "fault.slow": fault,
} as const satisfies Readonly<Record<string, Answer>>;

/** The stable id of a way in which a request can end. */
export type PathId = keyof typeof answers;

/** The id of a fault. */
export type FaultPathId = Extract<PathId, `fault.${string}`>;

/** The id of a way in which a request ends that meets no fault. */
export type ApiPathId = Exclude<PathId, FaultPathId>;

/** Every error code that the pretended API itself can send, the assumed one of 429 included; those of faults aside. */
export type ApiErrorCode = Exclude<(typeof answers)[PathId]["code"], null>;

const pathIds = Object.keys(answers) as PathId[];

/**
 * The closed list of ways in which a request can end.
 *
 * Everything that speaks of outcomes is made from this table: the answers, the OpenAPI document, the documentation and
 * the coverage. A new way to end is one new row, and its words in `outcomes.json`.
 */
export const outcomes: readonly Outcome[] = pathIds.map((path) => ({
  path,
  ...answers[path],
  ...words[path],
}));

/** The ids of all faults. */
export const faultPathIds = pathIds.filter((path): path is FaultPathId => path.startsWith("fault."));

/** The paths on which requests end that meet no fault. */
export const apiPathIds = pathIds.filter((path): path is ApiPathId => !path.startsWith("fault."));

const byPath: ReadonlyMap<string, Outcome> = new Map(outcomes.map((row) => [row.path, row]));

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
