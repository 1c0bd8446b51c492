/** The statuses of a service that fails, each with its error body. */
export const failures = {
  500: { reason: "Internal Server Error", code: "internal_error", message: "The service failed to respond." },
  501: { reason: "Not Implemented", code: "not_implemented", message: "The service cannot do this." },
  502: {
    reason: "Bad Gateway",
    code: "bad_gateway",
    message: "The gateway got no valid response from the service.",
  },
  503: {
    reason: "Service Unavailable",
    code: "service_unavailable",
    message: "The service is not available at the moment.",
  },
  504: {
    reason: "Gateway Timeout",
    code: "gateway_timeout",
    message: "The gateway got no response from the service in time.",
  },
} as const;

export type FailureStatus = keyof typeof failures;

/**
 * One kind of fault: everything that differs between the kinds, except how the API makes the response. A fault can have
 * the effects of several kinds, such as `status` and `latency`.
 */
interface FaultKindRow {
  /** What a scenario has as its value: `true` for a flag. */
  readonly valueKind: "flag" | "latency" | "status" | "rate";
  /** Whether it does nothing to a response without a body. */
  readonly breaksBody: boolean;
  /** How drastic it is, from 1: of the kinds of one fault, the most drastic one names the outcome, and makes the response. */
  readonly severity: number;
  /** Whether the request still gets its complete response and is counted, only later. */
  readonly onlyDelays: boolean;
  /** How the response ends: it is sent to its end or cut, the connection is reset, or nothing ever comes. */
  readonly ends: "sent" | "cut" | "reset" | "hang";
  /** The other kinds that the same fault can have. */
  readonly combinesWith: readonly string[];
  /** The end of "a fault that …", the cause of its outcome. */
  readonly causeClause: string;
  /** What a client does after a request that can be repeated: see `isIdempotent`. */
  readonly whatToDo: string;
  /** What a client does after any other request. Default: `whatToDo`. */
  readonly whatToDoIfNotIdempotent?: string;
}

const readResultFirst = "It may have taken effect, so read its result before you send it again.";

/**
 * One row for each kind of fault. `api/fault-responses.ts` makes the responses of those that do not only delay one. What only editors
 * and the page show of a kind is not here: pages of users load these rows.
 */
export const faultKindTable = {
  latency: {
    valueKind: "latency",
    breaksBody: false,
    severity: 1,
    onlyDelays: true,
    ends: "sent",
    combinesWith: ["status", "reset", "truncate", "malformed", "slow"],
    causeClause: "delays the response",
    whatToDo: "Wait for it: set a longer timeout than the response takes, and do not send the request twice.",
  },
  status: {
    valueKind: "status",
    breaksBody: false,
    severity: 3,
    onlyDelays: false,
    ends: "sent",
    combinesWith: ["latency", "truncate", "slow"],
    causeClause: "sends a status from 500 to 504",
    whatToDo: "Send the request again with growing pauses, and give up after a few tries.",
    whatToDoIfNotIdempotent: `Do not simply send the request again. ${readResultFirst}`,
  },
  reset: {
    valueKind: "flag",
    breaksBody: false,
    severity: 7,
    onlyDelays: false,
    ends: "reset",
    combinesWith: ["latency"],
    causeClause: "resets the connection",
    whatToDo: "Connect again, and send the request again.",
    whatToDoIfNotIdempotent: `Connect again, but do not simply send the request again. ${readResultFirst}`,
  },
  hang: {
    valueKind: "flag",
    breaksBody: false,
    severity: 6,
    onlyDelays: false,
    ends: "hang",
    combinesWith: [],
    causeClause: "never sends a response",
    whatToDo: "Set a timeout on each request, or your client waits forever. Then send the request again.",
    whatToDoIfNotIdempotent: `Set a timeout on each request, or your client waits forever. ${readResultFirst}`,
  },
  truncate: {
    valueKind: "flag",
    breaksBody: true,
    severity: 5,
    onlyDelays: false,
    ends: "cut",
    combinesWith: ["latency", "status", "slow"],
    causeClause: "truncates the body and closes the connection",
    whatToDo:
      "Treat a truncated body as a failed request, and send the request again. Most HTTP libraries report it.",
    whatToDoIfNotIdempotent: `Treat a truncated body as an unknown result, not as a success. ${readResultFirst}`,
  },
  malformed: {
    valueKind: "flag",
    breaksBody: true,
    severity: 4,
    onlyDelays: false,
    ends: "sent",
    combinesWith: ["latency", "slow"],
    causeClause: "sends 200 with broken JSON",
    whatToDo: "Treat invalid JSON as a failed request, no matter which status, and send the request again.",
    whatToDoIfNotIdempotent: `Treat invalid JSON as an unknown result, no matter which status. ${readResultFirst}`,
  },
  slow: {
    valueKind: "rate",
    breaksBody: false,
    severity: 2,
    onlyDelays: true,
    ends: "sent",
    combinesWith: ["latency", "status", "truncate", "malformed"],
    causeClause: "sends the response in many parts",
    whatToDo:
      "Read the body to its end: it arrives in many parts. If you set a timeout, let it cover the whole response.",
  },
} as const satisfies Readonly<Record<string, FaultKindRow>>;

export type FaultKind = keyof typeof faultKindTable;
export const faultKinds = Object.keys(faultKindTable) as FaultKind[];

const outcomePrefix = "fault.";
/** The id of the outcome of a request with a fault: it names the fault's most drastic kind. */
export type FaultOutcomeId = `fault.${FaultKind}`;

/** A fault of each kind, for `exec` and `certify`. A page of a user loads none of them. */
export const faultExamples = {
  latency: { latency: "1s" },
  status: { status: 503 },
  reset: { reset: true },
  hang: { hang: true },
  truncate: { truncate: true },
  malformed: { malformed: true },
  slow: { slow: 100 },
} as const satisfies Readonly<Record<FaultKind, object>>;

/** What one fault does: a member for each of its kinds, and two that belong to `status`. */
export interface FaultEffects {
  /** The delay in milliseconds of real time: a range with equal chances, or a distribution with a long tail. */
  readonly latency?:
    | { readonly min: number; readonly max: number }
    | { readonly median: number; readonly p99: number };
  readonly status?: FailureStatus;
  readonly reset?: boolean;
  readonly hang?: boolean;
  readonly truncate?: boolean;
  readonly malformed?: boolean;
  /** Bytes per second. */
  readonly slow?: number;
  /** With a status: whether the body is a gateway's page. */
  readonly html?: boolean;
  /** With a status: the seconds in its header `Retry-After`, as a number or as a date. */
  readonly retryAfter?: { readonly seconds: number; readonly asDate: boolean };
}

const mostDrasticFirst: readonly FaultKind[] = [...faultKinds].sort((kind, other) => {
  return faultKindTable[other].severity - faultKindTable[kind].severity;
});

export function faultKindsOf(effects: Partial<Record<FaultKind, unknown>>): FaultKind[] {
  return mostDrasticFirst.filter((kind) => effects[kind] !== undefined && effects[kind] !== false);
}

/** The most drastic kind of a fault. A fault without any effect is a delay of nothing. */
export function mainFaultKind(effects: FaultEffects): FaultKind {
  return faultKindsOf(effects)[0] ?? "latency";
}

export function faultOutcomeId(effects: FaultEffects): FaultOutcomeId {
  return `fault.${mainFaultKind(effects)}`;
}

export function isFault(outcome: string): outcome is FaultOutcomeId {
  return outcome.startsWith(outcomePrefix) && Object.hasOwn(faultKindTable, kindIn(outcome));
}

export function faultExample(outcome: FaultOutcomeId): (typeof faultExamples)[FaultKind] {
  return faultExamples[kindIn(outcome) as FaultKind]; // as below
}

export function faultKindRow(outcome: FaultOutcomeId): FaultKindRow {
  return faultKindTable[kindIn(outcome) as FaultKind]; // a fault's outcome ends with its kind
}

function kindIn(outcome: string): string {
  return outcome.slice(outcomePrefix.length);
}

const idempotentMethods = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"];

/** Whether two requests of this method do the same as one (RFC 9110, 9.2.2). */
export function isIdempotent(method: string): boolean {
  return idempotentMethods.includes(method);
}

/** What a client should do after a fault of a request. `retryAfter` is the header of its response. */
export function whatToDoAfter(
  outcome: FaultOutcomeId,
  request: { readonly isIdempotent: boolean; readonly retryAfter?: string | undefined },
): string {
  const { whatToDo, whatToDoIfNotIdempotent = whatToDo } = faultKindRow(outcome);
  const advice = request.isIdempotent ? whatToDo : whatToDoIfNotIdempotent;
  if (outcome !== "fault.status" || request.retryAfter === undefined) return advice;
  return `Wait as its Retry-After says (${request.retryAfter}). ${advice}`;
}
