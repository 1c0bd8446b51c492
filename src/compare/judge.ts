import { me } from "../api/endpoints/me.js";
import { errorShape } from "../api/openapi.js";
import { prefixIn } from "../rules/api-key.js";
import { outcomeOf, outcomes } from "../rules/outcomes.js";
import { mismatchesIn } from "../rules/schema/check.js";
import { isMapping, type Shape, shapeOf } from "../rules/schema/shape.js";
import { escapeControls } from "../rules/terminal-text.js";
import type { Attempt } from "./attempt.js";
import { type ContractDifference, type ContractRule, ruleOf } from "./keys-of-outcomes.js";
import {
  describeKind,
  describeResponse,
  describeValue,
  headerOf,
  isHtml,
  memberIn,
  numberText,
  perDayPath,
  quoted,
  type RedactedResponse,
  retryAfterForm,
  shownText,
  todayPath,
  wholeNumberIn,
} from "./response.js";

type FoundDifference = Omit<ContractDifference, "outcome" | "request" | "requestId">;

/** A difference with its outcome and, to be found again, its request. */
export function differenceIn(
  { outcome, nth, response }: Attempt,
  difference: FoundDifference,
): ContractDifference {
  const requestId = response && headerOf(response, "x-request-id");
  return {
    outcome,
    ...difference,
    ...(nth > 1 && { request: nth }),
    ...(requestId && { requestId: shownText(requestId) }),
  };
}

/** Judges one request, whether it is the first or the tenth one for its outcome. */
export function judgeAttempt(attempt: Attempt): ContractDifference[] {
  const { outcome, apiKey, response, noResponse = "nothing", uncounted } = attempt;
  if (response === undefined && uncounted !== undefined) return [];
  if (response === undefined)
    return [differenceIn(attempt, foundAt(ruleOf(outcome), "connection", "a response", noResponse))];
  const differences = [
    ...response.repeatsKeyAt.map((at) => foundAt("R34", at, "no key", "the key that was sent")),
    ...(uncounted?.kind === "permitted" ? judgeSuccess(response, apiKey) : []),
    ...(uncounted === undefined ? [...judgeOutcome(attempt, response), ...judgeWait(response)] : []),
  ];
  return differences.map((one) => differenceIn(attempt, one));
}

function foundAt(rule: ContractRule, at: string, expected: string, found: string): FoundDifference {
  return { rules: [rule], at, expected, found };
}

function judgeOutcome({ outcome, apiKey }: Attempt, response: RedactedResponse): FoundDifference[] {
  const { status, code } = outcomeOf(outcome);
  const rule = ruleOf(outcome);
  if (response.status !== status) return [foundAt(rule, "status", String(status), describeOutcome(response))];
  if (status === 200) return judgeSuccess(response, apiKey);
  const ofBody = [...mismatches(errorShape, response, () => "R27"), ...judgeCode(response, rule, code)];
  return [...judgeForm(response, "R27"), ...(response.json === undefined ? [] : ofBody)];
}

function judgeSuccess(response: RedactedResponse, apiKey = ""): FoundDifference[] {
  const ofBody = response.json === undefined ? [] : judgeContext(response, apiKey);
  return [...judgeForm(response, "R1"), ...ofBody, ...judgeRequestId(response)];
}

/** Describes a response whose status is not the expected one. */
export function describeOutcome(response: RedactedResponse): string {
  const { status, json } = response;
  const location = headerOf(response, "location");
  if (status >= 300 && status < 400 && location !== undefined)
    return `${status}, a redirect to ${shownText(location)}, which was not followed`;
  return json === undefined ? `${status}, ${describeBody(response)}` : describeResponse(response);
}

function judgeForm(response: RedactedResponse, rule: ContractRule): FoundDifference[] {
  const type = headerOf(response, "content-type");
  const encoding = headerOf(response, "content-encoding");
  const isTyped = /^application\/json *(?:;|$)/i.test(type ?? "");
  const isPacked = encoding !== undefined && !/^identity$/i.test(encoding);
  const unasked = "nothing, because the request did not ask for an encoding";
  const wrong = [
    !isTyped &&
      foundAt(rule, "Content-Type", "application/json", type === undefined ? "nothing" : quoted(type)),
    isPacked && foundAt(rule, "Content-Encoding", unasked, quoted(encoding)),
    response.json === undefined && foundAt(rule, "body", "JSON", describeBody(response)),
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

function judgeContext(response: RedactedResponse, apiKey: string): FoundDifference[] {
  const wrong = mismatches(
    me.responseShape,
    response,
    (path) => rulesOfMembers.find(([start]) => path.startsWith(start))?.[1] ?? "R1",
  );
  return [...wrong, ...judgeEnvironment(response, apiKey), ...judgeUsage(response)];
}

function judgeEnvironment(response: RedactedResponse, apiKey: string): FoundDifference[] {
  const environment = memberIn(response, ["data", "environment"]);
  const prefix = prefixIn(apiKey)?.environment;
  if ((environment !== "test" && environment !== "live") || environment === prefix) return [];
  const expected = `"${prefix}", the environment in the key's prefix`;
  return [foundAt("R3", "$.data.environment", expected, describeValue(environment))];
}

function judgeUsage(response: RedactedResponse): FoundDifference[] {
  const today = wholeNumberIn(response, todayPath) ?? 0;
  const perDay = wholeNumberIn(response, perDayPath) ?? today;
  if (today <= perDay) return [];
  const expected = `at most ${numberText(response, perDayPath)}, the key's per_day`;
  return [foundAt("R23", "$.data.usage.today", expected, numberText(response, todayPath))];
}

// The words of `mismatchesIn`.
const unknownMember = "no such member";

function mismatches(
  shape: Shape,
  { json, numbers }: RedactedResponse,
  ruleAt: (path: string) => ContractRule,
): FoundDifference[] {
  return mismatchesIn(shape, json).map(({ path, expected, value }) => {
    const at = path === "" ? "$" : `$.${escapeControls(path)}`;
    // Two comparisons of the same service are equal, even if it sends more than the contract has.
    const found = expected === unknownMember ? describeKind(value) : describeValue(value, numbers.get(path));
    return foundAt(ruleAt(path), at, expected, found);
  });
}

function judgeRequestId(response: RedactedResponse): FoundDifference[] {
  const requestId = headerOf(response, "x-request-id");
  if (requestId) return [];
  const value = requestId === undefined ? "nothing" : "an empty header";
  return [foundAt("R7", "X-Request-Id", "a request id", value)];
}

function judgeCode(
  response: RedactedResponse,
  rule: ContractRule,
  expected: string | null,
): FoundDifference[] {
  const { status } = response;
  const code = memberIn(response, ["error", "code"]);
  const at = "$.error.code";
  // The shape already rejects a missing code, or one that is not text.
  if (typeof code !== "string") return [];
  if (status === 429) return code === "" ? [foundAt("R28", at, "a code", "an empty string")] : [];
  if (code === expected) return [];
  const isListed = outcomes.some((row) => row.status === status && row.code === code);
  const right = `"${expected}"`;
  if (isListed) return [foundAt(rule, at, right, quoted(code))];
  const unlisted = foundAt(rule, at, right, `${quoted(code)}, which is not listed for ${status}`);
  return [{ ...unlisted, rules: [rule, "R28"] }];
}

/** `Retry-After` may be absent. If it is there, a client must be able to read it. */
function judgeWait(response: RedactedResponse): FoundDifference[] {
  const value = headerOf(response, "retry-after");
  if (value === undefined || response.status < 400) return [];
  if (retryAfterForm(value) !== undefined) return [];
  return [foundAt("RFC 9110", "Retry-After", "seconds or a date", quoted(value))];
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
  const encoding = headerOf(response, "content-encoding");
  if (text === undefined && encoding !== undefined)
    return `a body in the encoding ${quoted(encoding)}, for which the request did not ask`;
  if (text === undefined) return "a body that is not UTF-8";
  if (text === "") return "an empty body";
  const start = quoted(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  return `${isHtml(response) ? "an HTML page" : "text"} that starts with ${start}`;
}
