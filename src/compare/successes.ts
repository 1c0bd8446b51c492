import { type Attempt, type CompletedAttempt, got200, rightful200s } from "./attempts.js";
import type { ResponseDifference, Unjudged } from "./findings.js";
import { type Deviation, findAlike } from "./judge.js";
import { headerOf, memberIn, type RedactedResponse, shownText, todayPath, unlike } from "./response.js";

/** What an owner can change at any time, or a service spell in several ways: no rule says that it stays. */
const changeable = [
  ["limits", "per_minute"],
  ["limits", "per_day"],
  ["organization", "name"],
  ["organization", "type"],
];

/** Compares the responses with status 200 with each other. */
export function compareSuccesses(attempts: readonly Attempt[]) {
  const deviations: Deviation[] = [];
  const unjudged: Unjudged[] = [];
  const notes: string[] = [];
  const all200s = attempts.filter(got200);
  for (const key of new Set(all200s.map(({ apiKey }) => apiKey))) {
    const ofKey = all200s.filter(({ apiKey }) => apiKey === key);
    deviations.push(...findAlike(ofKey, (attempt) => compareRequestId(all200s, attempt)));
    deviations.push(...findAlike(ofKey.slice(1), (next) => compareWithBefore(ofKey, next)));
    const outcomes = [...new Set(ofKey.map(({ outcome }) => outcome))];
    const why = "it changed between two responses to the same key";
    for (const path of changeable) {
      const texts = new Set(ofKey.map(({ response }) => memberText(response, path)));
      if (texts.size === 1) continue;
      unjudged.push({ at: placeOf(path), why, outcomes });
      notes.push(`${placeOf(path)} of ${outcomes.join()} was not judged: ${why}.`);
    }
  }

  // What different keys share, or must not share. A key that should get 403 for its scopes is only compared by these.
  const rightful = rightful200s(attempts);
  const replacements = rightful.filter(({ outcome }) => outcome === "200.replacement");
  const withoutScope = all200s.filter(({ outcome }) => outcome === "403.insufficient_scope");
  deviations.push(
    ...findAlike(replacements, (replacement) => compareReplacement(rightful, replacement)),
    ...findAlike(withoutScope, (attempt) => compareScopes(attempt, rightful)),
  );
  return { deviations, unjudged, notes };
}

/** No two responses may have the same request id (R7). */
function compareRequestId(
  all200s: readonly CompletedAttempt[],
  attempt: CompletedAttempt,
): ResponseDifference[] {
  const id = headerOf(attempt.response, "x-request-id");
  const withSameId = all200s.filter(({ response }) => headerOf(response, "x-request-id") === id);
  if (id === undefined || id === "" || withSameId.length === 1) return [];
  const expected = "a request id that no other response has";
  return [{ rules: ["R7"], at: "X-Request-Id", expected, found: "the id of another response" }];
}

/** Compares a 200 of a key with the one before it: it counts one more, for the same organization and scopes. */
function compareWithBefore(ofKey: readonly CompletedAttempt[], next: CompletedAttempt): ResponseDifference[] {
  const before = ofKey[ofKey.indexOf(next) - 1];
  if (before === undefined) return [];
  const differences = compareCounts(before, next);
  for (const [rule, path] of [
    ["R2", ["organization", "id"]],
    ["R4", ["scopes"]],
  ] as const) {
    if (memberText(before.response, path) === memberText(next.response, path)) continue;
    const expected = "the same as in the response before";
    differences.push({ rules: [rule], at: placeOf(path), expected, found: "another one" });
  }
  return differences;
}

/** `usage.today` must rise by one with each request of the key (R6, R24). A new day is one response of several. */
function compareCounts(before: CompletedAttempt, next: CompletedAttempt): ResponseDifference[] {
  const countBefore = memberIn(before.response, todayPath);
  const count = memberIn(next.response, todayPath);
  // One that is no number is another difference.
  if (typeof countBefore !== "number" || typeof count !== "number") return [];
  const rise = count - countBefore;
  if (rise === 1) return [];

  let found = "the same number";
  if (rise > 0) found = `${rise} more; does another client use this key?`;
  if (rise < 0) found = "less";
  const expected = "one more than in the response before";
  return [{ rules: ["R6", "R24"], at: "$.data.usage.today", expected, found }];
}

/** What a replacement keeps of its key; not the name of the organization, which may be spelled in several ways. */
const keptByReplacement = [
  { rule: "R26", path: ["limits", "per_minute"] },
  { rule: "R26", path: ["limits", "per_day"] },
  { rule: "R37", path: ["scopes"] },
  { rule: "R37", path: ["organization", "id"] },
] as const;

/** Compares what the key of `200.replacement` must have from that of `200.retiring`. */
function compareReplacement(
  successes: readonly CompletedAttempt[],
  replacement: CompletedAttempt,
): ResponseDifference[] {
  const olds = successes.filter(({ outcome }) => outcome === "200.retiring");
  const differences: ResponseDifference[] = [];
  for (const { rule, path } of keptByReplacement) {
    const texts = olds.map(({ response }) => memberText(response, path));
    const [textOfOld] = texts;
    const text = memberText(replacement.response, path);
    if (textOfOld === undefined || texts.includes(text)) continue;
    // A service may draw an id anew, and two comparisons of the service must be equal.
    const isId = path.at(-1) === "id";
    const expected = isId ? "the id of 200.retiring" : `${shownText(textOfOld)}, as for 200.retiring`;
    const found = isId ? "another id" : unlike(shownText(text), shownText(textOfOld));
    differences.push({ rules: [rule], at: placeOf(path), expected, found });
  }
  return differences;
}

/** Compares the scopes of a `SVC_KEY_WRONG_SCOPE` that got 200 with those that every working key has (R21). */
function compareScopes(
  withoutScope: CompletedAttempt,
  successes: readonly CompletedAttempt[],
): ResponseDifference[] {
  const scopes = readScopes(withoutScope);
  const [first, ...later] = successes.map(readScopes);
  const scopesOfAll = (first ?? []).filter((scope) => later.every((others) => others.includes(scope)));
  if (scopes.length === 0 || scopesOfAll.length === 0) return [];

  // A key with one of them may have the scope that the endpoint needs.
  if (scopesOfAll.some((scope) => scopes.includes(scope))) return [];
  const expected = `403, without the scope that each permitted key has: ${shownText(scopesOfAll.join(" or "))}`;
  const advice = "If the endpoint needs no scope, leave SVC_KEY_WRONG_SCOPE out";
  const found = `200 with ${shownText(scopes.join(", "))}. ${advice}`;
  return [{ rules: ["R21"], at: "status", expected, found }];
}

function readScopes({ response }: CompletedAttempt): string[] {
  const scopes = memberIn(response, ["data", "scopes"]);
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : [];
}

function placeOf(path: readonly string[]): string {
  return `$.data.${path.join(".")}`;
}

/** Returns a member of `data` as JSON, or `nothing`; the order of a list does not count. */
function memberText(response: RedactedResponse, path: readonly string[]): string {
  const value = memberIn(response, ["data", ...path]);
  if (!Array.isArray(value)) return JSON.stringify(value) ?? "nothing";
  return JSON.stringify(
    value
      .map((item) => JSON.stringify(item))
      .sort()
      .map((item) => JSON.parse(item)),
  );
}
