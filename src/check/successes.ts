import type { ContractDifference } from "./contract.js";
import type { CompletedAttempt } from "./judge.js";
import { type CheckedResponse, headerOf, memberAt, minuteOf, shownText } from "./response.js";

/** Compares the successes with each other, and with a `permitted` key that should lack the scope. */
export function compareSuccesses(
  successes: readonly CompletedAttempt[],
  permitted: CheckedResponse | undefined,
): ContractDifference[] {
  return [
    ...compareRequestIds(successes),
    ...compareUsage(successes),
    ...compareReplacement(successes),
    ...(permitted?.status === 200 ? compareScopes(permitted, successes) : []),
  ];
}

function compareRequestIds(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const ids = successes.map(({ response }) => headerOf(response, "x-request-id") ?? "");
  return successes.flatMap(({ pathId }, index) => {
    const id = ids[index] ?? "";
    if (id === "" || ids.indexOf(id) === index) return [];
    const expected = "a request id that no earlier response has";
    return [{ rules: ["R7"], pathId, at: "X-Request-Id", expected, found: `${shownText(id)} again` }];
  });
}

/** Compares consecutive responses to the same key. */
function compareUsage(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const latest = new Map<string, { count: number; minute: number }>();
  return successes.flatMap(({ apiKey = "", pathId, response }): ContractDifference[] => {
    const count = memberAt(response, "data", "usage", "today");
    if (typeof count !== "number") return [];
    const before = latest.get(apiKey);
    const minute = minuteOf(response);
    latest.set(apiKey, { count, minute });
    if (before === undefined || count === before.count + 1) return [];
    // A new day may have started in between, with a new minute.
    if (count === 1 && (before.count > 1 || minute !== before.minute)) return [];
    const hint = count > before.count ? "; does another client use this key?" : "";
    const expected = `${before.count + 1}, one more than in the response before`;
    return [{ rules: ["R6", "R24"], pathId, at: "$.data.usage.today", expected, found: `${count}${hint}` }];
  });
}

// The name of an organization may be spelled in several ways.
const inherited = [
  ["R26", "limits", "per_minute"],
  ["R26", "limits", "per_day"],
  ["R37", "scopes"],
  ["R37", "organization", "id"],
] as const;

function compareReplacement(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const pathId = "200.replacement";
  const [old, replacement] = ["200.retiring", pathId].map((id) => successes.find((one) => one.pathId === id));
  if (old === undefined || replacement === undefined) return [];
  return inherited.flatMap(([rule, ...path]): ContractDifference[] => {
    const [before = "", found = ""] = [old, replacement].map(({ response }) => {
      const value = memberAt(response, "data", ...path);
      return shownText(`${JSON.stringify(Array.isArray(value) ? [...value].sort() : value)}`);
    });
    const expected = `${before}, as for 200.retiring`;
    return before === found
      ? []
      : [{ rules: [rule], pathId, at: `$.data.${path.join(".")}`, expected, found }];
  });
}

/** Compares the scopes of a permitted `SVC_KEY_WRONG_SCOPE` with those that every other permitted key has (R21). */
function compareScopes(
  permitted: CheckedResponse,
  successes: readonly CompletedAttempt[],
): ContractDifference[] {
  const [first = [], ...others] = successes.map(({ response }) => scopesOf(response));
  const common = first.filter((scope) => others.every((scopes) => scopes.includes(scope)));
  const scopes = scopesOf(permitted);
  // A key with one of them may have the scope that the endpoint needs.
  if (scopes.length === 0 || common.length === 0 || common.some((scope) => scopes.includes(scope))) return [];
  const expected = `403, without the scope that each permitted key has: ${shownText(common.join(" or "))}`;
  const found = `200 with ${shownText(scopes.join(", "))}. If the endpoint needs no scope, leave SVC_KEY_WRONG_SCOPE out`;
  return [{ rules: ["R21"], pathId: "403.insufficient_scope", at: "status", expected, found }];
}

function scopesOf(response: CheckedResponse): string[] {
  const scopes = memberAt(response, "data", "scopes");
  return Array.isArray(scopes) ? scopes.filter((one) => typeof one === "string") : [];
}
