import { me } from "../api/endpoints/me.js";
import { errorShape } from "../api/openapi.js";
import { prefixIn } from "../rules/api-key.js";
import { outcomeOf, outcomes, type PromisedOutcomeId } from "../rules/outcomes.js";
import { mismatchesIn } from "../rules/schema/check.js";
import { isMapping, type Shape, shapeOf } from "../rules/schema/shape.js";
import { escapeControls } from "../rules/terminal-text.js";
import { type ContractDifference, type ContractRule, ruleOf } from "./contract.js";
import {
  describeResponse,
  headerOf,
  isHtml,
  memberIn,
  quoted,
  type RedactedResponse,
  retryAfterForm,
  shownText,
} from "./response.js";

export interface Attempt {
  readonly outcome: PromisedOutcomeId;
  /** The value of the x-api-key header; if left out, the request has none. Never printed. */
  readonly apiKey?: string | undefined;
  readonly variable?: string | undefined;
  readonly response?: RedactedResponse | undefined;
  readonly noResponse?: string;
  /** Why it was not tried, or why its response shows nothing about the outcome. */
  readonly reason?: string | undefined;
  /** The difference if it needs several requests. Default: from the response. */
  readonly difference?: ContractDifference;
}

export type CompletedAttempt = Attempt & { readonly response: RedactedResponse };

type AttemptDifference = Omit<ContractDifference, "outcome">;

export function judgeAttempt(attempt: Attempt): ContractDifference[] {
  const { outcome, response, noResponse, reason, difference } = attempt;
  if (difference !== undefined) return [difference];
  if (noResponse !== undefined) {
    return [
      { rules: [ruleOf(outcome)], outcome, at: "connection", expected: "a response", found: noResponse },
    ];
  }
  if (response === undefined || reason !== undefined) return [];
  const requestId = headerOf(response, "x-request-id");
  const differences = [
    ...response.repeatsKeyAt.map((at) => attemptDifference("R34", at, "no key", "the key that was sent")),
    ...judgeOutcome(attempt, response),
    ...judgeWait(response),
  ];
  return differences.map((one) => ({
    outcome,
    ...one,
    ...(requestId && { requestId: shownText(requestId) }),
  }));
}

function attemptDifference(
  rule: ContractRule,
  at: string,
  expected: string,
  found: string,
): AttemptDifference {
  return { rules: [rule], at, expected, found };
}

/** Returns why a response shows nothing about its outcome; `undefined` if it does. */
export function whyUntried(outcome: PromisedOutcomeId, response: RedactedResponse): string | undefined {
  const { status } = response;
  const { status: expected } = outcomeOf(outcome);
  if (outcome === "429.per_day" && status === 200) {
    const today = Number(memberIn(response, ["data", "usage", "today"]));
    const perDay = Number(memberIn(response, ["data", "limits", "per_day"]));
    return today <= perDay ? `the key is not at its limit: usage.today is ${today} of ${perDay}` : undefined;
  }
  // An unknown key has no limits, so its 429 is judged.
  if (status === 429 && (expected === 200 || expected === 403))
    return "a limit was reached instead; try again later";
  // Responses do not show the required scope, so there may be none.
  const isPermitted = outcome === "403.insufficient_scope" && status === 200;
  return isPermitted ? "the endpoint needs no scope, or this key has it" : undefined;
}

function judgeOutcome({ outcome, apiKey = "" }: Attempt, response: RedactedResponse): AttemptDifference[] {
  const { status, code } = outcomeOf(outcome);
  const rule = ruleOf(outcome);
  if (response.status !== status)
    return [attemptDifference(rule, "status", String(status), describeOutcome(response))];
  const form = judgeForm(response, status === 200 ? "R1" : "R27");
  const hasBody = response.json !== undefined;
  if (status === 200)
    return [...form, ...(hasBody ? judgeContext(response, apiKey) : []), ...judgeRequestId(response)];
  return [
    ...form,
    ...(hasBody
      ? [...mismatches(errorShape, response, () => "R27"), ...judgeCode(response, rule, code)]
      : []),
  ];
}

function describeOutcome(response: RedactedResponse): string {
  const { status, json } = response;
  const location = headerOf(response, "location");
  if (status >= 300 && status < 400 && location !== undefined)
    return `${status}, a redirect to ${shownText(location)}, which was not followed`;
  return json === undefined ? `${status}, ${describeBody(response)}` : describeResponse(response);
}

function judgeForm(response: RedactedResponse, rule: ContractRule): AttemptDifference[] {
  const type = headerOf(response, "content-type");
  const encoding = headerOf(response, "content-encoding");
  const isTyped = /^application\/json *(?:;|$)/i.test(type ?? "");
  const isPacked = encoding !== undefined && !/^identity$/i.test(encoding);
  const unasked = "nothing, because the request did not ask for an encoding";
  const wrong = [
    !isTyped &&
      attemptDifference(
        rule,
        "Content-Type",
        "application/json",
        type === undefined ? "nothing" : quoted(type),
      ),
    isPacked && attemptDifference(rule, "Content-Encoding", unasked, quoted(encoding)),
    response.json === undefined && attemptDifference(rule, "body", "JSON", describeBody(response)),
  ];
  return wrong.filter((one) => one !== false);
}

/** The rule for each member of the response; R1 covers the others. */
const rulesOfMembers: readonly (readonly [start: string, rule: ContractRule])[] = [
  ["data.organization", "R2"],
  ["data.environment", "R3"],
  ["data.scopes", "R4"],
  ["data.limits", "R5"],
  ["data.usage", "R6"],
];

function judgeContext(response: RedactedResponse, apiKey: string): AttemptDifference[] {
  const wrong = mismatches(
    me.responseShape,
    response,
    (path) => rulesOfMembers.find(([start]) => path.startsWith(start))?.[1] ?? "R1",
  );
  const environment = memberIn(response, ["data", "environment"]);
  const prefix = prefixIn(apiKey)?.environment;
  if ((environment !== "test" && environment !== "live") || environment === prefix) return wrong;
  const expected = `"${prefix}", the environment in the key's prefix`;
  return [...wrong, attemptDifference("R3", "$.data.environment", expected, describeValue(environment))];
}

function mismatches(
  shape: Shape,
  { json }: RedactedResponse,
  ruleAt: (path: string) => ContractRule,
): AttemptDifference[] {
  return mismatchesIn(shape, json).map(({ path, expected, value }) => {
    const at = path === "" ? "$" : `$.${escapeControls(path)}`;
    return attemptDifference(ruleAt(path), at, expected, describeValue(value));
  });
}

function judgeRequestId(response: RedactedResponse): AttemptDifference[] {
  const requestId = headerOf(response, "x-request-id");
  if (requestId) return [];
  const value = requestId === undefined ? "nothing" : "an empty header";
  return [attemptDifference("R7", "X-Request-Id", "a request id", value)];
}

function judgeCode(
  response: RedactedResponse,
  rule: ContractRule,
  expected: string | null,
): AttemptDifference[] {
  const { status } = response;
  const code = memberIn(response, ["error", "code"]);
  const at = "$.error.code";
  // The shape already rejects a missing code, or one that is not text.
  if (typeof code !== "string") return [];
  if (status === 429) return code === "" ? [attemptDifference("R28", at, "a code", "an empty string")] : [];
  if (code === expected) return [];
  const isListed = outcomes.some((row) => row.status === status && row.code === code);
  const right = `"${expected}"`;
  if (isListed) return [attemptDifference(rule, at, right, quoted(code))];
  const unlisted = attemptDifference(rule, at, right, `${quoted(code)}, which is not listed for ${status}`);
  return [{ ...unlisted, rules: [rule, "R28"] }];
}

/** `Retry-After` may be absent. If it is there, a client must be able to read it. */
function judgeWait(response: RedactedResponse): AttemptDifference[] {
  const value = headerOf(response, "retry-after");
  if (value === undefined || response.status < 400) return [];
  if (retryAfterForm(value) !== undefined) return [];
  return [attemptDifference("RFC 9110", "Retry-After", "seconds or a date", quoted(value))];
}

/** The names that the contract does not have: members, and headers that announce an endpoint's end. */
export function undocumentedIn({ status, headers, json }: RedactedResponse): string[] {
  const names = headers.map(([name]) => shownText(name));
  return [
    ...unknownMembers(status < 400 ? me.responseShape : errorShape, json).slice(0, 100),
    ...names.filter((name) => /^(?:deprecation|sunset)$/i.test(name)),
  ];
}

// Skips the contents of undocumented members: names there may be data.
function unknownMembers(of: Shape, value: unknown, path = "$"): string[] {
  if (of.kind !== "mapping" || !isMapping(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const field = Object.hasOwn(of.fields, name) ? of.fields[name] : undefined;
    const at = `${path}.${name}`;
    return field === undefined ? [shownText(at)] : unknownMembers(shapeOf(field), member, at);
  });
}

export function describeBody(response: RedactedResponse): string {
  const { text } = response;
  if (text === undefined) return "a body that is not UTF-8";
  if (text === "") return "an empty body";
  const start = quoted(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  return `${isHtml(response) ? "an HTML page" : "text"} that starts with ${start}`;
}

/** Describes a value in a body without the content of mappings: `the string "60"`, `a mapping`, `nothing`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return `the string ${quoted(value)}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return isMapping(value) ? "a mapping" : `the ${typeof value} ${value}`;
}
