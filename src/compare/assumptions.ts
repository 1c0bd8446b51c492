import type { Assumptions } from "../rules/assumptions.js";
import { redact } from "../rules/keys/redact.js";
import { outcomeRow } from "../rules/outcomes.js";
import { day, minute } from "../rules/time.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { assumptionsSchema } from "../scenario/format/faults-and-assumptions.js";
import { defaultScopes, listedKeys, readLimits } from "../scenario/keys.js";
import { findMismatches } from "../schema/check.js";
import * as s from "../schema/shape.js";
import { isMapping } from "../schema/type-tag.js";
import { type Attempt, type CompletedAttempt, isJudged } from "./attempts.js";
import type { PromisedOutcomeId } from "./findings.js";
import { contractOutcomes, isLimit } from "./keys.js";
import {
  describeValue,
  headerOf,
  memberIn,
  perDayPath,
  perMinutePath,
  quoted,
  type RedactedResponse,
  retryAfterForm,
  shownText,
  wholeNumberIn,
} from "./response.js";

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
  return { words: `another challenge than one ApiKey, which begins with ${quoted(scheme)}` };
}

/** The `error.details` that the sandbox sends with a 403, by its code. A service may send any other value as code. */
const detailsByCode = new Map<unknown, s.Shape>([
  ["access_denied", s.mapping({ organization_status: s.text({ min: 1 }) })],
  ["live_access_not_approved", s.mapping({ live_access: s.text({ min: 1 }) })],
  ["insufficient_scope", s.mapping({ required_scope: s.text({ min: 1 }) })],
]);

function readDetails({ response, outcome }: CompletedAttempt): ShownAssumption | undefined {
  const error = memberIn(response, ["error"]);
  if (!isMapping(error)) return undefined;
  if (!Object.hasOwn(error, "details")) return valueShown(false);
  const { code, details } = error;
  if (!isMapping(details)) return { words: describeValue(details) };

  const ofLimit = s.mapping({
    limit: s.choice(["per_minute", "per_day"]),
    retry_after_seconds: s.integer({ min: 0, max: windowOfLimit(outcome) }),
  });
  const shape = response.status === 429 ? ofLimit : detailsByCode.get(code);
  if (shape !== undefined && findMismatches(shape, details, redact).length === 0) return valueShown(true);
  const names = Object.keys(details).sort();
  return { words: `details with ${names.length === 0 ? "no members" : shownText(names.join(", "))}` };
}

/** The window of the limit that a 429 is about, in seconds. */
function windowOfLimit(outcome: PromisedOutcomeId): number {
  return (outcome === "429.per_minute" ? minute : day) / 1000;
}

function readCode({ response }: CompletedAttempt): ShownAssumption {
  const code = memberIn(response, ["error", "code"]);
  if (typeof code !== "string") return { words: "no error.code" };
  const mismatches = findMismatches(assumptionsSchema, { rate_limit_code: code }, redact);
  return mismatches.length > 0 ? { words: quoted(code) } : valueShown(code);
}

function readRetryAfter({ response, outcome }: CompletedAttempt): ShownAssumption {
  const value = headerOf(response, "retry-after");
  if (value === undefined) return valueShown("none");
  const form = retryAfterForm(value);
  if (form === "invalid") return { words: "neither whole seconds nor an HTTP date" };
  // A number above the window of its limit is a time, or in other units.
  const window = windowOfLimit(outcome);
  const isTooLong = form === "seconds" && Number(value) > window;
  return isTooLong ? { words: `a number, more than ${window} s` } : valueShown(form);
}

/**
 * The two forms of the sandbox: `X-RateLimit-Limit: 60` and its like, and `RateLimit: "minute";r=12;t=30` with
 * `RateLimit-Policy: "minute";q=60;w=60`. A reset is in seconds, and no time of day.
 */
const limitForms = [
  {
    form: "legacy",
    names: "x-ratelimit-limit,x-ratelimit-remaining,x-ratelimit-reset",
    quotas: { name: "x-ratelimit-limit", pattern: /^(\d+)$/g },
    resets: { name: "x-ratelimit-reset", pattern: /^(\d+)$/g },
  },
  {
    form: "draft",
    names: "ratelimit,ratelimit-policy",
    quotas: { name: "ratelimit-policy", pattern: /; *q=(\d+)(?![\d.])/g },
    resets: { name: "ratelimit", pattern: /; *t=(\d+)(?![\d.])/g },
  },
];

/** Reads which form the limit headers have. Their quotas must be those of the key. */
function readLimitForm(
  { response, apiKey }: CompletedAttempt,
  all: readonly CompletedAttempt[],
): ShownAssumption {
  const names = response.headers.map(([name]) => name).filter((name) => /rate-?limit/i.test(name));
  if (names.length === 0) return valueShown("none");

  const different = [...new Set(names.map((name) => name.toLowerCase()))].sort().join();
  const limits = readLimitsOf(all.filter((attempt) => attempt.apiKey === apiKey));
  for (const row of limitForms) {
    const quotas = numbersIn(response, row.quotas);
    const resets = numbersIn(response, row.resets);
    // If no limit of a key is known, any may be its own.
    const areItsOwn = quotas.length > 0 && quotas.every((quota) => limits.size === 0 || limits.has(quota));
    const areSeconds = resets.length > 0 && resets.every((reset) => reset <= day / 1000);
    if (different === row.names && areItsOwn && areSeconds) return valueShown(row.form);
  }
  return { words: `another form of ${shownText([...new Set(names)].join(", "))}` };
}

function numbersIn(
  response: RedactedResponse,
  { name, pattern }: { readonly name: string; readonly pattern: RegExp },
): number[] {
  const text = headerOf(response, name) ?? "";
  return [...text.matchAll(pattern)].map(([, digits]) => Number(digits));
}

/** The limits in the 200s of a key. */
function readLimitsOf(attempts: readonly CompletedAttempt[]): ReadonlySet<number> {
  const limits = new Set<number>();
  for (const { response } of attempts) {
    for (const path of [perMinutePath, perDayPath]) {
      const limit = wholeNumberIn(response, path);
      if (limit !== undefined) limits.add(limit);
    }
  }
  return limits;
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
  const attempts: CompletedAttempt[] = [];
  for (const attempt of allAttempts) {
    const { outcome, response } = attempt;
    if (response?.status === outcomeRow(outcome).status && isJudged(attempt)) {
      attempts.push({ ...attempt, response });
    }
  }

  const assumptions: Record<string, LearnedAssumption> = {};
  const unseen: Record<string, string> = {};
  const notes: string[] = [];
  for (const [name, row] of Object.entries(assumptionRows)) {
    const readings = groupByShownValue(row, attempts);
    const [reading, ...otherReadings] = readings;
    if (reading === undefined) {
      unseen[name] = describeStatuses(row.statuses.slice(-1));
      continue;
    }
    const { value } = reading.shown;
    // The sandbox cannot do it in this way, or does it in one way only.
    if (value === undefined || otherReadings.length > 0) {
      notes.push(`${name} is not learned, because ${describeReadings(readings)}.`);
      continue;
    }

    const statuses = new Set(reading.attempts.map(({ response }) => response.status));
    const missing = (row.learnedOnlyWith?.(value) ?? []).filter((status) => !statuses.has(status));
    const from = listOutcomes(reading.attempts);
    if (missing.length > 0) {
      unseen[name] = `${describeStatuses(missing)}; ${from.join(", ")} shows ${reading.shown.words}`;
      continue;
    }
    const notSeen = findUnseen(row, reading.attempts);
    assumptions[name] = { value, from, ...(notSeen.length > 0 && { notSeen }) };
  }
  return { assumptions, unseen, seen: findSeenValues(attempts), notes };
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

/** Returns the statuses and limits that none of the attempts has, and whose responses could show another value. */
function findUnseen(
  row: AssumptionRow,
  attempts: readonly CompletedAttempt[],
): (number | PromisedOutcomeId)[] {
  const statuses = new Set(attempts.map(({ response }) => response.status));
  const outcomes = new Set(attempts.map(({ outcome }) => outcome));
  const unseen: (number | PromisedOutcomeId)[] = row.statuses.filter((status) => !statuses.has(status));
  // A gateway can send the 429 of the minute, and the service that of the day: each shows nothing of the other.
  if (!statuses.has(429)) return unseen;
  for (const { outcome } of contractOutcomes) {
    if (isLimit(outcome) && !outcomes.has(outcome)) unseen.push(outcome);
  }
  return unseen;
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
