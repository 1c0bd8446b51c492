import { type Attempt, type CompletedAttempt, completedWith } from "./attempt.js";
import { differenceIn } from "./judge.js";
import type { ContractDifference } from "./keys-of-outcomes.js";
import { headerOf, memberIn, minuteOf, numberText, quoted, shownText, todayPath } from "./response.js";

/** Compares the responses with status 200 with each other. */
export function compareSuccesses(attempts: readonly Attempt[]): ContractDifference[] {
  const permitted = attempts.filter((one): one is CompletedAttempt => one.response?.status === 200);
  const successes = completedWith(attempts, 200);
  const withoutScope = permitted.find(({ outcome }) => outcome === "403.insufficient_scope");
  const keys = new Set(permitted.map(({ apiKey }) => apiKey));
  return [
    ...compareRequestIds(permitted),
    ...[...keys].flatMap((key) => compareOneKey(permitted.filter(({ apiKey }) => apiKey === key))),
    ...compareReplacement(successes),
    ...(withoutScope === undefined ? [] : compareScopes(withoutScope, successes)),
  ];
}

function compareRequestIds(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const ids = successes.map(({ response }) => headerOf(response, "x-request-id") ?? "");
  return successes.flatMap((attempt, index) => {
    const id = ids[index] ?? "";
    if (id === "" || ids.indexOf(id) === index) return [];
    const expected = "a request id that no earlier response has";
    const found = `${shownText(id)} again`;
    return [differenceIn(attempt, { rules: ["R7"], at: "X-Request-Id", expected, found })];
  });
}

/** Compares each response to a key with the one before, and reports the first difference of a kind. */
function compareOneKey(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const pairs = successes.flatMap((next, index) => {
    const before = successes[index - 1];
    return before === undefined ? [] : [[before, next] as const];
  });
  const usage = pairs.flatMap(([before, next]) => compareUsage(before, next));
  const organization = pairs.flatMap(([before, next]) => compareOrganization(before, next));
  return [...usage.slice(0, 1), ...organization.slice(0, 1)];
}

function compareUsage(before: CompletedAttempt, next: CompletedAttempt): ContractDifference[] {
  const [earlier, count] = [before, next].map(({ response }) => memberIn(response, todayPath));
  if (typeof earlier !== "number" || typeof count !== "number" || count === earlier + 1) return [];
  // A new day may have started in between, with a new minute.
  if (count === 1 && (earlier > 1 || minuteOf(before.response) !== minuteOf(next.response))) return [];
  const expected = `${earlier + 1}, one more than in the response before`;
  const found = `${numberText(next.response, todayPath)}${count > earlier ? "; does another client use this key?" : ""}`;
  return [differenceIn(next, { rules: ["R6", "R24"], at: "$.data.usage.today", expected, found })];
}

function compareOrganization(before: CompletedAttempt, next: CompletedAttempt): ContractDifference[] {
  const [id, found] = [before, next].map(({ response }) =>
    memberIn(response, ["data", "organization", "id"]),
  );
  if (typeof id !== "string" || typeof found !== "string" || id === found) return [];
  const expected = `${quoted(id)}, as in the response before`;
  return [
    differenceIn(next, { rules: ["R2"], at: "$.data.organization.id", expected, found: quoted(found) }),
  ];
}

/** A member of `data` as JSON; the order of a list does not count. */
function shownMember(response: CompletedAttempt["response"], path: readonly string[]): string {
  const at = ["data", ...path];
  const value = memberIn(response, at);
  if (typeof value === "number") return numberText(response, at);
  return shownText(`${JSON.stringify(Array.isArray(value) ? [...value].sort() : value)}`);
}

// The name of an organization may be spelled in several ways.
const inherited = [
  ["R26", "limits", "per_minute"],
  ["R26", "limits", "per_day"],
  ["R37", "scopes"],
  ["R37", "organization", "id"],
] as const;

function compareReplacement(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const [old, replacement] = ["200.retiring", "200.replacement"].map((id) =>
    successes.find((one) => one.outcome === id),
  );
  if (old === undefined || replacement === undefined) return [];
  return inherited.flatMap(([rule, ...path]) => {
    const [before, found] = [shownMember(old.response, path), shownMember(replacement.response, path)];
    if (before === found) return [];
    const expected = `${before}, as for 200.retiring`;
    return [differenceIn(replacement, { rules: [rule], at: `$.data.${path.join(".")}`, expected, found })];
  });
}

/** Compares the scopes of a permitted `SVC_KEY_WRONG_SCOPE` with those that every other permitted key has (R21). */
function compareScopes(
  permitted: CompletedAttempt,
  successes: readonly CompletedAttempt[],
): ContractDifference[] {
  const [first = [], ...others] = successes.map(scopesOf);
  const common = first.filter((scope) => others.every((scopes) => scopes.includes(scope)));
  const scopes = scopesOf(permitted);
  // A key with one of them may have the scope that the endpoint needs.
  if (scopes.length === 0 || common.length === 0 || common.some((scope) => scopes.includes(scope))) return [];
  const expected = `403, without the scope that each permitted key has: ${shownText(common.join(" or "))}`;
  const advice = "If the endpoint needs no scope, leave SVC_KEY_WRONG_SCOPE out";
  const found = `200 with ${shownText(scopes.join(", "))}. ${advice}`;
  return [differenceIn(permitted, { rules: ["R21"], at: "status", expected, found })];
}

function scopesOf({ response }: CompletedAttempt): string[] {
  const scopes = memberIn(response, ["data", "scopes"]);
  return Array.isArray(scopes) ? scopes.filter((one) => typeof one === "string") : [];
}
