import type { KeylessRequest, ReleasedEndpoint } from "../api/endpoint.js";
import { me } from "../api/endpoints/me.js";
import { errorShape } from "../api/openapi.js";
import { outcomeOf, outcomes, type PathId } from "../rules/outcomes.js";
import { escapeControls } from "../rules/redact.js";
import { mismatchesIn, type ShapeMismatch } from "../rules/schema/check.js";
import { type CheckedRule, type ContractDifference, type KeyOf, keyPrefixOf, ruleOf } from "./contract.js";
import {
  type CheckedResponse,
  describeBody,
  describeResponse,
  describeValue,
  headerOf,
  memberAt,
  minuteOf,
  quoted,
  shownText,
} from "./response.js";

export interface Attempt {
  readonly pathId: PathId;
  /** Default: `/me`. */
  readonly endpoint?: ReleasedEndpoint | undefined;
  /** Default: to `/me`, without input. */
  readonly request?: KeylessRequest | undefined;
  /** The value of the x-api-key header; if left out, the request has none. Never printed. */
  readonly apiKey?: string | undefined;
  readonly variable?: string | undefined;
  /** Another key for each repetition, if the path needs none of the server's keys. */
  readonly keyOf?: KeyOf | undefined;
  readonly response?: CheckedResponse | undefined;
  readonly noResponse?: string;
  /** Why it was not tried, or why its response shows nothing about the path. */
  readonly reason?: string | undefined;
  /** The judgment if it needs several requests. Default: from the response. */
  readonly difference?: ContractDifference;
}

export type CompletedAttempt = Attempt & { readonly response: CheckedResponse };

type Judgment = Omit<ContractDifference, "pathId">;

export function judgeAttempt(attempt: Attempt): ContractDifference[] {
  const { pathId, response, noResponse, reason, difference } = attempt;
  if (difference !== undefined) return [difference];
  if (noResponse !== undefined) {
    return [{ rules: [ruleOf(pathId)], pathId, at: "connection", expected: "a response", found: noResponse }];
  }
  if (response === undefined || reason !== undefined) return [];
  const requestId = headerOf(response, "x-request-id");
  const id = requestId === undefined || requestId === "" ? {} : { requestId: shownText(requestId) };
  const secrecy = response.repeatsKeyAt.map((at): Judgment => {
    return { rules: ["R34"], at, expected: "no key", found: "the key that was sent" };
  });
  return [...secrecy, ...judgeOutcome(attempt, response), ...judgeWait(response)].map((one) => ({
    pathId,
    ...one,
    ...id,
  }));
}

/** Returns why a response shows nothing about its path; `undefined` if it does. */
export function whyUntried({ pathId, endpoint }: Attempt, response: CheckedResponse): string | undefined {
  const { status } = response;
  const { status: expected } = outcomeOf(pathId);
  if (pathId === "429.per_day" && status === 200) {
    const [today, perDay] = [
      memberAt(response, "data", "usage", "today"),
      memberAt(response, "data", "limits", "per_day"),
    ];
    const isBelow = Number(today) <= Number(perDay);
    return isBelow
      ? `the key is not at its limit: usage.today is ${Number(today)} of ${Number(perDay)}`
      : undefined;
  }
  // An unknown key has no limits, so its 429 is judged.
  if (status === 429 && (expected < 400 || expected === 403)) {
    return "a limit was reached instead; try again later";
  }
  if (endpoint !== undefined && memberAt(response, "error", "code") === "insufficient_scope")
    return `no key has the scope ${endpoint.scope ?? "that it needs"}`;
  // Responses do not show the required scope, so there may be none.
  const isPermitted = pathId === "403.insufficient_scope" && status === 200;
  return isPermitted ? "the endpoint needs no scope, or this key has it" : undefined;
}

function judgeOutcome(attempt: Attempt, response: CheckedResponse): Judgment[] {
  const { pathId, endpoint = me } = attempt;
  const { status } = outcomeOf(pathId);
  if (response.status !== status) {
    const found = describeOutcome(response);
    return [{ rules: [ruleOf(pathId)], at: "status", expected: String(status), found }];
  }
  const isJson = response.json !== undefined;
  if (status >= 400) return [...judgeForm(response, "R27"), ...(isJson ? judgeError(pathId, response) : [])];
  const rule = endpoint === me ? "R1" : ruleOf(pathId);
  return [
    ...judgeForm(response, rule),
    ...(isJson ? judgeBody(attempt, response) : []),
    ...judgeRequestId(response),
  ];
}

const retryDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** `Retry-After` may be absent. If it is there, a client must be able to read it. */
function judgeWait(response: CheckedResponse): Judgment[] {
  const value = headerOf(response, "retry-after");
  if (value === undefined || response.status < 400) return [];
  if (/^\d+$/.test(value) || (retryDate.test(value) && !Number.isNaN(Date.parse(value)))) return [];
  const expected = "seconds or a date";
  return [{ rules: ["RFC 9110"], at: "Retry-After", expected, found: quoted(value) }];
}

function describeOutcome(response: CheckedResponse): string {
  const { status, json } = response;
  const location = headerOf(response, "location");
  if (typeof memberAt(response, "error", "code") === "string") return describeResponse(response);
  if (status >= 300 && status < 400 && location !== undefined) {
    return `${status}, a redirect to ${shownText(location)}, which was not followed`;
  }
  return json === undefined ? `${status}, ${describeBody(response)}` : String(status);
}

const json = "application/json";
const mediaTypeOf = (type = "") => type.split(";", 1).join().trim().toLowerCase();

function judgeForm(response: CheckedResponse, rule: CheckedRule): Judgment[] {
  const rules = [rule];
  const type = headerOf(response, "content-type");
  const encoding = headerOf(response, "content-encoding");
  const wrong: Judgment[] = [];
  if (mediaTypeOf(type) !== json) {
    const found = type === undefined ? "nothing" : quoted(type);
    wrong.push({ rules, at: "Content-Type", expected: json, found });
  }
  if (encoding !== undefined && !/^identity$/i.test(encoding)) {
    const expected = "nothing, because the request did not ask for an encoding";
    wrong.push({ rules, at: "Content-Encoding", expected, found: quoted(encoding) });
  }
  if (response.json === undefined)
    wrong.push({ rules, at: "body", expected: "JSON", found: describeBody(response) });
  return wrong;
}

/** The rule for each member of the response; R1 covers the others. */
const rulesOfMembers: readonly (readonly [start: string, rule: CheckedRule])[] = [
  ["data.organization", "R2"],
  ["data.environment", "R3"],
  ["data.scopes", "R4"],
  ["data.limits", "R5"],
  ["data.usage", "R6"],
];

function judgeBody(attempt: Attempt, response: CheckedResponse): Judgment[] {
  const { endpoint = me, pathId, apiKey = "" } = attempt;
  const found = mismatchesIn(endpoint.responseShape, response.json).map((problem) => {
    const ofMember = rulesOfMembers.find(([start]) => problem.path.startsWith(start))?.[1] ?? "R1";
    return mismatch(problem, endpoint === me ? ofMember : ruleOf(pathId));
  });
  if (endpoint !== me) return found;
  const environment = memberAt(response, "data", "environment");
  const prefix = keyPrefixOf(apiKey)?.environment;
  if ((environment === "test" || environment === "live") && environment !== prefix) {
    const expected = `"${prefix}", the environment in the key's prefix`;
    found.push({ rules: ["R3"], at: "$.data.environment", expected, found: describeValue(environment) });
  }
  return found;
}

function mismatch({ path, expected, value }: ShapeMismatch, rule: CheckedRule): Judgment {
  const at = path === "" ? "$" : `$.${escapeControls(path)}`;
  return { rules: [rule], at, expected, found: describeValue(value) };
}

function judgeRequestId(response: CheckedResponse): Judgment[] {
  const requestId = headerOf(response, "x-request-id");
  if (requestId) return [];
  const found = requestId === undefined ? "nothing" : "an empty header";
  return [{ rules: ["R7"], at: "X-Request-Id", expected: "a request id", found }];
}

function judgeError(pathId: PathId, response: CheckedResponse): Judgment[] {
  const wrong = mismatchesIn(errorShape, response.json).map((problem) => mismatch(problem, "R27"));
  return [...wrong, ...judgeCode(pathId, memberAt(response, "error", "code"))];
}

function judgeCode(pathId: PathId, code: unknown): Judgment[] {
  const { status, code: expected } = outcomeOf(pathId);
  const rule = ruleOf(pathId);
  const at = "$.error.code";
  // The schema already rejects a missing code, or one that is not text.
  if (typeof code !== "string") return [];
  if (status === 429 && code === "") {
    return [{ rules: ["R28"], at, expected: "a code", found: "an empty string" }];
  }
  if (status === 429 || code === expected) return [];
  const isListed = outcomes.some((row) => row.status === status && row.code === code);
  const found = isListed ? quoted(code) : `${quoted(code)}, which is not listed for ${status}`;
  return [{ rules: isListed ? [rule] : [rule, "R28"], at, expected: `"${expected}"`, found }];
}

export function perMinuteOf({ response }: CompletedAttempt): number | undefined {
  const limit = memberAt(response, "data", "limits", "per_minute");
  return typeof limit === "number" && Number.isInteger(limit) && limit >= 0 ? limit : undefined;
}

/** Judges `per_minute` + 1 responses without a 429: a difference (R22), unless a new minute may have started. */
export function judgeNoLimit(
  responses: readonly CheckedResponse[],
  perMinute: number,
): Pick<Attempt, "reason" | "difference"> {
  const minutes = new Set(responses.map(minuteOf));
  if (minutes.size !== 1 || minutes.has(Number.NaN)) {
    return { reason: `a minute may have ended while ${responses.length} requests were sent; none got 429` };
  }
  const found = `200 for ${responses.length} requests in one minute; per_minute is ${perMinute}`;
  return {
    difference: { rules: ["R22"], pathId: "429.per_minute", at: "status", expected: "429", found },
  };
}
