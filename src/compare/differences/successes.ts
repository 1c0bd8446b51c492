import { type Findings, noFindings } from "../comparison.js";
import { headerOf } from "../response/headers.js";
import { memberIn, organizationIdPath } from "../response/members.js";
import { type Attempt, type CompletedAttempt, got200, rightful200s } from "../sending/attempt.js";
import { type ContractDifference, type ResponseDifference, withRequest } from "./contract-difference.js";
import { compareCounts, findOpenCounts, pairSuccesses, type SuccessPair } from "./counts.js";
import { compareReplacement, compareScopes } from "./keys-compared.js";

/** Compares the responses with status 200 with each other. */
export function compareSuccesses(attempts: readonly Attempt[]): Findings {
  const all200s = attempts.filter(got200);
  const differences = compareRequestIds(all200s);

  const keys = new Set(all200s.map(({ apiKey }) => apiKey));
  for (const key of keys) {
    differences.push(...comparePairs(attempts.filter(({ apiKey }) => apiKey === key)));
  }

  // What different keys share, or must not share. A key that should get 403 for its scopes is only compared by these.
  const rightful = rightful200s(attempts);
  differences.push(...compareReplacement(rightful));
  const withoutScope = all200s.find(({ outcome }) => outcome === "403.insufficient_scope");
  if (withoutScope !== undefined) differences.push(...compareScopes(withoutScope, rightful));

  return { ...noFindings, differences, unjudged: findOpenCounts(attempts) };
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
function comparePairs(attemptsOfKey: readonly Attempt[]): ContractDifference[] {
  const differencesOfCounts: ContractDifference[] = [];
  const differencesOfOrganization: ContractDifference[] = [];
  for (const pair of pairSuccesses(attemptsOfKey)) {
    differencesOfCounts.push(...judgeCounts(pair));
    differencesOfOrganization.push(...compareOrganization(pair));
  }
  return [...differencesOfCounts.slice(0, 1), ...differencesOfOrganization.slice(0, 1)];
}

/** `usage.today` must rise by one with each request of the key (R6, R24). */
function judgeCounts(pair: SuccessPair): ContractDifference[] {
  const comparison = compareCounts(pair);
  if (comparison.kind !== "differs") return [];
  const difference: ResponseDifference = {
    rules: ["R6", "R24"],
    at: "$.data.usage.today",
    expected: "one more than in the response before",
    found: describeRise(comparison.rise),
  };
  return [withRequest(pair.next, difference)];
}

function describeRise(rise: number): string {
  if (rise > 0) return `${rise} more; does another client use this key?`;
  return rise < 0 ? "less" : "the same number";
}

/** The organization of a key must stay the same (R2). */
function compareOrganization({ before, next }: SuccessPair): ContractDifference[] {
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
