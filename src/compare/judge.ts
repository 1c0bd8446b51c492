import { me } from "../api/endpoints.js";
import { errorShape } from "../api/openapi.js";
import { findPrefix } from "../rules/keys/key-text.js";
import { redact } from "../rules/keys/redact.js";
import { outcomeRow, outcomes } from "../rules/outcomes.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import { findMismatches } from "../schema/check.js";
import { type Shape, shapeOfField } from "../schema/shape.js";
import { isMapping } from "../schema/type-tag.js";
import { type Attempt, got200, groupByRequest, isJudged } from "./attempts.js";
import type { ContractRule, ResponseDifference } from "./findings.js";
import { ruleOf } from "./keys.js";
import {
  describeBody,
  describeResponse,
  describeValue,
  headerOf,
  memberIn,
  quoted,
  type RedactedResponse,
  readDayUse,
  retryAfterForm,
  shownText,
} from "./response.js";

/** Something in the responses to a request that is not as promised. */
export interface Deviation {
  readonly difference: ResponseDifference;
  /** The attempts whose responses show it. */
  readonly attempts: readonly [Attempt, ...Attempt[]];
  /** The same, and those that could show it, and do not. */
  readonly all: readonly Attempt[];
}

/** Judges each attempt of a request, and returns what is alike. */
export function findAlike<One extends Attempt>(
  attempts: readonly One[],
  judge: (attempt: One) => ResponseDifference[],
): Deviation[] {
  const found = new Map<string, { difference: ResponseDifference; attempts: [One, ...One[]] }>();
  for (const attempt of attempts) {
    for (const difference of judge(attempt)) {
      const text = JSON.stringify(difference);
      const alike = found.get(text);
      if (alike === undefined) found.set(text, { difference, attempts: [attempt] });
      else alike.attempts.push(attempt);
    }
  }
  return [...found.values()].map((alike) => ({ ...alike, all: attempts }));
}

/** Adds the outcome to a difference and, so that it can be looked up, its request and the words of an error. */
export function withRequest(attempt: Attempt, difference: ResponseDifference) {
  const { outcome, response } = attempt;
  const requestId = response && headerOf(response, "x-request-id");
  const message = response && memberIn(response, ["error", "message"]);
  const isOfMessage = difference.at === "status" && typeof message === "string" && message !== "";
  return {
    outcome,
    ...difference,
    ...(isOfMessage && { message: shownText(message) }),
    ...(requestId && { requestId: shownText(requestId) }),
  };
}

/** The rule for each member of a success by the start of its field path; R1 covers the others. */
const rulesOfMembers: readonly (readonly [start: string, rule: ContractRule])[] = [
  ["data.organization", "R2"],
  ["data.environment", "R3"],
  ["data.scopes", "R4"],
  ["data.limits", "R5"],
  ["data.usage", "R6"],
];

/** A service can draw these anew for each response, or count them up. Two comparisons of it must be equal. */
const drawnAnew = new Set(["data.organization.id", "data.usage.today"]);

/** Judges each response alone. Of what a lock or a gateway may have sent, nothing is judged but a 200. */
export function judgeAttempts(attempts: readonly Attempt[]): Deviation[] {
  const deviations: Deviation[] = [];
  const ofTheService = attempts.filter((attempt) => isJudged(attempt) || got200(attempt));
  for (const ofRequest of groupByRequest(ofTheService)) {
    deviations.push(...findAlike(ofRequest, judgeAttempt));
  }
  return deviations;
}

/** Judges the response to one request. */
export function judgeAttempt(attempt: Attempt): ResponseDifference[] {
  const { outcome, apiKey, response, failure = "nothing" } = attempt;
  if (response === undefined) {
    const rule = attempt.otherPrefix ? "R15" : ruleOf(outcome);
    return [differenceAt("connection", rule, "a response", failure)];
  }

  const differences: ResponseDifference[] = [];
  for (const at of response.hasKeyAt) differences.push(differenceAt(at, "R34", "no key", "a key"));
  // The key may be another one than its variable says, but the 200 is that of the service.
  if (!isJudged(attempt)) return [...differences, ...judgeSuccess(response, apiKey)];
  return [...differences, ...judgeResponse(attempt, response), ...judgeRetryAfter(response)];
}

function differenceAt(at: string, rule: ContractRule, expected: string, found: string): ResponseDifference {
  return { rules: [rule], at, expected, found };
}

/** Judges the response to a request that should have ended at its outcome. */
function judgeResponse(attempt: Attempt, response: RedactedResponse): ResponseDifference[] {
  const { outcome, variable, apiKey, otherPrefix } = attempt;
  const { status, code } = outcomeRow(outcome);
  const rule = otherPrefix ? "R15" : ruleOf(outcome);
  if (response.status !== status) {
    const isKeyInDoubt = response.status === 401 && variable !== undefined;
    const hint = isKeyInDoubt ? `; is the key in ${variable} the right one?` : "";
    return [differenceAt("status", rule, String(status), describeResponse(response) + hint)];
  }
  if (status === 200) return judgeSuccess(response, apiKey);

  const differences = judgeForm(response, "R27");
  if (response.json === undefined) return differences;
  differences.push(...judgeShape(errorShape, response, () => "R27"), ...judgeCode(response, rule, code));
  return differences;
}

function judgeSuccess(response: RedactedResponse, apiKey = ""): ResponseDifference[] {
  const differences = judgeForm(response, "R1");
  if (response.json !== undefined) {
    differences.push(...judgeShape(me.responseShape, response, ruleOfMember));
    differences.push(...judgeEnvironment(response, apiKey), ...judgeUsage(response));
  }

  if (!headerOf(response, "x-request-id")) {
    differences.push(differenceAt("X-Request-Id", "R7", "a request id", "nothing"));
  }
  return differences;
}

/** Judges the headers of the content, and whether it is JSON. */
function judgeForm(response: RedactedResponse, rule: ContractRule): ResponseDifference[] {
  const differences: ResponseDifference[] = [];
  const type = headerOf(response, "content-type") ?? "";
  if (!/^application\/json *(?:;|$)/i.test(type)) {
    differences.push(differenceAt("Content-Type", rule, "application/json", quoted(type)));
  }

  const encoding = headerOf(response, "content-encoding");
  if (encoding !== undefined && !/^identity$/i.test(encoding)) {
    const unasked = "nothing, because the request did not ask for an encoding";
    differences.push(differenceAt("Content-Encoding", rule, unasked, quoted(encoding)));
  }

  if (response.json === undefined) {
    differences.push(differenceAt("body", rule, "JSON", describeBody(response)));
  }
  return differences;
}

/** Judges the members of the body; `ruleAt` returns the rule of a member by its field path. */
function judgeShape(
  shape: Shape,
  response: RedactedResponse,
  ruleAt: (path: string) => ContractRule,
): ResponseDifference[] {
  return findMismatches(shape, response.json, redact).map(({ kind, path, expected, value }) => {
    const at = path === "" ? "$" : `$.${oneSafeLine(path)}`;
    // Nobody knows what a member that the contract does not have contains.
    const canBeDrawnAnew = kind === "unknown_member" || drawnAnew.has(path);
    let found = describeValue(value);
    if (canBeDrawnAnew && ["string", "number"].includes(typeof value)) found = `a ${typeof value}`;
    return differenceAt(at, ruleAt(path), expected, found);
  });
}

function ruleOfMember(path: string): ContractRule {
  for (const [start, rule] of rulesOfMembers) if (path.startsWith(start)) return rule;
  return "R1";
}

function judgeEnvironment(response: RedactedResponse, apiKey: string): ResponseDifference[] {
  const environment = memberIn(response, ["data", "environment"]);
  // The shape already rejects any other value.
  if (environment !== "test" && environment !== "live") return [];
  const environmentOfKey = findPrefix(apiKey)?.environment;
  // A request without a key has no environment to compare.
  if (environmentOfKey === undefined || environment === environmentOfKey) return [];
  const expected = `"${environmentOfKey}", the environment in the key's prefix`;
  return [differenceAt("$.data.environment", "R3", expected, describeValue(environment))];
}

function judgeUsage(response: RedactedResponse): ResponseDifference[] {
  const use = readDayUse(response);
  // The shape already rejects other numbers.
  if (use === undefined || use.today <= use.perDay) return [];
  const expected = `at most ${use.perDay}, the key's per_day`;
  return [differenceAt("$.data.usage.today", "R23", expected, "a number above it")];
}

function judgeCode(
  response: RedactedResponse,
  rule: ContractRule,
  expected: string | null,
): ResponseDifference[] {
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
function judgeRetryAfter(response: RedactedResponse): ResponseDifference[] {
  const value = headerOf(response, "retry-after");
  if (value === undefined || response.status < 400) return [];
  if (retryAfterForm(value) !== "invalid") return [];
  return [
    differenceAt("Retry-After", "RFC 9110", "seconds or a date", "neither whole seconds nor an HTTP date"),
  ];
}

/** Notes on members that the contract does not have. */
export function notesOnNames(attempts: readonly Attempt[]): string[] {
  const names = new Set<string>();
  for (const attempt of attempts) {
    const { response } = attempt;
    if (response === undefined || !(isJudged(attempt) || got200(attempt))) continue;
    const shape = response.status < 400 ? me.responseShape : errorShape;
    for (const name of unknownMembers(shape, response.json).slice(0, mostNames)) names.add(name);
  }
  return [...names].map((name) => `${name} is not in the contract.`);
}

/** So many members of a response are noted at most. */
const mostNames = 100;

/** Returns the members of a value that its shape does not have, by their JSON paths: `$.data.plan`. */
function unknownMembers(shape: Shape, value: unknown, parent = "$"): string[] {
  if (shape.kind !== "mapping" || !isMapping(value)) return [];
  const unknownNames: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const at = `${parent}.${name}`;
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    // Of an unknown member, only its own name: the names in it may be data.
    if (field === undefined) unknownNames.push(shownText(at));
    else unknownNames.push(...unknownMembers(shapeOfField(field), member, at));
  }
  return unknownNames;
}
