import { type Assumptions, assumptionTable } from "../../rules/assumptions.js";
import { redact } from "../../rules/keys/redact.js";
import { day, minute } from "../../rules/time.js";
import { assumptionsSchema } from "../../scenario/format/step-shapes.js";
import { findMismatches } from "../../schema/check.js";
import { isMapping } from "../../schema/type-tag.js";
import type { PromisedOutcomeId } from "../contract/findings.js";
import { contractOutcomes, isLimit } from "../contract/keys-of-outcomes.js";
import { describeInvalidWait, describeValue } from "../response/describe.js";
import { headerOf, memberIn, readChallenge, readDate, retryAfterForm } from "../response/parts.js";
import { quoted, shownText } from "../response/response.js";
import { type Attempt, type CompletedAttempt, reachedItsOutcome } from "../sending/attempt.js";
import { type LimitHeaders, readLimitHeaders } from "./limit-headers.js";

/** What a response shows of an assumption. Without a value, it is something that the assumption cannot have. */
interface ShownAssumption {
  readonly value?: string | boolean;
  readonly words: string;
}

/** An attempt to read, and what the responses together tell of its own. */
interface ReadContext {
  readonly attempt: CompletedAttempt;
  /** The challenge of the response without the words that vary. */
  readonly challenge: string;
  readonly limitHeaders: LimitHeaders;
}

/** How responses show an assumption. */
interface AssumptionRow {
  /** The responses that can show it. The last of these is named to a reader who has seen none. */
  readonly statuses: readonly number[];
  /** Returns `undefined` if the response does not show it. */
  readonly read: (context: ReadContext) => ShownAssumption | undefined;
  /** The statuses that must all have shown this value before it is learned. Default: none, so any response is enough. */
  readonly learnedOnlyWith?: (value: ShownAssumption["value"]) => readonly number[];
}

/** The assumptions that show in single responses. */
const assumptionRows: Readonly<Partial<Record<keyof Assumptions, AssumptionRow>>> = {
  // Often a gateway sends the 429, and the service behind it everything else.
  request_id_on_errors: {
    statuses: [401, 403, 429],
    read: readRequestId,
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

type IsOfForm = (value: unknown) => boolean;
const isName: IsOfForm = (value) => typeof value === "string" && value !== "";

/**
 * The members of `error.details` that the sandbox sends with a 403, by its code, and their forms. A service may send any other
 * value as code.
 */
const membersByCode: ReadonlyMap<unknown, Readonly<Record<string, IsOfForm>>> = new Map([
  ["access_denied", { organization_status: isName }],
  ["live_access_not_approved", { live_access: isName }],
  ["insufficient_scope", { required_scope: isName }],
]);
/** The members of `error.details` that the sandbox sends with a 429. */
const limitMembers: Readonly<Record<string, IsOfForm>> = {
  limit: (value) => value === "per_minute" || value === "per_day",
  retry_after_seconds: (value) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= day / 1000,
};

function valueShown(value: string | boolean): ShownAssumption {
  return { value, words: shownText(String(value)) };
}

function anotherForm(words: string): ShownAssumption {
  return { words };
}

function readRequestId({ attempt }: ReadContext): ShownAssumption {
  return valueShown(Boolean(headerOf(attempt.response, "x-request-id")));
}

/** `true` is one challenge `ApiKey`, and not `Basic`, at which a browser asks for a password. */
function readApiKeyChallenge({ attempt, challenge }: ReadContext): ShownAssumption {
  const parts = readChallenge(attempt.response);
  switch (parts.kind) {
    case "none":
      return valueShown(false);
    case "one":
      if (parts.scheme.toLowerCase() === "apikey") return valueShown(true);
      return anotherForm(quoted(challenge));
    case "another_text":
      return anotherForm(quoted(challenge));
  }
}

function readDetails({ attempt }: ReadContext): ShownAssumption | undefined {
  const { response } = attempt;
  const error = memberIn(response, ["error"]);
  if (!isMapping(error)) return undefined;
  if (!Object.hasOwn(error, "details")) return valueShown(false);
  const { code, details } = error;
  if (!isMapping(details)) return anotherForm(describeValue(details));

  const members = response.status === 429 ? limitMembers : membersByCode.get(code);
  const names = Object.keys(details);
  if (members === undefined || names.sort().join() !== Object.keys(members).sort().join()) {
    return anotherForm(`details with ${names.length === 0 ? "no members" : shownText(names.join(", "))}`);
  }
  for (const [name, isOfForm] of Object.entries(members)) {
    if (!isOfForm(details[name]) || isOfOtherLimit(name, details[name], attempt)) {
      return anotherForm(`details with another form of ${name}`);
    }
  }
  return valueShown(true);
}

/** Whether the wait of a 429 cannot be seconds: it is more than the window of its limit. */
function isOfOtherLimit(name: string, value: unknown, { outcome }: CompletedAttempt): boolean {
  return name === "retry_after_seconds" && outcome === "429.per_minute" && Number(value) > minute / 1000;
}

function readCode({ attempt }: ReadContext): ShownAssumption {
  const code = memberIn(attempt.response, ["error", "code"]);
  if (typeof code !== "string") return anotherForm("no error.code");
  const mismatches = findMismatches(assumptionsSchema, { rate_limit_code: code }, redact);
  if (mismatches.length > 0) return anotherForm(quoted(code));
  return valueShown(code);
}

function readRetryAfter({ attempt }: ReadContext): ShownAssumption {
  const { response, outcome } = attempt;
  const value = headerOf(response, "retry-after");
  if (value === undefined) return valueShown("none");
  const form = retryAfterForm(value);
  if (form === "old_date") return anotherForm("a date in a form that is not sent any more");
  if (form === "invalid") return anotherForm(describeInvalidWait(value));

  // A wait above the window of its limit is a time, or in other units.
  const window = (outcome === "429.per_minute" ? minute : day) / 1000;
  if (form === "seconds") {
    return Number(value) > window ? anotherForm(`a number, more than ${window} s`) : valueShown(form);
  }
  // A date is whole seconds, and so is the time of the response: the wait can seem 2 s longer than it is.
  const wait = (Date.parse(value) - readDate(response)) / 1000;
  return wait > window + 2 ? anotherForm(`a date, more than ${window} s`) : valueShown(form);
}

function readLimitForm({ limitHeaders }: ReadContext): ShownAssumption {
  switch (limitHeaders.kind) {
    case "none":
      return valueShown("none");
    case "counted":
      return valueShown(limitHeaders.form);
    case "another_form":
      return anotherForm(limitHeaders.words);
  }
}

/** After and before each space, comma and quotation mark, and after `=`: `nonce="a1"` has `nonce=`, `"`, `a1` and `"`. */
const betweenWords = /(?<=[\s=,"])|(?=[\s,"])/;

/**
 * Returns the challenge of each response, empty without one. Words that two responses to one cause do not share, such as a
 * nonce, are `…`: so the report shows a challenge once, and not with each nonce.
 */
export function stableChallenges(
  attempts: readonly CompletedAttempt[],
): ReadonlyMap<CompletedAttempt, string> {
  // A word that varies for one cause is `…` for all: if a nonce is only drawn anew for unknown keys, the challenges of all
  // causes can still be equal.
  const varying = new Set<string>();
  const firstByOutcome = new Map<string, readonly string[]>();
  for (const attempt of attempts) {
    const words = wordsOfChallenge(attempt);
    const first = firstByOutcome.get(attempt.outcome) ?? words;
    firstByOutcome.set(attempt.outcome, first);
    // A text of another length than the first one is another challenge.
    if (words.length !== first.length) continue;
    for (const [index, word] of words.entries()) {
      if (word !== first[index]) varying.add(`${index} of ${words.length}`);
    }
  }

  const challenges = new Map<CompletedAttempt, string>();
  for (const attempt of attempts) {
    const words = wordsOfChallenge(attempt);
    const stable = words.map((word, index) => (varying.has(`${index} of ${words.length}`) ? "…" : word));
    challenges.set(attempt, stable.join(""));
  }
  return challenges;
}

function wordsOfChallenge({ response }: CompletedAttempt): readonly string[] {
  return (headerOf(response, "www-authenticate") ?? "").split(betweenWords);
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
  const challenges = stableChallenges(attempts);
  const limitHeaders = readLimitHeaders(attempts);
  const contexts = attempts.map((attempt): ReadContext => {
    const challenge = challenges.get(attempt) ?? "";
    return { attempt, challenge, limitHeaders: limitHeaders.get(attempt) ?? { kind: "none" } };
  });

  const assumptions: Record<string, LearnedAssumption> = {};
  const unseen: Record<string, string> = {};
  const notes: string[] = [];
  for (const [name, row] of Object.entries(assumptionRows)) {
    const readings = groupByShownValue(row, contexts);
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
  return { assumptions, unseen, notes: [...notes, ...notesOnScope(attempts)] };
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
function groupByShownValue(row: AssumptionRow, contexts: readonly ReadContext[]): Reading[] {
  const readingsByText = new Map<string, Reading>();
  for (const context of contexts) {
    const { attempt } = context;
    if (!row.statuses.includes(attempt.response.status)) continue;
    const shown = row.read(context);
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
  if (rejected === undefined) return [];
  const details = memberIn(rejected.response, ["error", "details"]);
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
export function listOutcomes(
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
