import { outcomeRow } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import type { ContractDifference, Findings, ResponseDifference, Unjudged } from "../contract/findings.js";
import {
  headerOf,
  memberIn,
  numberText,
  organizationIdPath,
  readDate,
  todayPath,
} from "../response/parts.js";
import { type RedactedResponse, shownText } from "../response/response.js";
import {
  type Attempt,
  type CompletedAttempt,
  describeAttempt,
  got200,
  rightful200s,
} from "../sending/attempt.js";
import { withRequest } from "./judge.js";

/** Compares the responses with status 200 with each other. */
export function compareSuccesses(attempts: readonly Attempt[]): Findings {
  const all200s = attempts.filter(got200);
  const differences = compareRequestIds(all200s);
  const unjudged: Unjudged[] = [];
  for (const key of new Set(all200s.map(({ apiKey }) => apiKey))) {
    const pairs = pairSuccesses(attempts.filter(({ apiKey }) => apiKey === key));
    // Of each kind, only the first difference counts.
    differences.push(
      ...pairs.flatMap(judgeCounts).slice(0, 1),
      ...pairs.flatMap(compareOrganization).slice(0, 1),
      ...pairs.flatMap(compareScopesOfKey).slice(0, 1),
    );
    unjudged.push(...findOpenCounts(pairs), ...findChanges(pairs));
  }

  // What different keys share, or must not share. A key that should get 403 for its scopes is only compared by these.
  const rightful = rightful200s(attempts);
  differences.push(...compareReplacement(rightful));
  const withoutScope = all200s.find(({ outcome }) => outcome === "403.insufficient_scope");
  if (withoutScope !== undefined) differences.push(...compareScopes(withoutScope, rightful));
  const changed = unjudged.filter(({ rule }) => rule === undefined);
  const notes = changed.map(({ at, outcomes, why }) => `${at} of ${outcomes.join()} was not judged: ${why}.`);
  return { differences, unjudged, notes };
}

/** No two responses may have the same request id (R7). */
function compareRequestIds(all200s: readonly CompletedAttempt[]): ContractDifference[] {
  const earlier = new Set<string>();
  const differences: ContractDifference[] = [];
  for (const attempt of all200s) {
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

/** Two 200s of a key, the later one after the earlier one. */
interface SuccessPair {
  readonly before: CompletedAttempt;
  readonly next: CompletedAttempt;
  /** The last request of the key between the two, which got no 200; `undefined` if there is none. */
  readonly between: Attempt | undefined;
}

/** Returns each 200 of a key with the 200 before it. */
function pairSuccesses(attemptsOfKey: readonly Attempt[]): SuccessPair[] {
  const pairs: SuccessPair[] = [];
  let before: CompletedAttempt | undefined;
  let between: Attempt | undefined;
  for (const attempt of attemptsOfKey) {
    if (!got200(attempt)) {
      between = attempt;
      continue;
    }
    if (before !== undefined) pairs.push({ before, next: attempt, between });
    before = attempt;
    between = undefined;
  }
  return pairs;
}

/** Returns how much `usage.today` rises in a pair; `undefined` if one of the two is no number, which is another difference. */
function riseOf({ before, next }: SuccessPair): number | undefined {
  const countBefore = memberIn(before.response, todayPath);
  const count = memberIn(next.response, todayPath);
  return typeof countBefore === "number" && typeof count === "number" ? count - countBefore : undefined;
}

/**
 * Returns why nobody can tell whether a pair counts; `undefined` if it shows that. Between two 200s, a new day may begin, and
 * with it the count again at 1; and nobody knows whether a service counts a request that got no 200.
 */
function whyCountIsOpen(pair: SuccessPair): string | undefined {
  const { before, next, between } = pair;
  if (between !== undefined) {
    return `a request between the two got ${describeAttempt(between)}, and may be counted`;
  }
  // From 1 to 1, only the dates can rule out a new day.
  if (memberIn(next.response, todayPath) !== 1 || riseOf(pair) !== 0) return undefined;
  const minuteBefore = Math.floor(readDate(before.response) / minute);
  const minuteOfNext = Math.floor(readDate(next.response) / minute);
  if (minuteBefore === minuteOfNext) return undefined;
  if (Number.isNaN(minuteBefore) || Number.isNaN(minuteOfNext)) {
    return "it is 1 twice, and without a Date, a new day may have begun in between";
  }
  return "it is 1 twice, in two minutes, and a new day may have begun in between";
}

/** `usage.today` must rise by one with each request of the key (R6, R24), or start again at 1 in a new day. */
function judgeCounts(pair: SuccessPair): ContractDifference[] {
  const rise = riseOf(pair);
  if (rise === undefined || rise === 1 || whyCountIsOpen(pair) !== undefined) return [];
  const isNewDay = memberIn(pair.next.response, todayPath) === 1 && rise < 0;
  if (isNewDay) return [];

  let found = "the same number";
  if (rise > 0) found = `${rise} more; does another client use this key?`;
  if (rise < 0) found = "less";
  const expected = "one more than in the response before";
  return [withRequest(pair.next, { rules: ["R6", "R24"], at: "$.data.usage.today", expected, found })];
}

/** Returns the counts of a key that stay open, if no pair shows whether its requests are counted. */
function findOpenCounts(pairs: readonly SuccessPair[]): Unjudged[] {
  const openCounts: Unjudged[] = [];
  for (const pair of pairs) {
    const why = whyCountIsOpen(pair);
    if (why === undefined) return [];
    const { outcome } = pair.next;
    // The 200 of a key that should be rejected has a reason of its own.
    if (outcomeRow(outcome).status !== 200) continue;
    openCounts.push({ outcomes: [outcome], rule: "R24", at: "$.data.usage.today", why });
  }
  return openCounts;
}

/** The organization of a key must stay the same (R2). */
function compareOrganization({ before, next }: SuccessPair): ContractDifference[] {
  const idBefore = memberIn(before.response, organizationIdPath);
  const id = memberIn(next.response, organizationIdPath);
  if (typeof idBefore !== "string" || typeof id !== "string" || idBefore === id) return [];
  const expected = "the id in the response before";
  const at = "$.data.organization.id";
  return [withRequest(next, { rules: ["R2"], at, expected, found: "another id" })];
}

/** What an owner can change at any time, or a service spell in several ways: no rule says that it stays. */
const changeable = [
  ["limits", "per_minute"],
  ["limits", "per_day"],
  ["organization", "name"],
  ["organization", "type"],
];

/** The members that are other ones in a later response to the same key. */
function findChanges(pairs: readonly SuccessPair[]): Unjudged[] {
  const changes: Unjudged[] = [];
  for (const path of changeable) {
    const changed = pairs.find(({ before, next }) => {
      const steps = ["data", ...path];
      return (
        JSON.stringify(memberIn(before.response, steps)) !== JSON.stringify(memberIn(next.response, steps))
      );
    });
    if (changed === undefined) continue;
    const why = "it changed between two responses to the same key";
    changes.push({ outcomes: [changed.next.outcome], at: `$.data.${path.join(".")}`, why });
  }
  return changes;
}

/** A key has the same scopes in each response (R4). */
function compareScopesOfKey({ before, next }: SuccessPair): ContractDifference[] {
  const [earlier, later] = [before, next].map((attempt) => scopesText(attempt));
  if (earlier === later) return [];
  const expected = "the scopes in the response before";
  return [withRequest(next, { rules: ["R4"], at: "$.data.scopes", expected, found: "other scopes" })];
}

function scopesText({ response }: CompletedAttempt): string {
  const scopes = memberIn(response, ["data", "scopes"]);
  return JSON.stringify(Array.isArray(scopes) ? [...scopes].sort() : scopes) ?? "nothing";
}

// What the 200s of different keys show together.

/** What a replacement keeps of its key; not the name of the organization, which may be spelled in several ways. */
const membersKeptByReplacement = [
  { rule: "R26", path: ["limits", "per_minute"] },
  { rule: "R26", path: ["limits", "per_day"] },
  { rule: "R37", path: ["scopes"] },
  { rule: "R37", path: ["organization", "id"] },
] as const;

/** Compares what the key of `200.replacement` must have from that of `200.retiring`. */
function compareReplacement(successes: readonly CompletedAttempt[]): ContractDifference[] {
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
function compareScopes(
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
