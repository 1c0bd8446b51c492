import { type Assumptions, assumptionTable } from "../rules/assumptions.js";
import { redact } from "../rules/keys/redact.js";
import { day, minute } from "../rules/time.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { assumptionsSchema } from "../scenario/format/step-shapes.js";
import { defaultScopes, listedKeys, readLimits } from "../scenario/keys.js";
import { findMismatches } from "../schema/check.js";
import { isMapping } from "../schema/type-tag.js";
import type { PromisedOutcomeId } from "./findings.js";
import { contractOutcomes, isLimit } from "./keys.js";
import {
  describeInvalidWait,
  describeValue,
  headerOf,
  memberIn,
  perDayPath,
  perMinutePath,
  retryAfterForm,
  wholeNumberIn,
} from "./read-response.js";
import { quoted, type RedactedResponse, shownText } from "./response.js";
import { type Attempt, type CompletedAttempt, reachedItsOutcome } from "./session.js";

// What the specification leaves open, as responses show it. A value is learned from the responses that have the status of their
// outcome, if all show the same one, and the sandbox can do it in this way; anything else is a note.

/** What a response shows of an assumption. Without a value, it is something that the assumption cannot have. */
interface ShownAssumption {
  readonly value?: string | boolean;
  readonly words: string;
}

/** How responses show an assumption. */
interface AssumptionRow {
  /** The responses that can show it. The last of these is named to a reader who has seen none. */
  readonly statuses: readonly number[];
  /** Returns `undefined` if the response does not show it. */
  readonly read: (attempt: CompletedAttempt, all: readonly CompletedAttempt[]) => ShownAssumption | undefined;
  /** The statuses that must all have shown this value before it is learned. Default: none, so any response is enough. */
  readonly learnedOnlyWith?: (value: ShownAssumption["value"]) => readonly number[];
}

/** The assumptions that show in single responses. */
const assumptionRows: Readonly<Partial<Record<keyof Assumptions, AssumptionRow>>> = {
  // Often a gateway sends the 429, and the service behind it everything else.
  request_id_on_errors: {
    statuses: [401, 403, 429],
    read: ({ response }) => valueShown(Boolean(headerOf(response, "x-request-id"))),
    learnedOnlyWith: () => [401, 429],
  },
  www_authenticate: { statuses: [401], read: readApiKeyChallenge },
  error_details: { statuses: [403, 429], read: readDetails, learnedOnlyWith: () => [429] },
  rate_limit_code: { statuses: [429], read: readCode },
  retry_after: { statuses: [429], read: readRetryAfter },
  rate_limit_headers: {
    statuses: [200, 429],
    read: readLimitForm,
    // Many services send them only with a 429.
    learnedOnlyWith: (value) => (value === "none" ? [429] : []),
  },
};

function valueShown(value: string | boolean): ShownAssumption {
  return { value, words: shownText(String(value)) };
}

function anotherForm(words: string): ShownAssumption {
  return { words };
}

/** `ApiKey`, or `ApiKey realm="api", max_age=60`. */
const oneApiKeyChallenge =
  /^ApiKey(?: +[\w-]+ *= *(?:"[^"]*"|[^\s",]+)(?: *, *[\w-]+ *= *(?:"[^"]*"|[^\s",]+))*)?$/i;

/** `true` is one challenge `ApiKey`, and not `Basic`, at which a browser asks for a password. */
function readApiKeyChallenge({ response }: CompletedAttempt): ShownAssumption {
  const challenge = headerOf(response, "www-authenticate");
  if (challenge === undefined) return valueShown(false);
  if (oneApiKeyChallenge.test(challenge)) return valueShown(true);
  // Without parameters, of which some are new each time.
  const [scheme = ""] = challenge.split(/[\s,]/);
  return anotherForm(`another challenge than one ApiKey, which begins with ${quoted(scheme)}`);
}

const isName = (value: unknown) => typeof value === "string" && value !== "";

/**
 * The members of `error.details` that the sandbox sends with a 403, by its code, and their forms. A service may send any other
 * value as code.
 */
const membersByCode: ReadonlyMap<unknown, Readonly<Record<string, (value: unknown) => boolean>>> = new Map([
  ["access_denied", { organization_status: isName }],
  ["live_access_not_approved", { live_access: isName }],
  ["insufficient_scope", { required_scope: isName }],
]);

function readDetails({ response, outcome }: CompletedAttempt): ShownAssumption | undefined {
  const error = memberIn(response, ["error"]);
  if (!isMapping(error)) return undefined;
  if (!Object.hasOwn(error, "details")) return valueShown(false);
  const { code, details } = error;
  if (!isMapping(details)) return anotherForm(describeValue(details));

  const window = windowOfLimit(outcome);
  const membersOfLimit = {
    limit: (value: unknown) => value === "per_minute" || value === "per_day",
    retry_after_seconds: (value: unknown) =>
      Number.isInteger(value) && Number(value) >= 0 && Number(value) <= window,
  };
  const members = response.status === 429 ? membersOfLimit : membersByCode.get(code);
  const names = Object.keys(details).sort();
  if (members === undefined || names.join() !== Object.keys(members).sort().join()) {
    return anotherForm(`details with ${names.length === 0 ? "no members" : shownText(names.join(", "))}`);
  }
  for (const [name, isOfForm] of Object.entries(members)) {
    if (!isOfForm(details[name])) return anotherForm(`details with another form of ${name}`);
  }
  return valueShown(true);
}

/** The window of the limit that a 429 is about, in seconds. */
function windowOfLimit(outcome: PromisedOutcomeId): number {
  return (outcome === "429.per_minute" ? minute : day) / 1000;
}

function readCode({ response }: CompletedAttempt): ShownAssumption {
  const code = memberIn(response, ["error", "code"]);
  if (typeof code !== "string") return anotherForm("no error.code");
  const mismatches = findMismatches(assumptionsSchema, { rate_limit_code: code }, redact);
  return mismatches.length > 0 ? anotherForm(quoted(code)) : valueShown(code);
}

function readRetryAfter({ response, outcome }: CompletedAttempt): ShownAssumption {
  const value = headerOf(response, "retry-after");
  if (value === undefined) return valueShown("none");
  const form = retryAfterForm(value);
  if (form === "invalid") return anotherForm(describeInvalidWait(value));
  // A number above the window of its limit is a time, or in other units.
  const window = windowOfLimit(outcome);
  const isTooLong = form === "seconds" && Number(value) > window;
  return isTooLong ? anotherForm(`a number, more than ${window} s`) : valueShown(form);
}

const legacyNames = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const draftNames = ["ratelimit", "ratelimit-policy"];

/**
 * Reads which of the two forms of the sandbox the limit headers have: `legacy` is `X-RateLimit-Limit`, `-Remaining` and `-Reset`,
 * `draft` is `RateLimit` and `RateLimit-Policy`. Their quotas must be those of the key, and a reset no time of day.
 */
function readLimitForm(
  { response, apiKey }: CompletedAttempt,
  all: readonly CompletedAttempt[],
): ShownAssumption {
  const names = response.headers.map(([name]) => name).filter((name) => /rate-?limit/i.test(name));
  if (names.length === 0) return valueShown("none");
  const sorted = [...new Set(names.map((name) => name.toLowerCase()))].sort().join();
  const quotas = readQuotas(all.filter((attempt) => attempt.apiKey === apiKey));
  if (sorted === legacyNames.join() && isLegacy(response, quotas)) return valueShown("legacy");
  if (sorted === draftNames.join() && isDraft(response, quotas)) return valueShown("draft");
  return anotherForm(`another form of ${shownText([...new Set(names)].join(", "))}`);
}

function isLegacy(response: RedactedResponse, quotas: ReadonlySet<number>): boolean {
  const [quota, remaining, reset] = legacyNames.map((name) =>
    readWholeNumber(headerOf(response, name) ?? ""),
  );
  return isQuota(quota, quotas) && remaining !== undefined && isReset(reset);
}

/** `RateLimit` is such as `"minute";r=12;t=30`, and `RateLimit-Policy` such as `"minute";q=60;w=60`. */
function isDraft(response: RedactedResponse, quotas: ReadonlySet<number>): boolean {
  const arePolicies = listItems(headerOf(response, "ratelimit-policy")).every((item) => {
    return isQuota(readParameter(item, "q"), quotas) && isReset(readParameter(item, "w"));
  });
  const areLimits = listItems(headerOf(response, "ratelimit")).every((item) => {
    return readParameter(item, "r") !== undefined && isReset(readParameter(item, "t"));
  });
  return arePolicies && areLimits;
}

/** The parts of each item of a list. A comma before a name separates two items. */
function listItems(list = ""): string[][] {
  const items = list.split(/, *(?=["a-z])/i);
  return items.map((item) => item.split(";").map((part) => part.trim()));
}

function readParameter(item: readonly string[], letter: string): number | undefined {
  const parameter = item.find((part) => part.startsWith(`${letter}=`));
  return readWholeNumber(parameter?.slice(2) ?? "");
}

/** Reads up to fifteen digits, which a number has exactly; `undefined` for anything else. */
function readWholeNumber(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const isReset = (seconds: number | undefined) => seconds !== undefined && seconds <= day / 1000;

/** If no limit of a key is known, any may be its own. */
function isQuota(quota: number | undefined, quotas: ReadonlySet<number>): boolean {
  return quota !== undefined && (quotas.size === 0 || quotas.has(quota));
}

function readQuotas(attempts: readonly CompletedAttempt[]): ReadonlySet<number> {
  const quotas = new Set<number>();
  for (const { response } of attempts) {
    for (const path of [perMinutePath, perDayPath]) {
      const quota = wholeNumberIn(response, path);
      if (quota !== undefined) quotas.add(quota);
    }
  }
  return quotas;
}

interface LearnedAssumption {
  readonly value: string | boolean;
  /** `each 401` if several outcomes with this status show it, otherwise the outcome. */
  readonly from: readonly string[];
  /** The statuses and limits that no response had, and whose responses could show another value. */
  readonly notSeen?: readonly (number | PromisedOutcomeId)[];
}

export interface Learned {
  readonly assumptions: Readonly<Record<string, LearnedAssumption>>;
  /** What would show the assumptions that no response has shown. */
  readonly unseen: Readonly<Record<string, string>>;
  /** What no assumption sets, and no key of `key-states` has, by its name. */
  readonly seen: Readonly<Record<string, readonly LearnedAssumption[]>>;
  readonly notes: readonly string[];
}

/** What responses show of an assumption, and the attempts with these responses. */
interface Reading {
  readonly shown: ShownAssumption;
  readonly attempts: readonly CompletedAttempt[];
}

/** Returns the assumptions that the responses of a service show: each is learned, needs other responses, or is only noted. */
export function learnAssumptions(allAttempts: readonly Attempt[]): Learned {
  const attempts = allAttempts.filter(reachedItsOutcome);
  const assumptions: Record<string, LearnedAssumption> = {};
  const unseen: Record<string, string> = {};
  const notes: string[] = [];
  for (const [name, row] of Object.entries(assumptionRows)) {
    const readings = groupByShownValue(row, attempts);
    const [reading, ...otherReadings] = readings;
    if (reading === undefined) {
      unseen[name] = describeStatuses(row.statuses.slice(-1));
    } else if (reading.shown.value === undefined || otherReadings.length > 0) {
      // The sandbox cannot do it in this way, or does it in one way only.
      notes.push(`${name} is not learned, because ${describeReadings(readings)}.`);
    } else {
      const needs = describeNeeds(row, reading);
      if (needs === undefined) assumptions[name] = learnValue(row, reading, reading.shown.value);
      else unseen[name] = needs;
    }
  }
  return {
    assumptions,
    unseen,
    seen: findSeenValues(attempts),
    notes: [...notes, ...notesOnScope(attempts)],
  };
}

/** Returns the responses that could show another value, in words; `undefined` if the value is learned without them. */
function describeNeeds(row: AssumptionRow, { shown, attempts }: Reading): string | undefined {
  const seen = new Set(attempts.map(({ response }) => response.status));
  const needed = (row.learnedOnlyWith?.(shown.value) ?? []).filter((status) => !seen.has(status));
  if (needed.length === 0) return undefined;
  return `${describeStatuses(needed)}; ${listOutcomes(attempts).join(", ")} shows ${shown.words}`;
}

function learnValue(row: AssumptionRow, { attempts }: Reading, value: string | boolean): LearnedAssumption {
  const seen = new Set(attempts.map(({ response }) => response.status));
  const missingStatuses = row.statuses.filter((status) => !seen.has(status));
  const notSeen = [...missingStatuses, ...listMissingLimits(attempts)];
  return { value, from: listOutcomes(attempts), ...(notSeen.length > 0 && { notSeen }) };
}

/** Describes the responses that a reader has to get: `a 401 and a 429 (--probe-limits)`. */
function describeStatuses(statuses: readonly number[]): string {
  const words = statuses.map((status) => (status === 429 ? "a 429 (--probe-limits)" : `a ${status}`));
  return words.join(" and ");
}

/** Reads an assumption in each response that shows it. Responses that show the same value are one reading. */
function groupByShownValue(row: AssumptionRow, attempts: readonly CompletedAttempt[]): Reading[] {
  const readingsByText = new Map<string, Reading>();
  for (const attempt of attempts) {
    if (!row.statuses.includes(attempt.response.status)) continue;
    const shown = row.read(attempt, attempts);
    if (shown === undefined) continue;

    // Not the words of a value: those of a long value are cut off, and two long values can begin alike.
    const text = shown.value === undefined ? shown.words : String(shown.value);
    const earlier = readingsByText.get(text) ?? { shown, attempts: [] };
    readingsByText.set(text, { shown: earlier.shown, attempts: [...earlier.attempts, attempt] });
  }
  return [...readingsByText.values()];
}

/** What is shown in several ways, or in another form: `it is seen in several ways: "slow" (429.per_day); "fast" (429.per_minute)`. */
function describeReadings(readings: readonly Reading[]): string {
  const attemptsRead = readings.flatMap(({ attempts }) => attempts);
  const listed: string[] = [];
  for (const { shown, attempts } of readings) {
    listed.push(`${shown.words} (${listOutcomes(attempts, attemptsRead).join(", ")})`);
  }
  const isAnyValue = readings.some(({ shown }) => shown.value !== undefined);
  const why = isAnyValue ? "it is seen in several ways" : "the assumption does not have this value";
  return `${why}: ${listed.join("; ")}`;
}

/** Returns the limit whose 429 is missing, if the attempts have that of the other one. */
function listMissingLimits(attempts: readonly CompletedAttempt[]): PromisedOutcomeId[] {
  const limits = contractOutcomes.map(({ outcome }) => outcome).filter(isLimit);
  const outcomes = new Set(attempts.map(({ outcome }) => outcome));
  // A gateway can send the 429 of the minute, and the service that of the day: each shows nothing of the other.
  const missing = limits.filter((limit) => !outcomes.has(limit));
  return missing.length === limits.length ? [] : missing;
}

/** The scope of the endpoint is an assumption that nothing sets: an error may name it. */
function notesOnScope(attempts: readonly CompletedAttempt[]): string[] {
  const rejected = attempts.find(({ outcome }) => outcome === "403.insufficient_scope");
  const details = rejected && memberIn(rejected.response, ["error", "details"]);
  if (!isMapping(details)) return [];
  const named = Object.entries(details).find(
    ([name, value]) => /scope/i.test(name) && typeof value === "string",
  );
  const scope = named?.[1];
  if (typeof scope !== "string" || scope === assumptionTable.me_scope.minimal) return [];
  return [
    `403.insufficient_scope names the scope ${quoted(scope)}: set it with me_scope, and in the scopes of your scenario's keys.`,
  ];
}

/** The limits and scopes in 200s that no key of `key-states` has. */
function findSeenValues(attempts: readonly CompletedAttempt[]): Learned["seen"] {
  const inKeyStates = new Set<string>();
  for (const { fields } of listedKeys(bundledScenarios["key-states"])) {
    const { perMinute, perDay } = readLimits(fields.limits);
    inKeyStates.add(`per_minute ${perMinute}`).add(`per_day ${perDay}`);
    inKeyStates.add(`scopes ${describeScopes(fields.scopes ?? defaultScopes)}`);
  }

  const successes = attempts.filter(({ response }) => response.status === 200);
  const seen: Record<string, LearnedAssumption[]> = {};
  for (const [name, path] of [
    ["per_minute", perMinutePath],
    ["per_day", perDayPath],
    ["scopes", ["data", "scopes"]],
  ] as const) {
    const values = new Map<string, CompletedAttempt[]>();
    for (const attempt of successes) {
      const member = memberIn(attempt.response, path);
      if (typeof member !== "number" && !Array.isArray(member)) continue;
      const value = Array.isArray(member) ? describeScopes(member) : String(member);
      if (inKeyStates.has(`${name} ${value}`)) continue;
      values.set(value, [...(values.get(value) ?? []), attempt]);
    }
    for (const [value, some] of values) {
      seen[name] ??= [];
      seen[name].push({ value, from: listOutcomes(some, successes) });
    }
  }
  return seen;
}

function describeScopes(scopes: readonly unknown[]): string {
  const texts = scopes.filter((scope) => typeof scope === "string");
  return shownText(texts.sort().join(", "));
}

/** Where an assumption is from: `each 401, 429.per_minute; not seen: 403`. */
export function whereSeen({ from, notSeen }: LearnedAssumption): string {
  const sources = from.join(", ");
  if (notSeen === undefined) return sources;
  return `${sources}; not seen: ${notSeen.join(", ")}`;
}

/**
 * Names the outcomes of the attempts that show one value: `each 401` in place of several, if all attempts with this status
 * that were read show it.
 */
function listOutcomes(
  attempts: readonly CompletedAttempt[],
  attemptsRead: readonly CompletedAttempt[] = attempts,
): string[] {
  const words: string[] = [];
  for (const status of new Set(attempts.map(({ response }) => response.status))) {
    const attemptsOfStatus = attempts.filter(({ response }) => response.status === status);
    const allOfStatus = attemptsRead.filter(({ response }) => response.status === status);
    const outcomes = new Set(attemptsOfStatus.map(({ outcome }) => outcome));
    const isEach = attemptsOfStatus.length === allOfStatus.length;
    if (isEach && outcomes.size > 1) words.push(`each ${status}`);
    else words.push(...outcomes);
  }
  return words;
}
