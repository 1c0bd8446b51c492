import { outcomeRow, type PromisedOutcomeId } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import { headerOf, readDate } from "../response/headers.js";
import { memberIn, organizationIdPath, todayPath } from "../response/members.js";
import { type Attempt, type CompletedAttempt, completedWith, got200 } from "../sending/attempt.js";
import { type ContractDifference, type ResponseDifference, withRequest } from "./contract-difference.js";
import { compareReplacement, compareScopes } from "./keys-compared.js";

/** Compares the responses with status 200 with each other. */
export function compareSuccesses(attempts: readonly Attempt[]): ContractDifference[] {
  const all200s = attempts.filter(got200);
  const differences = compareRequestIds(all200s);

  const keys = new Set(all200s.map(({ apiKey }) => apiKey));
  for (const key of keys) {
    differences.push(...compareInOrder(attempts.filter(({ apiKey }) => apiKey === key)));
  }

  // What different keys must have alike, or not alike: of a key that should not get 200, only its scopes.
  const successes = completedWith(attempts, 200);
  differences.push(...compareReplacement(successes));
  const withoutScope = all200s.find(({ outcome }) => outcome === "403.insufficient_scope");
  if (withoutScope !== undefined) differences.push(...compareScopes(withoutScope, successes));
  return differences;
}

/** No two responses may have the same request id (R7). */
function compareRequestIds(all200s: readonly CompletedAttempt[]): ContractDifference[] {
  const earlier = new Set<string>();
  const differences: ContractDifference[] = [];
  for (const attempt of all200s) {
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

/** Compares each 200 of a key with the 200 before. Of each kind, only the first difference counts. */
function compareInOrder(ofKey: readonly Attempt[]): ContractDifference[] {
  const ofUsage: ContractDifference[] = [];
  const ofOrganization: ContractDifference[] = [];
  let latest200: CompletedAttempt | undefined;
  let previous: Attempt | undefined;
  for (const next of ofKey) {
    if (got200(next)) {
      // The service may have counted a request without a 200, or not: counts are compared only if none is in between.
      if (latest200 !== undefined && latest200 === previous) ofUsage.push(...compareUsage(latest200, next));
      if (latest200 !== undefined) ofOrganization.push(...compareOrganization(latest200, next));
      latest200 = next;
    }
    previous = next;
  }
  return [...ofUsage.slice(0, 1), ...ofOrganization.slice(0, 1)];
}

/** `usage.today` must rise by one with each request of the key (R6, R24). */
function compareUsage(before: CompletedAttempt, next: CompletedAttempt): ContractDifference[] {
  const countBefore = memberIn(before.response, todayPath);
  const count = memberIn(next.response, todayPath);
  if (typeof countBefore !== "number" || typeof count !== "number") return [];
  if (count === countBefore + 1) return [];

  // A new day may have started in between: the count starts again at 1.
  if (count === 1 && countBefore > 1) return [];
  // From 1 to 1, only the dates can rule this out.
  if (count === 1 && minutesOf(before, next) !== "same_minute") return [];

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

/** Whether two responses are of one minute, by their dates; `no_date` if one of them has none. */
function minutesOf(
  before: CompletedAttempt,
  next: CompletedAttempt,
): "same_minute" | "two_minutes" | "no_date" {
  const minuteBefore = Math.floor(readDate(before.response) / minute);
  const minuteOfNext = Math.floor(readDate(next.response) / minute);
  if (Number.isNaN(minuteBefore) || Number.isNaN(minuteOfNext)) return "no_date";
  return minuteBefore === minuteOfNext ? "same_minute" : "two_minutes";
}

/** What came of the second request with a working key, which shows whether the requests of the key are counted. */
export type SecondSuccess =
  | { readonly kind: "no_working_key" | "sent" }
  | { readonly kind: "not_sent"; readonly outcome: PromisedOutcomeId; readonly why: string };

/** Returns the outcomes whose responses do not show whether their key's requests are counted, each with the reason. */
export function findOpenUsage(
  attempts: readonly Attempt[],
  second: SecondSuccess,
): ReadonlyMap<PromisedOutcomeId, string> {
  const whys = new Map<PromisedOutcomeId, string>();
  const latestByKey = new Map<string | undefined, CompletedAttempt>();
  for (const next of attempts.filter(got200)) {
    const before = latestByKey.get(next.apiKey);
    latestByKey.set(next.apiKey, next);
    if (before === undefined || outcomeRow(next.outcome).status !== 200) continue;

    // From 1 to 1, the count may have started again in a new day.
    const isOneTwice = [before, next].every(({ response }) => memberIn(response, todayPath) === 1);
    const minutes = minutesOf(before, next);
    if (!isOneTwice || minutes === "same_minute") continue;
    const dates = minutes === "no_date" ? "and without a Date," : "in two minutes, and";
    whys.set(next.outcome, `it is 1 twice, ${dates} a new day may have begun in between`);
  }

  // The requests that use up a minute can have shown it later.
  if (second.kind === "not_sent") {
    const { outcome, why } = second;
    const successes = attempts.filter((attempt) => attempt.outcome === outcome && got200(attempt));
    if (successes.length < 2) whys.set(outcome, why);
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
