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
export function differenceIn(attempt: Attempt, difference: FoundDifference): ContractDifference {
  const { outcome, nth, response } = attempt;
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
  const { outcome, response, noResponse = "nothing", uncounted } = attempt;
  if (response === undefined) {
    if (uncounted !== undefined) return [];
    const missing = foundAt(ruleOf(outcome), "connection", "a response", noResponse);
    return [differenceIn(attempt, missing)];
  }

  // Whatever the response shows, it must not repeat the key.
  const found = response.repeatsKeyAt.map((at) => foundAt("R34", at, "no key", "the key that was sent"));
  if (uncounted === undefined) found.push(...judgeOutcome(attempt, response), ...judgeWait(response));
  else if (uncounted.kind === "permitted") found.push(...judgeSuccess(response, attempt.apiKey));
  return found.map((difference) => differenceIn(attempt, difference));
}

function foundAt(rule: ContractRule, at: string, expected: string, found: string): FoundDifference {
  return { rules: [rule], at, expected, found };
}

function judgeOutcome({ outcome, apiKey }: Attempt, response: RedactedResponse): FoundDifference[] {
  const { status, code } = outcomeOf(outcome);
  const rule = ruleOf(outcome);
  if (response.status !== status) return [foundAt(rule, "status", String(status), describeOutcome(response))];
  if (status === 200) return judgeSuccess(response, apiKey);

  const found = judgeForm(response, "R27");
  if (response.json === undefined) return found;
  found.push(...mismatches(errorShape, response, () => "R27"), ...judgeCode(response, rule, code));
  return found;
}

function judgeSuccess(response: RedactedResponse, apiKey = ""): FoundDifference[] {
  const found = judgeForm(response, "R1");
  if (response.json !== undefined) found.push(...judgeContext(response, apiKey));
  found.push(...judgeRequestId(response));
  return found;
}

/** Describes a response whose status is not the expected one. */
export function describeOutcome(response: RedactedResponse): string {
  const { status, json } = response;
  const location = headerOf(response, "location");
  if (status >= 300 && status < 400 && location !== undefined)
    return `${status}, a redirect to ${shownText(location)}, which was not followed`;
  if (json === undefined) return `${status}, ${describeBody(response)}`;
  return describeResponse(response);
}

function judgeForm(response: RedactedResponse, rule: ContractRule): FoundDifference[] {
  const found: FoundDifference[] = [];
  const type = headerOf(response, "content-type");
  if (type === undefined) found.push(foundAt(rule, "Content-Type", "application/json", "nothing"));
  else if (!/^application\/json *(?:;|$)/i.test(type))
    found.push(foundAt(rule, "Content-Type", "application/json", quoted(type)));

  const encoding = headerOf(response, "content-encoding");
  if (encoding !== undefined && !/^identity$/i.test(encoding)) {
    const unasked = "nothing, because the request did not ask for an encoding";
    found.push(foundAt(rule, "Content-Encoding", unasked, quoted(encoding)));
  }

  if (response.json === undefined) found.push(foundAt(rule, "body", "JSON", describeBody(response)));
  return found;
}

/** The rule for each member of the response; R1 covers the others. */
const rulesOfMembers: readonly (readonly [start: string, rule: ContractRule])[] = [
  ["data.organization", "R2"],
  ["data.environment", "R3"],
  ["data.scopes", "R4"],
  ["data.limits", "R5"],
  ["data.usage", "R6"],
];

function ruleOfMember(path: string): ContractRule {
  for (const [start, rule] of rulesOfMembers) if (path.startsWith(start)) return rule;
  return "R1";
}

function judgeContext(response: RedactedResponse, apiKey: string): FoundDifference[] {
  const ofShape = mismatches(me.responseShape, response, ruleOfMember);
  return [...ofShape, ...judgeEnvironment(response, apiKey), ...judgeUsage(response)];
}

function judgeEnvironment(response: RedactedResponse, apiKey: string): FoundDifference[] {
  const environment = memberIn(response, ["data", "environment"]);
  // The shape already rejects another one.
  if (environment !== "test" && environment !== "live") return [];
  const prefix = prefixIn(apiKey)?.environment;
  if (environment === prefix) return [];
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
  response: RedactedResponse,
  ruleAt: (path: string) => ContractRule,
): FoundDifference[] {
  return mismatchesIn(shape, response.json).map(({ path, expected, value }) => {
    const at = path === "" ? "$" : `$.${escapeControls(path)}`;
    let found = describeValue(value, response.numbers.get(path));
    // Two comparisons of the same service are equal, even if it sends more than the contract has.
    if (expected === unknownMember) found = describeKind(value);
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
  const at = "$.error.code";
  const code = memberIn(response, ["error", "code"]);
  // The shape already rejects a missing code, or one that is not text.
  if (typeof code !== "string") return [];

  // The contract leaves the code of a 429 open.
  const { status } = response;
  if (status === 429) return code === "" ? [foundAt("R28", at, "a code", "an empty string")] : [];

  if (code === expected) return [];
  const right = `"${expected}"`;
  const isListed = outcomes.some((row) => row.status === status && row.code === code);
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
export function undocumentedIn(response: RedactedResponse): string[] {
  const shape = response.status < 400 ? me.responseShape : errorShape;
  const names = unknownMembers(shape, response.json).slice(0, 100);
  for (const [name] of response.headers) {
    const shown = shownText(name);
    if (/^(?:deprecation|sunset)$/i.test(shown)) names.push(shown);
  }
  return names;
}

function unknownMembers(shape: Shape, value: unknown, path = "$"): string[] {
  if (shape.kind !== "mapping" || !isMapping(value)) return [];
  const unknown: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const at = `${path}.${name}`;
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    // Not what is in it: names there may be data.
    if (field === undefined) unknown.push(shownText(at));
    else unknown.push(...unknownMembers(shapeOf(field), member, at));
  }
  return unknown;
}

export function describeBody(response: RedactedResponse): string {
  const { text } = response;
  if (text === undefined) {
    const encoding = headerOf(response, "content-encoding");
    if (encoding === undefined) return "a body that is not UTF-8";
    return `a body in the encoding ${quoted(encoding)}, for which the request did not ask`;
  }

  if (text === "") return "an empty body";
  const start = quoted(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  const kind = isHtml(response) ? "an HTML page" : "text";
  return `${kind} that starts with ${start}`;
}
