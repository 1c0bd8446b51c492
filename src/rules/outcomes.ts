import { type FaultPathId, faultEffects, faultKinds } from "./fault-effects.js";
import type { Shape } from "./schema/shape.js";
import * as s from "./schema/shape.js";

/** The closed list of outcomes: responses, the OpenAPI document, the docs and the coverage are made from it. */
export interface Outcome {
  /** The stable name of the outcome: `401.revoked`. */
  readonly pathId: string;
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
const tooManyRequests = {
  status: 429,
  code: "rate_limited",
  message: "Too many requests.",
  promised: true,
} as const;
const success = { status: 200, code: null, message: null, promised: true } as const;
const notFound = { status: 404, code: "not_found", message: "There is nothing at this path." } as const;

const apiOutcomes = [
  {
    pathId: "200.test",
    ...success,
    when: "a valid test key",
    whatToDo: "Nothing: the key works. It reaches only synthetic farmers.",
  },
  {
    pathId: "200.live",
    ...success,
    when: "a valid live key of an organization approved for live access",
    whatToDo: "Nothing: the key works, and it is a live key.",
  },
  {
    pathId: "200.legacy",
    ...success,
    when: "a valid key with a legacy prefix, not rotated yet",
    whatToDo: "It works until it is rotated. Rotate it: the replacement has the current prefix.",
  },
  {
    pathId: "200.retiring",
    ...success,
    when: "a replaced key, still in its overlap",
    whatToDo: "It works until its overlap ends. Switch to its replacement before then.",
  },
  {
    pathId: "200.replacement",
    ...success,
    when: "the key that replaced another one",
    whatToDo: "Nothing: the key works. Stop using the key that it replaced.",
  },
  {
    pathId: "401.missing",
    ...unauthorized,
    when: "no x-api-key header",
    whatToDo:
      "Send the key in the x-api-key header of every request. The API reads no other header or parameter.",
  },
  {
    pathId: "401.malformed",
    ...unauthorized,
    when: "an x-api-key header that is not exactly one well-formed key",
    whatToDo:
      "Send one x-api-key header with the key and nothing else: its prefix (SVC_test_ or SVC_live_), then letters, digits, _ and -. No quotes, no Bearer, no spaces.",
  },
  {
    pathId: "401.unknown",
    ...unauthorized,
    when: "an unknown, well-formed key",
    whatToDo:
      "Send a key of this sandbox: the scenario and the seed decide the keys, and the command `keys` lists them. A key of one environment does not work in the other.",
  },
  {
    pathId: "401.revoked",
    ...unauthorized,
    when: "a revoked key",
    whatToDo: "Create a new key. Stop sending the revoked key: it never works again.",
  },
  {
    pathId: "401.expired",
    ...unauthorized,
    when: "an expired key",
    whatToDo: "Create a new key: an expired key never works again. Rotate the next one before it expires.",
  },
  {
    pathId: "401.rotated",
    ...unauthorized,
    when: "a replaced key after its overlap",
    whatToDo: "Send its replacement: the overlap has ended.",
  },
  {
    pathId: "403.access_denied",
    status: 403,
    code: "access_denied",
    message: "The organization is not active.",
    promised: true,
    when: "a valid key of an organization that is not active",
    whatToDo: "Ask for the organization to be activated again. None of its other keys works either.",
  },
  {
    pathId: "403.live_not_approved",
    ...liveAccess,
    when: "a live key of an organization not approved for live access",
    whatToDo: "Get the organization's compliance application approved. Use a test key until then.",
  },
  {
    pathId: "403.live_suspended",
    ...liveAccess,
    when: "a live key of an organization whose live access is suspended",
    whatToDo: "Get the organization's live access restored. Its test keys still work.",
  },
  {
    pathId: "403.insufficient_scope",
    status: 403,
    code: "insufficient_scope",
    message: "The API key lacks the scope that this endpoint needs.",
    promised: true,
    when: "a valid key without the scope that the endpoint needs",
    whatToDo:
      "Create a key with the scope that the endpoint needs. You choose a key's scopes when you create it.",
  },
  {
    pathId: "429.per_minute",
    ...tooManyRequests,
    when: "more requests in a minute than the key allows",
    whatToDo: "Wait for the next minute, then send fewer requests. Do not try again immediately.",
  },
  {
    pathId: "429.per_day",
    ...tooManyRequests,
    when: "more requests in a day than the key allows",
    whatToDo: "Wait for the next day, and spread your requests. Or agree on a higher limit.",
  },
  {
    pathId: "404.unknown_path",
    ...notFound,
    promised: false,
    when: "a path that the API does not have",
    whatToDo: "Correct the path. It is exact: in lower case, and without a slash at the end.",
  },
  {
    pathId: "405.method",
    status: 405,
    code: "method_not_allowed",
    message: "This path does not accept this method.",
    promised: false,
    when: "a method that the path does not accept",
    whatToDo: "Use a method that the response's Allow header lists.",
  },
] as const satisfies readonly Outcome[];

const faultOutcomes = faultKinds.map((kind) => {
  const pathId: FaultPathId = `fault.${kind}`;
  const { does, whatToDo } = faultEffects[kind];
  return {
    pathId,
    status: 0,
    code: null,
    message: null,
    when: `a fault that ${does}`,
    whatToDo,
    promised: false,
  } as const;
});

export const outcomes = [...apiOutcomes, ...faultOutcomes];

/** The status of an endpoint's success. */
export const successStatuses = [200, 201, 202, 204] as const;
export type SuccessStatus = (typeof successStatuses)[number];

/** The path id of a success of an endpoint other than `/me`: its status and operation id (`201.createConsentRequest`). */
export type SuccessPathId = `${SuccessStatus}.${string}`;

export type ApiPathId = (typeof apiOutcomes)[number]["pathId"] | SuccessPathId;

/** The stable id of an outcome of a request. */
export type PathId = ApiPathId | FaultPathId;

export type PromisedPathId = Extract<(typeof apiOutcomes)[number], { readonly promised: true }>["pathId"];

export const apiPathIds: readonly ApiPathId[] = apiOutcomes.map(({ pathId }) => pathId);

/** A path id: of these, or of the success of another endpoint than `/me`. */
export const pathIdShape = (ids: readonly PathId[] = outcomes.map(({ pathId }) => pathId)): Shape<PathId> =>
  ({ ...s.choice(ids), besides: /^20[0124]\.[A-Za-z][\w-]*$/ }) as Shape<PathId>;

export const faultPathIds = faultOutcomes.map(({ pathId }) => pathId);

/** Every error code that the API can send, including the assumed code of 429, without the faults' codes. */
export type ApiErrorCode = Exclude<(typeof apiOutcomes)[number]["code"], null>;

const byPath: ReadonlyMap<string, Outcome> = new Map(outcomes.map((row) => [row.pathId, row]));

export function isFault(pathId: PathId): pathId is FaultPathId {
  return pathId.startsWith("fault.");
}

/** The outcome with this path id; of the success of another endpoint, which the list does not have, one made from the id. */
export function outcomeOf(pathId: PathId): Outcome {
  return byPath.get(pathId) ?? successOutcome(pathId as SuccessPathId);
}

export function successOutcome(pathId: SuccessPathId): Outcome & { readonly pathId: SuccessPathId } {
  const [status = "", operationId = ""] = pathId.split(/\.(.*)/s);
  return {
    pathId,
    status: Number(status),
    code: null,
    message: null,
    promised: false,
    when: `a request to ${operationId} that passes all its checks`,
    whatToDo: "Nothing: the request succeeded.",
  };
}

export function isSuccess(pathId: PathId): boolean {
  return pathId.startsWith("2");
}

/** Errors outside the specification: invalid HTTP, and a defect of the sandbox. */
export const rejections = {
  bad_request: "The request could not be understood.",
  internal_error: "The sandbox failed to respond. This is a defect of the sandbox.",
} as const;

/** The path of the one endpoint that is released (R1); a story's request goes there by default. */
export const mePath = "/v1/relying-party/me";
