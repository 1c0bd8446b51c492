import { type Attempt, type CompletedAttempt, completedWith, isPermitted } from "./attempt.js";
import { differenceIn } from "./judge.js";
import type { ContractDifference } from "./keys-of-outcomes.js";
import { headerOf, memberIn, minuteOf, numberText, quoted, shownText, todayPath } from "./response.js";

/** Compares the responses with status 200 with each other. */
export function compareSuccesses(attempts: readonly Attempt[]): ContractDifference[] {
  const permitted = attempts.filter(isPermitted);
  const differences = compareRequestIds(permitted);

  const keys = new Set(permitted.map(({ apiKey }) => apiKey));
  for (const key of keys) {
    const ofKey = permitted.filter(({ apiKey }) => apiKey === key);
    differences.push(...compareOneKey(ofKey));
  }

  const successes = completedWith(attempts, 200);
  differences.push(...compareReplacement(successes));
  const withoutScope = permitted.find(({ outcome }) => outcome === "403.insufficient_scope");
  if (withoutScope !== undefined) differences.push(...compareScopes(withoutScope, successes));
  return differences;
}

function compareRequestIds(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const earlier = new Set<string>();
  const differences: ContractDifference[] = [];
  for (const attempt of successes) {
    const id = headerOf(attempt.response, "x-request-id");
    if (id === undefined || id === "") continue;
    if (earlier.has(id)) {
      const expected = "a request id that no earlier response has";
      const found = `${shownText(id)} again`;
      differences.push(differenceIn(attempt, { rules: ["R7"], at: "X-Request-Id", expected, found }));
    }
    earlier.add(id);
  }
  return differences;
}

/** Compares each response to a key with the one before, and reports the first difference of a kind. */
function compareOneKey(successes: readonly CompletedAttempt[]): ContractDifference[] {
  let usage: ContractDifference | undefined;
  let organization: ContractDifference | undefined;
  for (const [index, next] of successes.entries()) {
    const before = successes[index - 1];
    if (before === undefined) continue;
    usage ??= compareUsage(before, next);
    organization ??= compareOrganization(before, next);
  }
  return [usage, organization].filter((difference) => difference !== undefined);
}

function compareUsage(before: CompletedAttempt, next: CompletedAttempt): ContractDifference | undefined {
  const earlier = memberIn(before.response, todayPath);
  const count = memberIn(next.response, todayPath);
  if (typeof earlier !== "number" || typeof count !== "number") return undefined;
  if (count === earlier + 1) return undefined;

  // A new day may have started in between, with a new minute.
  const isNewMinute = minuteOf(before.response) !== minuteOf(next.response);
  if (count === 1 && (earlier > 1 || isNewMinute)) return undefined;

  const expected = `${earlier + 1}, one more than in the response before`;
  let found = numberText(next.response, todayPath);
  if (count > earlier) found += "; does another client use this key?";
  return differenceIn(next, { rules: ["R6", "R24"], at: "$.data.usage.today", expected, found });
}

function compareOrganization(
  before: CompletedAttempt,
  next: CompletedAttempt,
): ContractDifference | undefined {
  const path = ["data", "organization", "id"];
  const id = memberIn(before.response, path);
  const found = memberIn(next.response, path);
  if (typeof id !== "string" || typeof found !== "string" || id === found) return undefined;

  const expected = `${quoted(id)}, as in the response before`;
  return differenceIn(next, { rules: ["R2"], at: "$.data.organization.id", expected, found: quoted(found) });
}

/** A member of `data` as JSON; the order of a list does not count. */
function shownMember(response: CompletedAttempt["response"], path: readonly string[]): string {
  const at = ["data", ...path];
  const value = memberIn(response, at);
  if (typeof value === "number") return numberText(response, at);
  const inOrder = Array.isArray(value) ? [...value].sort() : value;
  return shownText(`${JSON.stringify(inOrder)}`);
}

/** What a replacement has from its key; not the name of the organization, which may be spelled in several ways. */
const inherited = [
  { rule: "R26", path: ["limits", "per_minute"] },
  { rule: "R26", path: ["limits", "per_day"] },
  { rule: "R37", path: ["scopes"] },
  { rule: "R37", path: ["organization", "id"] },
] as const;

function compareReplacement(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const old = successes.find(({ outcome }) => outcome === "200.retiring");
  const replacement = successes.find(({ outcome }) => outcome === "200.replacement");
  if (old === undefined || replacement === undefined) return [];

  const differences: ContractDifference[] = [];
  for (const { rule, path } of inherited) {
    const before = shownMember(old.response, path);
    const found = shownMember(replacement.response, path);
    if (before === found) continue;
    const at = `$.data.${path.join(".")}`;
    const expected = `${before}, as for 200.retiring`;
    differences.push(differenceIn(replacement, { rules: [rule], at, expected, found }));
  }
  return differences;
}

/** Compares the scopes of a permitted `SVC_KEY_WRONG_SCOPE` with those that every other permitted key has (R21). */
function compareScopes(
  permitted: CompletedAttempt,
  successes: readonly CompletedAttempt[],
): ContractDifference[] {
  const scopes = scopesOf(permitted);
  if (scopes.length === 0) return [];

  const [first, ...others] = successes;
  if (first === undefined) return [];
  let common = scopesOf(first);
  for (const other of others) {
    const scopesOfOther = scopesOf(other);
    common = common.filter((scope) => scopesOfOther.includes(scope));
  }
  if (common.length === 0) return [];

  // A key with one of them may have the scope that the endpoint needs.
  if (common.some((scope) => scopes.includes(scope))) return [];
  const expected = `403, without the scope that each permitted key has: ${shownText(common.join(" or "))}`;
  const advice = "If the endpoint needs no scope, leave SVC_KEY_WRONG_SCOPE out";
  const found = `200 with ${shownText(scopes.join(", "))}. ${advice}`;
  return [differenceIn(permitted, { rules: ["R21"], at: "status", expected, found })];
}

function scopesOf({ response }: CompletedAttempt): string[] {
  const scopes = memberIn(response, ["data", "scopes"]);
  if (!Array.isArray(scopes)) return [];
  return scopes.filter((scope) => typeof scope === "string");
}
