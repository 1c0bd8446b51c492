import { me } from "../api/endpoints/me.js";
import { errorShape } from "../api/openapi.js";
import { findPrefix } from "../rules/api-key.js";
import { outcomeRow, outcomes } from "../rules/outcomes.js";
import { redactEncoded } from "../rules/redact.js";
import { escapeControls } from "../rules/terminal-text.js";
import { findMismatches } from "../schema/check.js";
import { isMapping, type Shape, shapeOfField } from "../schema/shape.js";
import type { Attempt } from "./attempt.js";
import type { ContractRule } from "./contract-rules.js";
import { type ContractDifference, ruleOf } from "./keys-of-outcomes.js";
import {
  describeInvalidWait,
  describeKind,
  describeResponse,
  describeTarget,
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

/** A difference whose request is not added yet. */
type PlaceDifference = Omit<ContractDifference, "outcome" | "request" | "requestId">;

/** The rule for each member of a success; R1 covers the others. */
const rulesOfMembers: readonly (readonly [start: string, rule: ContractRule])[] = [
  ["data.organization", "R2"],
  ["data.environment", "R3"],
  ["data.scopes", "R4"],
  ["data.limits", "R5"],
  ["data.usage", "R6"],
];

/** What `findMismatches` expects in place of a member that the shape does not have. */
const noSuchMember = "no such member";

/** A service can draw these anew for each response, or count them up. Two comparisons of it must be equal. */
const drawnAnew = new Set(["data.organization.id", "data.usage.today"]);

/** So many undocumented names of a response are noted at most. */
const mostNames = 100;

/** Judges one request, whether it is the first or the tenth one for its outcome. */
export function judgeAttempt(attempt: Attempt): ContractDifference[] {
  const { outcome, response, noResponse = "nothing", evidence } = attempt;
  if (response === undefined) {
    if (evidence.kind !== "counts") return [];
    const missing = differenceAt("connection", ruleOf(outcome), "a response", noResponse);
    return [withRequest(attempt, missing)];
  }

  // Whatever the response shows of its outcome, it must not contain a key.
  const found: PlaceDifference[] = [];
  for (const at of response.hasKeyAt) {
    found.push(differenceAt(at, "R34", "no key", "a key"));
  }

  switch (evidence.kind) {
    case "counts":
      found.push(...judgeResponse(attempt, response), ...judgeRetryAfter(response));
      break;
    case "permitted":
      found.push(...judgeSuccess(response, attempt.apiKey));
      break;
    case "another_limit":
    case "outage":
    case "used_up":
      break;
  }
  return found.map((difference) => withRequest(attempt, difference));
}

/** Adds the outcome to a difference and, to find it again, the request. */
export function withRequest(attempt: Attempt, difference: PlaceDifference): ContractDifference {
  const { outcome, nth, response } = attempt;
  const requestId = response && headerOf(response, "x-request-id");
  return {
    outcome,
    ...difference,
    ...(nth > 1 && { request: nth }),
    ...(requestId && { requestId: shownText(requestId) }),
  };
}

function differenceAt(at: string, rule: ContractRule, expected: string, found: string): PlaceDifference {
  return { rules: [rule], at, expected, found };
}

/** Judges the response to a request that should have ended at its outcome. */
function judgeResponse({ outcome, apiKey }: Attempt, response: RedactedResponse): PlaceDifference[] {
  const { status, code } = outcomeRow(outcome);
  const rule = ruleOf(outcome);
  if (response.status !== status) {
    return [differenceAt("status", rule, String(status), describeUnexpected(response))];
  }
  if (status === 200) return judgeSuccess(response, apiKey);

  const found = judgeForm(response, "R27");
  if (response.json === undefined) return found;
  found.push(...judgeShape(errorShape, response, () => "R27"), ...judgeCode(response, rule, code));
  return found;
}

/** Describes a response whose status is not the expected one. */
export function describeUnexpected(response: RedactedResponse): string {
  const { status, json } = response;
  const location = headerOf(response, "location");
  if (status >= 300 && status < 400 && location !== undefined) {
    return `${status}, a redirect to ${describeTarget(location)}, which was not followed`;
  }
  if (json === undefined) return `${status}, ${describeBody(response)}`;
  return describeResponse(response);
}

function judgeSuccess(response: RedactedResponse, apiKey = ""): PlaceDifference[] {
  const found = judgeForm(response, "R1");
  if (response.json !== undefined) {
    found.push(...judgeShape(me.responseShape, response, ruleOfMember));
    found.push(...judgeEnvironment(response, apiKey), ...judgeUsage(response));
  }
  found.push(...judgeRequestId(response));
  return found;
}

/** Judges the headers of the content, and whether it is JSON. */
function judgeForm(response: RedactedResponse, rule: ContractRule): PlaceDifference[] {
  const found: PlaceDifference[] = [];
  const type = headerOf(response, "content-type");
  if (type === undefined) {
    found.push(differenceAt("Content-Type", rule, "application/json", "nothing"));
  } else if (!/^application\/json *(?:;|$)/i.test(type)) {
    found.push(differenceAt("Content-Type", rule, "application/json", quoted(type)));
  }

  const encoding = headerOf(response, "content-encoding");
  if (encoding !== undefined && !/^identity$/i.test(encoding)) {
    const unasked = "nothing, because the request did not ask for an encoding";
    found.push(differenceAt("Content-Encoding", rule, unasked, quoted(encoding)));
  }

  if (response.json === undefined) found.push(differenceAt("body", rule, "JSON", describeBody(response)));
  return found;
}

/** Judges the members of the body; `ruleAt` returns the rule of a member by its field path. */
function judgeShape(
  shape: Shape,
  response: RedactedResponse,
  ruleAt: (path: string) => ContractRule,
): PlaceDifference[] {
  return findMismatches(shape, response.json, redactEncoded).map(({ path, expected, value }) => {
    const at = path === "" ? "$" : `$.${escapeControls(path)}`;
    const isDrawnAnew = expected === noSuchMember || drawnAnew.has(path);
    const found = isDrawnAnew ? describeKind(value) : describeValue(value, response.numbers.get(path));
    return differenceAt(at, ruleAt(path), expected, found);
  });
}

function ruleOfMember(path: string): ContractRule {
  for (const [start, rule] of rulesOfMembers) if (path.startsWith(start)) return rule;
  return "R1";
}

function judgeEnvironment(response: RedactedResponse, apiKey: string): PlaceDifference[] {
  const environment = memberIn(response, ["data", "environment"]);
  // The shape already rejects another one.
  if (environment !== "test" && environment !== "live") return [];
  const prefix = findPrefix(apiKey)?.environment;
  if (environment === prefix) return [];
  const expected = `"${prefix}", the environment in the key's prefix`;
  return [differenceAt("$.data.environment", "R3", expected, describeValue(environment))];
}

function judgeUsage(response: RedactedResponse): PlaceDifference[] {
  const today = wholeNumberIn(response, todayPath);
  const perDay = wholeNumberIn(response, perDayPath);
  // The shape already rejects other numbers.
  if (today === undefined || perDay === undefined || today <= perDay) return [];
  const expected = `at most ${numberText(response, perDayPath)}, the key's per_day`;
  return [differenceAt("$.data.usage.today", "R23", expected, "a number above it")];
}

function judgeRequestId(response: RedactedResponse): PlaceDifference[] {
  const requestId = headerOf(response, "x-request-id");
  if (requestId) return [];
  const found = requestId === undefined ? "nothing" : "an empty header";
  return [differenceAt("X-Request-Id", "R7", "a request id", found)];
}

function judgeCode(
  response: RedactedResponse,
  rule: ContractRule,
  expected: string | null,
): PlaceDifference[] {
  const at = "$.error.code";
  const code = memberIn(response, ["error", "code"]);
  // The shape already rejects a missing code, or one that is not text.
  if (typeof code !== "string") return [];

  // The contract leaves the code of a 429 open.
  const { status } = response;
  if (status === 429) return code === "" ? [differenceAt(at, "R28", "a code", "an empty string")] : [];

  if (code === expected) return [];
  const right = `"${expected}"`;
  const isListed = outcomes.some((row) => row.status === status && row.code === code);
  if (isListed) return [differenceAt(at, rule, right, quoted(code))];
  const unlisted = differenceAt(at, rule, right, `${quoted(code)}, which is not listed for ${status}`);
  return [{ ...unlisted, rules: [rule, "R28"] }];
}

/** `Retry-After` may be absent. If it is there, a client must be able to read it. */
function judgeRetryAfter(response: RedactedResponse): PlaceDifference[] {
  const value = headerOf(response, "retry-after");
  if (value === undefined || response.status < 400) return [];
  if (retryAfterForm(value) !== "invalid") return [];
  return [differenceAt("Retry-After", "RFC 9110", "seconds or a date", describeInvalidWait(value))];
}

function describeBody(response: RedactedResponse): string {
  const { text } = response;
  if (text === undefined) {
    const encoding = headerOf(response, "content-encoding");
    if (encoding === undefined) return "a body that is not UTF-8";
    return `a body in the encoding ${quoted(encoding)}, for which the request did not ask`;
  }

  if (text === "") return "an empty body";
  return isHtml(response) ? "an HTML page" : "text";
}

/** Returns the names that the contract does not have: members, and headers that announce an endpoint's end. */
export function undocumentedNames(response: RedactedResponse): string[] {
  const shape = response.status < 400 ? me.responseShape : errorShape;
  const names = unknownMembers(shape, response.json).slice(0, mostNames);
  for (const [name] of response.headers) {
    const nameInText = shownText(name);
    if (/^(?:deprecation|sunset)$/i.test(nameInText)) names.push(nameInText);
  }
  return names;
}

function unknownMembers(shape: Shape, value: unknown, parent = "$"): string[] {
  if (shape.kind !== "mapping" || !isMapping(value)) return [];
  const unknown: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const at = `${parent}.${name}`;
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    // Not what is in it: names there may be data.
    if (field === undefined) unknown.push(shownText(at));
    else unknown.push(...unknownMembers(shapeOfField(field), member, at));
  }
  return unknown;
}
