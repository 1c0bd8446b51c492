import * as s from "../schema/shape.js";
import { type FaultOutcomeId, faultKinds, faultKindTable } from "./fault-effects.js";
import type { KeyRecord } from "./key-state.js";

// The outcomes of responses: this table, and behind it those of faults, which follow from `faultKindTable`.

/** One way a request can end. */
interface OutcomeRow {
  /** Its stable name: `401.revoked`. */
  readonly id: string;
  /** 0 for faults: their effects decide, and some send no status. */
  readonly status: number;
  /** The API's error code; `null` on success. For 429 the code is an assumption, see `rate_limit_code`. */
  readonly code: string | null;
  /** The message in the response; the same for every row of a code, so that it reveals no cause (R14). */
  readonly message: string | null;
  /** The cause, for people: documentation, `keys`, `explain`. */
  readonly when: string;
  /** What the owner of the key or the developer of the client should do. */
  readonly whatToDo: string;
  /** Whether the specification promises this outcome; coverage counts the promised ones. */
  readonly promised: boolean;
}

// What the rows of one code have in common.

const unauthorized = {
  status: 401,
  code: "unauthorized",
  message: "A valid API key is required.",
  promised: true,
} as const;
const liveAccessRefused = {
  status: 403,
  code: "live_access_not_approved",
  message: "Live access is not approved for this organization.",
  promised: true,
} as const;
const tooManyRequests = {
  status: 429,
  code: "rate_limited",
  message: "Too many requests.",
  promised: true,
} as const;
const success = { status: 200, code: null, message: null, promised: true } as const;
const notFound = { status: 404, code: "not_found", message: "There is nothing at this path." } as const;

/** The outcomes of responses. */
const responseOutcomes = [
  {
    id: "200.test",
    ...success,
    when: "a valid test key",
    whatToDo: "Nothing: the key works. It reaches only synthetic farmers.",
  },
  {
    id: "200.live",
    ...success,
    when: "a valid live key of an organization approved for live access",
    whatToDo: "Nothing: the key works, and it is a live key.",
  },
  {
    id: "200.legacy",
    ...success,
    when: "a valid key with a legacy prefix, not rotated yet",
    whatToDo: "It works until it is rotated. Rotate it: the replacement has the current prefix.",
  },
  {
    id: "200.retiring",
    ...success,
    when: "a replaced key, still in its overlap",
    whatToDo: "It works until its overlap ends. Switch to its replacement before then.",
  },
  {
    id: "200.replacement",
    ...success,
    when: "the key that replaced another one",
    whatToDo: "Nothing: the key works. Stop using the key that it replaced.",
  },
  {
    id: "401.missing",
    ...unauthorized,
    when: "no x-api-key header",
    whatToDo:
      "Send the key in the x-api-key header of every request. The API reads no other header or parameter.",
  },
  {
    id: "401.malformed",
    ...unauthorized,
    when: "an x-api-key header that is not exactly one well-formed key",
    whatToDo:
      "Send one x-api-key header with the key and nothing else: its prefix (SVC_test_ or SVC_live_), then letters, digits, _ and -. No quotes, no Bearer, no spaces.",
  },
  {
    id: "401.unknown",
    ...unauthorized,
    when: "an unknown, well-formed key",
    whatToDo:
      "Send a key of this sandbox: the scenario and the seed decide the keys, and the command `keys` lists them. A key of one environment does not work in the other.",
  },
  {
    id: "401.revoked",
    ...unauthorized,
    when: "a revoked key",
    whatToDo: "Create a new key. Stop sending the revoked key: it never works again.",
  },
  {
    id: "401.expired",
    ...unauthorized,
    when: "an expired key",
    whatToDo: "Create a new key: an expired key never works again. Rotate the next one before it expires.",
  },
  {
    id: "401.rotated",
    ...unauthorized,
    when: "a replaced key after its overlap",
    whatToDo: "Send its replacement: the overlap has ended.",
  },
  {
    id: "403.access_denied",
    status: 403,
    code: "access_denied",
    message: "The organization is not active.",
    promised: true,
    when: "a valid key of an organization that is not active",
    whatToDo: "Ask for the organization to be activated again. None of its other keys works either.",
  },
  {
    id: "403.live_not_approved",
    ...liveAccessRefused,
    when: "a live key of an organization not approved for live access",
    whatToDo: "Get the organization's compliance application approved. Use a test key until then.",
  },
  {
    id: "403.live_suspended",
    ...liveAccessRefused,
    when: "a live key of an organization whose live access is suspended",
    whatToDo: "Get the organization's live access restored. Its test keys still work.",
  },
  {
    id: "403.insufficient_scope",
    status: 403,
    code: "insufficient_scope",
    message: "The API key lacks the scope that this endpoint needs.",
    promised: true,
    when: "a valid key without the scope that the endpoint needs",
    whatToDo:
      "Create a key with the scope that the endpoint needs. You choose a key's scopes when you create it.",
  },
  {
    id: "429.per_minute",
    ...tooManyRequests,
    when: "more requests in a minute than the key allows",
    whatToDo: "Wait for the next minute, then send fewer requests. Do not try again immediately.",
  },
  {
    id: "429.per_day",
    ...tooManyRequests,
    when: "more requests in a day than the key allows",
    whatToDo: "Wait for the next day, and spread your requests. Or agree on a higher limit.",
  },
  {
    id: "404.unknown_path",
    ...notFound,
    promised: false,
    when: "a path that the API does not have",
    whatToDo: "Correct the path. It is exact: in lower case, and without a slash at the end.",
  },
  {
    id: "405.method",
    status: 405,
    code: "method_not_allowed",
    message: "This path does not accept this method.",
    promised: false,
    when: "a method that the path does not accept",
    whatToDo: "Use a method that the response's Allow header lists.",
  },
] as const satisfies readonly OutcomeRow[];

// The id of an outcome is one of these:
//
//   200.test, 401.revoked     a response, with its row in `responseOutcomes`
//   201.createConsentRequest  a success of another endpoint than `/me`: its status and operation id, without a row
//   fault.reset               a fault

type ResponseRow = (typeof responseOutcomes)[number];

/** The statuses that a success of an endpoint can have. */
export const successStatuses = [200, 201, 202, 204] as const;

type EndpointSuccessId = `${(typeof successStatuses)[number]}.${string}` & Record<never, never>; // or editors would not suggest `200.test`

export type ApiOutcomeId = ResponseRow["id"] | EndpointSuccessId;

/** The stable id of an outcome of a request. */
export type OutcomeId = ApiOutcomeId | FaultOutcomeId;

/** Every error code that the API can send, including the assumed code of 429, without the faults' codes. */
export type ApiErrorCode = Exclude<ResponseRow["code"], null>;

/** One way a request can end, with its stable id. */
export interface Outcome extends OutcomeRow {
  readonly id: OutcomeId;
}

const faultRows = faultKinds.map((kind) => {
  const id: FaultOutcomeId = `fault.${kind}`;
  const { causeClause, whatToDo } = faultKindTable[kind];
  const when = `a fault that ${causeClause}`;
  return { id, status: 0, code: null, message: null, when, whatToDo, promised: false } as const;
});

/**
 * The rows of the outcomes: responses, the OpenAPI document, the docs and the coverage are made from them. A success of
 * another endpoint than `/me` has no row: `outcomeRow` makes it from the id.
 */
export const outcomes = [...responseOutcomes, ...faultRows];

export const faultOutcomeIds = faultRows.map(({ id }) => id);

const rowById: ReadonlyMap<string, Outcome> = new Map(outcomes.map((row) => [row.id, row]));

/** The row of an outcome. The table has none for the success of another endpoint than `/me`: it is made from the id. */
export function outcomeRow(outcome: OutcomeId): Outcome {
  return rowById.get(outcome) ?? endpointSuccessRow(outcome);
}

function endpointSuccessRow(outcome: OutcomeId): Outcome {
  const point = outcome.indexOf(".");
  const operationId = outcome.slice(point + 1);
  return {
    id: outcome,
    status: Number(outcome.slice(0, point)),
    code: null,
    message: null,
    promised: false,
    when: `a request to ${operationId} that passes all its checks`,
    whatToDo: "Nothing: the request succeeded.",
  };
}

export function isSuccess(outcome: OutcomeId): boolean {
  return outcome.startsWith("2");
}

export function apiOutcomeShape(): s.Shape<ApiOutcomeId> {
  return idShape(responseOutcomes.map(({ id }) => id));
}

export function outcomeShape(): s.Shape<OutcomeId> {
  return idShape(outcomes.map(({ id }) => id));
}

/** The shape of one of these ids, or of the id of a success of another endpoint than `/me`. */
function idShape<Id extends OutcomeId>(ids: readonly Id[]): s.Shape<Id | EndpointSuccessId> {
  const endpointSuccess = new RegExp(`^(?:${successStatuses.join("|")})\\.[A-Za-z][\\w-]*$`);
  return { ...s.choice(ids), alsoMatching: endpointSuccess } as s.Shape<Id | EndpointSuccessId>; // which the pattern allows
}

// Several successes can fit a key, such as a retiring legacy key: the first that fits counts.

/** The outcome of a success of `/me` with a key. */
export function successOfKey(key: Pick<KeyRecord, "environment" | "legacy" | "replaces" | "overlapEndsAt">) {
  if (key.overlapEndsAt !== undefined) return "200.retiring";
  if (key.replaces !== undefined) return "200.replacement";
  if (key.legacy) return "200.legacy";
  return key.environment === "live" ? "200.live" : "200.test";
}
