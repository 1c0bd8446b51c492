/** One kind of effect: everything that differs between effects, except how the API makes the response. */
interface EffectRow {
  /** The value in a scenario: `true`, or one of these. */
  readonly value: "flag" | "delay" | "status" | "rate";
  /** What the page shows of it; `{}` is its value. */
  readonly label: string;
  /** The effect with the highest rank names the outcome of a fault, and makes the response. */
  readonly rank: number;
  /** Whether the request still gets its complete response and is counted, only later. */
  readonly onlyDelays: boolean;
  readonly ends: "sent" | "cut" | "reset" | "hang";
  readonly fits: readonly string[];
  /** The sentence "a fault that …". */
  readonly does: string;
  /** What a client does after a request that can be repeated: see `isIdempotent`. */
  readonly whatToDo: string;
  /** What it does after any other request. Default: the same. */
  readonly whatToDoOnce?: string;
  /** The description of its field, if `does` is not enough. */
  readonly field?: string;
  /** The effect as `certify`, the docs and the page's buttons have it, and what then happens to a client's request. */
  readonly example: Readonly<Record<string, unknown>>;
  readonly happens: string;
  /** What the client then gets, in a list. */
  readonly gets: string;
  /** What a person sees who has no response to look at. */
  readonly silence?: string;
}

const readFirst = "It may have taken effect, so read its result before you send it again.";

/** The effects of faults. `latency` and `slow` only delay the response; each other one has its response in `api/fault-responses.ts`. */
export const faultEffects = {
  latency: {
    value: "delay",
    label: "{} late",
    rank: 1,
    onlyDelays: true,
    ends: "sent",
    fits: ["status", "reset", "truncate", "malformed", "slow"],
    does: "delays the response",
    whatToDo: "Wait for it: set a longer timeout than the response takes, and do not send the request twice.",
    field:
      "The delay of the response, in real time: a duration such as 250ms, a range { min: 100ms, max: 2s }, or as monitoring shows it { median: 200ms, p99: 2s }.",
    example: { latency: "1s" },
    happens: "gets its response a second late",
    gets: "a late response",
  },
  status: {
    value: "status",
    label: "status {}",
    rank: 3,
    onlyDelays: false,
    ends: "sent",
    fits: ["latency", "truncate", "slow"],
    does: "sends a status from 500 to 504",
    whatToDo: "Send the request again with growing pauses, and give up after a few tries.",
    whatToDoOnce: `Do not simply send the request again. ${readFirst}`,
    field: "Responds with this status and the API's error body.",
    example: { status: 503 },
    happens: "gets a 503",
    gets: "503",
  },
  reset: {
    value: "flag",
    label: "connection reset",
    rank: 7,
    onlyDelays: false,
    ends: "reset",
    fits: ["latency"],
    does: "resets the connection",
    whatToDo: "Connect again, and send the request again.",
    whatToDoOnce: `Connect again, but do not simply send the request again. ${readFirst}`,
    example: { reset: true },
    happens: "has its connection reset",
    gets: "a reset connection",
    silence: "The connection is reset without a response.",
  },
  hang: {
    value: "flag",
    label: "no response",
    rank: 6,
    onlyDelays: false,
    ends: "hang",
    fits: [],
    does: "never sends a response",
    whatToDo: "Set a timeout on each request, or your client waits forever. Then send the request again.",
    whatToDoOnce: `Set a timeout on each request, or your client waits forever. ${readFirst}`,
    example: { hang: true },
    happens: "never gets a response",
    gets: "no response",
    silence: "There is no response. A client without a timeout would wait forever.",
  },
  truncate: {
    value: "flag",
    label: "truncated body",
    rank: 5,
    onlyDelays: false,
    ends: "cut",
    fits: ["latency", "status", "slow"],
    does: "truncates the body and closes the connection",
    whatToDo:
      "Treat a truncated body as a failed request, and send the request again. Most HTTP libraries report it.",
    whatToDoOnce: `Treat a truncated body as an unknown result, not as a success. ${readFirst}`,
    example: { truncate: true },
    happens: "gets a response that is cut short",
    gets: "a truncated body",
  },
  malformed: {
    value: "flag",
    label: "broken JSON",
    rank: 4,
    onlyDelays: false,
    ends: "sent",
    fits: ["latency", "slow"],
    does: "sends 200 with broken JSON",
    whatToDo: "Treat invalid JSON as a failed request, no matter which status, and send the request again.",
    whatToDoOnce: `Treat invalid JSON as an unknown result, no matter which status. ${readFirst}`,
    example: { malformed: true },
    happens: "gets a 200 with broken JSON",
    gets: "broken JSON",
  },
  slow: {
    value: "rate",
    label: "{} bytes a second",
    rank: 2,
    onlyDelays: true,
    ends: "sent",
    fits: ["latency", "status", "truncate", "malformed"],
    does: "sends the response in many parts",
    whatToDo:
      "Read the body to its end: it arrives in many parts. If you set a timeout, let it cover the whole response.",
    field: "Sends the body at this many bytes per second.",
    // The run of a variant spreads each body over a second.
    example: { slow: 100 },
    happens: "gets its response in many parts",
    gets: "a response in many parts",
  },
} as const satisfies Readonly<Record<string, EffectRow>>;

export type FaultKind = keyof typeof faultEffects;
export type FaultOutcomeId = `fault.${FaultKind}`;

export const faultKinds = Object.keys(faultEffects) as FaultKind[];

/** The effect of a fault: a member for each kind, and two that belong to `status`. */
export interface FaultEffect {
  /** Milliseconds of real time: a range with equal chances, or a lognormal distribution. */
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
  /** Whether the body is a gateway's page. */
  readonly html?: boolean;
  /** The seconds of a header, as a number or as a date. */
  readonly retryAfter?: { readonly seconds: number; readonly asDate: boolean };
}

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

/** The status of a service that fails. */
export type FailureStatus = keyof typeof failures;

const effectsByRank = [...faultKinds].sort((one, other) => faultEffects[other].rank - faultEffects[one].rank);

/** The effects of a fault, the most drastic first. */
export function faultKindsOf(fault: Partial<Record<FaultKind, unknown>>): FaultKind[] {
  return effectsByRank.filter((kind) => fault[kind] !== undefined && fault[kind] !== false);
}

/** The most drastic effect of a fault, which makes the response. */
export function mainEffectOf(effect: FaultEffect): FaultKind {
  return faultKindsOf(effect)[0] ?? "latency";
}

/** The outcome of a fault: its most drastic effect. */
export function faultOutcomeOf(effect: FaultEffect): FaultOutcomeId {
  return `fault.${mainEffectOf(effect)}`;
}

/** Describes an effect in a sentence: `Resets the connection.` */
export function effectWords(kind: FaultKind): string {
  const { does, field }: EffectRow = faultEffects[kind];
  return field ?? `${does[0]?.toUpperCase()}${does.slice(1)}.`;
}

/** The row of the effect that an outcome of a fault names; `undefined` for the outcome of a response. */
export function effectAt(outcome: FaultOutcomeId): EffectRow;
export function effectAt(outcome: string): EffectRow | undefined;
export function effectAt(outcome: string): EffectRow | undefined {
  if (!outcome.startsWith("fault.")) return undefined;
  const kind = outcome.slice("fault.".length) as FaultKind;
  return faultEffects[kind];
}

const idempotentMethods = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"];

/** Whether two requests have the effect of one (RFC 9110, 9.2.2). */
export function isIdempotent(method: string): boolean {
  return idempotentMethods.includes(method);
}

interface FaultyResponse {
  readonly isIdempotent: boolean;
  /** The value of the header `Retry-After`. */
  readonly retryAfter?: string | undefined;
}

/** What a client should do after a fault: by the fault's effect, and by whether the request can be repeated. */
export function whatToDoAfter(fault: FaultOutcomeId, response: FaultyResponse): string {
  const { whatToDo, whatToDoOnce = whatToDo } = effectAt(fault);
  const advice = response.isIdempotent ? whatToDo : whatToDoOnce;
  if (fault !== "fault.status" || response.retryAfter === undefined) return advice;
  return `Wait as its Retry-After says (${response.retryAfter}). ${advice}`;
}
