import { outcomeRow, type PromisedOutcomeId } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import { shownText } from "../response/describe.js";
import { headerOf, readDate } from "../response/headers.js";
import { memberIn, numberText, todayPath } from "../response/members.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import { type Attempt, type CompletedAttempt, completedWith, isPermitted } from "../sending/attempt.js";
import type { ContractDifference } from "./contract-difference.js";
import { withRequest } from "./contract-difference.js";

/** What a replacement has from its key; not the name of the organization, which may be spelled in several ways. */
const inherited = [
  { rule: "R26", path: ["limits", "per_minute"] },
  { rule: "R26", path: ["limits", "per_day"] },
  { rule: "R37", path: ["scopes"] },
  { rule: "R37", path: ["organization", "id"] },
] as const;

/** Compares the responses with status 200 with each other. */
export function compareSuccesses(attempts: readonly Attempt[]): ContractDifference[] {
  const permitted = attempts.filter(isPermitted);
  const differences = compareRequestIds(permitted);

  const keys = new Set(permitted.map(({ apiKey }) => apiKey));
  for (const key of keys) {
    const ofKey = permitted.filter(({ apiKey }) => apiKey === key);
    differences.push(...compareInOrder(ofKey));
  }

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
      const expected = "a request id that no earlier response has";
      const found = "the id of an earlier response";
      differences.push(withRequest(attempt, { rules: ["R7"], at: "X-Request-Id", expected, found }));
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
  const earlier = memberIn(before.response, todayPath);
  const count = memberIn(next.response, todayPath);
  if (typeof earlier !== "number" || typeof count !== "number") return [];
  if (count === earlier + 1) return [];

  // A new day may have started in between: the count starts again at 1. From 1 to 1, only the dates can rule this out.
  if (count === 1 && (earlier > 1 || passedMinutes(before, next) !== 0)) return [];

  const expected = "one more than in the response before";
  let found = "the same number";
  if (count > earlier) found = `${count - earlier} more; does another client use this key?`;
  if (count < earlier) found = "less";
  return [withRequest(next, { rules: ["R6", "R24"], at: "$.data.usage.today", expected, found })];
}

/** How many minutes began between two responses, by their dates; `NaN` if one of them has no date. */
function passedMinutes(before: CompletedAttempt, next: CompletedAttempt): number {
  return minuteOfResponse(next.response) - minuteOfResponse(before.response);
}

function minuteOfResponse(response: RedactedResponse): number {
  return Math.floor(readDate(response) / minute);
}

/** Returns why it stays open, for these outcomes, whether their key's requests are counted. */
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
  const path = ["data", "organization", "id"];
  const id = memberIn(before.response, path);
  const found = memberIn(next.response, path);
  if (typeof id !== "string" || typeof found !== "string" || id === found) return [];

  const expected = "the id in the response before";
  return [withRequest(next, { rules: ["R2"], at: "$.data.organization.id", expected, found: "another id" })];
}

/** Compares what the key of `200.replacement` must have from that of `200.retiring`. */
function compareReplacement(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const old = successes.find(({ outcome }) => outcome === "200.retiring");
  const replacement = successes.find(({ outcome }) => outcome === "200.replacement");
  if (old === undefined || replacement === undefined) return [];

  const differences: ContractDifference[] = [];
  for (const { rule, path } of inherited) {
    const before = dataMemberText(old.response, path);
    const after = dataMemberText(replacement.response, path);
    if (before === after) continue;
    const at = `$.data.${path.join(".")}`;
    // A service may draw an id anew, and two comparisons of it must be equal.
    const isId = path.at(-1) === "id";
    const expected = isId ? "the id of 200.retiring" : `${before}, as for 200.retiring`;
    const found = isId ? "another id" : after;
    differences.push(withRequest(replacement, { rules: [rule], at, expected, found }));
  }
  return differences;
}

/** A member of `data` as JSON; the order of a list does not count. */
function dataMemberText(response: RedactedResponse, path: readonly string[]): string {
  const steps = ["data", ...path];
  const value = memberIn(response, steps);
  if (typeof value === "number") return numberText(response, steps);
  const sorted = Array.isArray(value) ? [...value].sort() : value;
  return shownText(`${JSON.stringify(sorted)}`);
}

/** Compares the scopes of a permitted `SVC_KEY_WRONG_SCOPE` with those that every other permitted key has (R21). */
function compareScopes(
  permitted: CompletedAttempt,
  successes: readonly CompletedAttempt[],
): ContractDifference[] {
  const scopes = readScopes(permitted);
  if (scopes.length === 0) return [];

  const [first, ...others] = successes;
  if (first === undefined) return [];
  let common = readScopes(first);
  for (const other of others) {
    const scopesOfOther = readScopes(other);
    common = common.filter((scope) => scopesOfOther.includes(scope));
  }
  if (common.length === 0) return [];

  // A key with one of them may have the scope that the endpoint needs.
  if (common.some((scope) => scopes.includes(scope))) return [];
  const expected = `403, without the scope that each permitted key has: ${shownText(common.join(" or "))}`;
  const advice = "If the endpoint needs no scope, leave SVC_KEY_WRONG_SCOPE out";
  const found = `200 with ${shownText(scopes.join(", "))}. ${advice}`;
  return [withRequest(permitted, { rules: ["R21"], at: "status", expected, found })];
}

function readScopes({ response }: CompletedAttempt): string[] {
  const scopes = memberIn(response, ["data", "scopes"]);
  if (!Array.isArray(scopes)) return [];
  return scopes.filter((scope) => typeof scope === "string");
}
