import type { ContractDifference, ResponseDifference } from "../contract/findings.js";
import { memberIn, numberText } from "../response/members.js";
import { type RedactedResponse, shownText } from "../response/response.js";
import type { CompletedAttempt } from "../sending/attempt.js";
import { withRequest } from "./judge.js";

// What the 200s of different keys show together.

/** What a replacement keeps of its key; not the name of the organization, which may be spelled in several ways. */
const membersKeptByReplacement = [
  { rule: "R26", path: ["limits", "per_minute"] },
  { rule: "R26", path: ["limits", "per_day"] },
  { rule: "R37", path: ["scopes"] },
  { rule: "R37", path: ["organization", "id"] },
] as const;

/** Compares what the key of `200.replacement` must have from that of `200.retiring`. */
export function compareReplacement(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const old = successes.find(({ outcome }) => outcome === "200.retiring");
  const replacement = successes.find(({ outcome }) => outcome === "200.replacement");
  if (old === undefined || replacement === undefined) return [];

  const differences: ContractDifference[] = [];
  for (const { rule, path } of membersKeptByReplacement) {
    const textOfOld = dataMemberText(old.response, path);
    const textOfReplacement = dataMemberText(replacement.response, path);
    if (textOfOld === textOfReplacement) continue;
    const difference: ResponseDifference = {
      rules: [rule],
      at: `$.data.${path.join(".")}`,
      ...describeKept(path, textOfOld, textOfReplacement),
    };
    differences.push(withRequest(replacement, difference));
  }
  return differences;
}

function describeKept(
  path: readonly string[],
  textOfOld: string,
  textOfReplacement: string,
): Pick<ResponseDifference, "expected" | "found"> {
  // A service may draw an id anew, and two comparisons of the service must be equal.
  if (path.at(-1) === "id") return { expected: "the id of 200.retiring", found: "another id" };

  const shownOfOld = shownText(textOfOld);
  const expected = `${shownOfOld}, as for 200.retiring`;
  const found = shownText(textOfReplacement);
  // Both are shortened for display only.
  if (found === shownOfOld) return { expected, found: "another value, which begins in the same way" };
  return { expected, found };
}

/** Returns a member of `data` as JSON, or `nothing`; the order of a list does not count. */
function dataMemberText(response: RedactedResponse, path: readonly string[]): string {
  const steps = ["data", ...path];
  const value = memberIn(response, steps);
  if (typeof value === "number") return numberText(response, steps, value);
  if (value === undefined) return "nothing";
  return JSON.stringify(Array.isArray(value) ? sortByText(value) : value);
}

function sortByText(list: readonly unknown[]): unknown[] {
  const withTexts = list.map((value) => {
    return { value, text: typeof value === "string" ? value : JSON.stringify(value) };
  });
  withTexts.sort((left, right) => (left.text < right.text ? -1 : Number(left.text > right.text)));
  return withTexts.map(({ value }) => value);
}

/** Compares the scopes of a `SVC_KEY_WRONG_SCOPE` that got 200 with those that every working key has (R21). */
export function compareScopes(
  withoutScope: CompletedAttempt,
  successes: readonly CompletedAttempt[],
): ContractDifference[] {
  const scopes = readScopes(withoutScope);
  const scopesOfAll = commonScopes(successes);
  if (scopes.length === 0 || scopesOfAll.length === 0) return [];

  // A key with one of them may have the scope that the endpoint needs.
  if (scopesOfAll.some((scope) => scopes.includes(scope))) return [];
  const advice = "If the endpoint needs no scope, leave SVC_KEY_WRONG_SCOPE out";
  const difference: ResponseDifference = {
    rules: ["R21"],
    at: "status",
    expected: `403, without the scope that each permitted key has: ${shownText(scopesOfAll.join(" or "))}`,
    found: `200 with ${shownText(scopes.join(", "))}. ${advice}`,
  };
  return [withRequest(withoutScope, difference)];
}

/** Returns the scopes that each of these keys has. */
function commonScopes([first, ...later]: readonly CompletedAttempt[]): string[] {
  if (first === undefined) return [];
  let common = readScopes(first);
  for (const attempt of later) {
    const scopes = readScopes(attempt);
    common = common.filter((scope) => scopes.includes(scope));
  }
  return common;
}

function readScopes({ response }: CompletedAttempt): string[] {
  const scopes = memberIn(response, ["data", "scopes"]);
  if (!Array.isArray(scopes)) return [];
  return scopes.filter((scope) => typeof scope === "string");
}
