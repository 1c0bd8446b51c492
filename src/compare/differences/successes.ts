import { outcomeRow, type PromisedOutcomeId } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import { headerOf, readDate } from "../response/headers.js";
import { memberIn, organizationIdPath, todayPath } from "../response/members.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import { type Attempt, type CompletedAttempt, completedWith, isPermitted } from "../sending/attempt.js";
import { type ContractDifference, type ResponseDifference, withRequest } from "./contract-difference.js";
import { compareReplacement, compareScopes } from "./keys-compared.js";

/** Compares the responses with status 200 with each other. */
export function compareSuccesses(attempts: readonly Attempt[]): ContractDifference[] {
  const permitted = attempts.filter(isPermitted);
  const differences = compareRequestIds(permitted);

  const keys = new Set(permitted.map(({ apiKey }) => apiKey));
  for (const key of keys) {
    const ofKey = permitted.filter(({ apiKey }) => apiKey === key);
    differences.push(...compareInOrder(ofKey));
  }

  // What different keys must have alike, or not alike.
  const successes = completedWith(attempts, 200);
  differences.push(...compareReplacement(successes));
  const withoutScope = permitted.find(({ outcome }) => outcome === "403.insufficient_scope");
  if (withoutScope !== undefined) differences.push(...compareScopes(withoutScope, successes));
  return differences;
}

/** No two responses may have the same request id (R7). */
function compareRequestIds(permitted: readonly CompletedAttempt[]): ContractDifference[] {
  const earlier = new Set<string>();
  const differences: ContractDifference[] = [];
  for (const attempt of permitted) {
    const id = headerOf(attempt.response, "x-request-id");
    if (id === undefined || id === "") continue;
    if (earlier.has(id)) {
      const repeatedId: ResponseDifference = {
        rules: ["R7"],
        at: "X-Request-Id",
        expected: "a request id that no earlier response has",
        found: "the id of an earlier response",
      };
      differences.push(withRequest(attempt, repeatedId));
    }
    earlier.add(id);
  }
  return differences;
}

/** Compares each response to a key with the one before. Of each kind, only the first difference counts. */
function compareInOrder(ofKey: readonly CompletedAttempt[]): ContractDifference[] {
  const ofUsage: ContractDifference[] = [];
  const ofOrganization: ContractDifference[] = [];
  for (const [index, next] of ofKey.entries()) {
    const before = ofKey[index - 1];
    if (before === undefined) continue;
    ofUsage.push(...compareUsage(before, next));
    ofOrganization.push(...compareOrganization(before, next));
  }
  return [...ofUsage.slice(0, 1), ...ofOrganization.slice(0, 1)];
}

/** `usage.today` must rise by one with each request of the key (R6, R24). */
function compareUsage(before: CompletedAttempt, next: CompletedAttempt): ContractDifference[] {
  const countBefore = memberIn(before.response, todayPath);
  const count = memberIn(next.response, todayPath);
  if (typeof countBefore !== "number" || typeof count !== "number") return [];
  if (count === countBefore + 1) return [];

  // A new day may have started in between: the count starts again at 1. From 1 to 1, only the dates can rule this out.
  if (count === 1 && (countBefore > 1 || passedMinutes(before, next) !== 0)) return [];

  const difference: ResponseDifference = {
    rules: ["R6", "R24"],
    at: "$.data.usage.today",
    expected: "one more than in the response before",
    found: describeRise(count - countBefore),
  };
  return [withRequest(next, difference)];
}

function describeRise(rise: number): string {
  if (rise > 0) return `${rise} more; does another client use this key?`;
  return rise < 0 ? "less" : "the same number";
}

/** How many minutes began between two responses, by their dates; `NaN` if one of them has no date. */
function passedMinutes(before: CompletedAttempt, next: CompletedAttempt): number {
  return minuteOfResponse(next.response) - minuteOfResponse(before.response);
}

function minuteOfResponse(response: RedactedResponse): number {
  return Math.floor(readDate(response) / minute);
}

/**
 * Returns the outcomes whose responses do not show whether their key's requests are counted, each with the reason. From 1 to 1,
 * the count may have started again in a new day.
 */
export function whysUsageOpen(attempts: readonly Attempt[]): ReadonlyMap<PromisedOutcomeId, string> {
  const whys = new Map<PromisedOutcomeId, string>();
  const latestByKey = new Map<string | undefined, CompletedAttempt>();
  for (const next of attempts.filter(isPermitted)) {
    const before = latestByKey.get(next.apiKey);
    latestByKey.set(next.apiKey, next);
    if (before === undefined || outcomeRow(next.outcome).status !== 200) continue;

    const isOneTwice = [before, next].every(({ response }) => memberIn(response, todayPath) === 1);
    if (!isOneTwice || !Number.isNaN(passedMinutes(before, next))) continue;
    whys.set(next.outcome, "it is 1 twice, and without a Date, a new day may have begun in between");
  }
  return whys;
}

/** The organization of a key must stay the same (R2). */
function compareOrganization(before: CompletedAttempt, next: CompletedAttempt): ContractDifference[] {
  const idBefore = memberIn(before.response, organizationIdPath);
  const id = memberIn(next.response, organizationIdPath);
  if (typeof idBefore !== "string" || typeof id !== "string" || idBefore === id) return [];

  const difference: ResponseDifference = {
    rules: ["R2"],
    at: "$.data.organization.id",
    expected: "the id in the response before",
    found: "another id",
  };
  return [withRequest(next, difference)];
}
