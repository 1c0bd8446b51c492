import { type Assumptions, assumptionTable } from "../rules/assumptions.js";
import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { redactEncoded } from "../rules/redact.js";
import { day, minute } from "../rules/time.js";
import { assumptionsSchema } from "../scenario/format/step-shapes.js";
import { findMismatches } from "../schema/check.js";
import { isMapping } from "../schema/shape.js";
import { type CompletedAttempt, listOutcomes } from "./attempt.js";
import { stableChallenges } from "./challenges.js";
import { type KeyLimit, limitHeaderForm, limitHeaderNames } from "./limit-headers.js";
import {
  describeValue,
  headerOf,
  memberIn,
  numberText,
  perDayPath,
  perMinutePath,
  quoted,
  type RedactedResponse,
  readDate,
  retryAfterForm,
  shownText,
} from "./response.js";

type LearnedValue = string | boolean;

/** What a response shows of an assumption, in words; without a value, it is a form that the assumption does not have. */
interface ShownValue {
  readonly words: string;
  readonly value?: LearnedValue;
}

/** What else than the response tells what it shows. */
interface ReadContext {
  readonly outcome: PromisedOutcomeId;
  /** Its challenge without the words that vary. */
  readonly challenge: string;
  /** The limits that the 200s of its key show; empty if there is none. */
  readonly limits: readonly KeyLimit[];
}

/** How responses show an assumption. */
interface AssumptionRow {
  /** The responses that can show it. */
  readonly statuses: readonly number[];
  /** Returns `undefined` if the response shows nothing. */
  readonly read: (response: RedactedResponse, context: ReadContext) => ShownValue | undefined;
  /** The statuses without which the value is not seen. Default: any one shows it. */
  readonly required?: (value: LearnedValue) => readonly number[];
  /** What would show it, for a reader who has not seen it. */
  readonly needs: string;
}

/** What one response shows. */
interface Reading extends ShownValue {
  readonly attempt: CompletedAttempt;
  /** The whole text: words are cut off. */
  readonly text: string;
}

/** One value with everything that shows it. */
interface DistinctReading extends ShownValue {
  readonly statuses: readonly number[];
  /** The outcomes. */
  readonly from: readonly string[];
}

interface LearnedAssumption {
  readonly value: LearnedValue;
  /** `each 401` if several outcomes with this status show it, otherwise the outcome. */
  readonly from: readonly string[];
  /** The statuses that could show another value, and were not seen; left out if there is none. */
  readonly notSeen?: readonly number[];
}

export interface Learned {
  readonly assumptions: Readonly<Record<string, LearnedAssumption>>;
  /** What would show the others. */
  readonly unseen: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

const a429 = "a 429 (--probe-limits)";

/** The assumptions that show in single responses. */
const assumptionRows: Readonly<Partial<Record<keyof Assumptions, AssumptionRow>>> = {
  // Often a gateway sends the 429, and the service behind it everything else.
  request_id_on_errors: {
    statuses: [401, 403, 429],
    read: (response) => shownAs(Boolean(headerOf(response, "x-request-id"))),
    required: () => [401, 429],
    needs: a429,
  },
  www_authenticate: { statuses: [401], read: readChallenge, needs: "a 401" },
  error_details: { statuses: [403, 429], read: readDetails, required: () => [429], needs: a429 },
  rate_limit_code: { statuses: [429], read: readCode, needs: a429 },
  retry_after: { statuses: [429], read: readRetryAfter, needs: a429 },
  rate_limit_headers: {
    statuses: [200, 429],
    read: readLimitHeaders,
    // Many services send them only with a 429.
    required: (value) => (value === "none" ? [429] : []),
    needs: a429,
  },
};

const challengeParameter = '[\\w-]+ *= *(?:"[^"]*"|[^\\s",]+)';
/** One challenge with the scheme of the sandbox: a browser asks for a password at `Basic`. */
const ownChallenge = new RegExp(`^ApiKey(?: +${challengeParameter}(?: *, *${challengeParameter})*)?$`, "i");

/** The members of `error.details` that the sandbox sends with a 403, by its code. */
const detailMembers: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["access_denied", ["organization_status"]],
  ["live_access_not_approved", ["live_access"]],
  ["insufficient_scope", ["required_scope"]],
]);
/** Those that it sends with a 429. */
const limitMembers = ["limit", "retry_after_seconds"];

/** Returns the assumptions that the responses of a service show. */
export function learnAssumptions(attempts: readonly CompletedAttempt[]): Learned {
  const assumptions: Record<string, LearnedAssumption> = {};
  const unseen: Record<string, string> = {};
  const notes: string[] = [];
  for (const [name, row] of Object.entries(assumptionRows)) {
    const readings = mergeReadings(readEach(row, attempts));
    const [first] = readings;
    if (first === undefined) {
      unseen[name] = row.needs;
      continue;
    }

    // What the sandbox cannot do in this way, or in one way, is only a note.
    const hasValue = readings.some(({ value }) => value !== undefined);
    if (!hasValue) {
      notes.push(noteOnReadings(name, "the assumption does not have this value", readings));
      continue;
    }
    if (first.value === undefined || readings.length > 1) {
      notes.push(noteOnReadings(name, "it is seen in several ways", readings));
      continue;
    }

    // All responses show one value: now it counts whether those that could show another one are among them.
    const required = row.required?.(first.value) ?? [];
    if (required.every((status) => first.statuses.includes(status)))
      assumptions[name] = learnValue(row, first, first.value);
    else unseen[name] = `${row.needs}; ${first.from.join(", ")} shows ${first.words}`;
  }
  return { assumptions, unseen, notes: [...notes, ...notesOnScope(attempts)] };
}

/** Reads an assumption in each response that shows it. */
function readEach(row: AssumptionRow, attempts: readonly CompletedAttempt[]): Reading[] {
  const challenges = stableChallenges(attempts);
  const readings: Reading[] = [];
  for (const attempt of attempts) {
    const { outcome, response } = attempt;
    if (!row.statuses.includes(response.status)) continue;

    const challenge = challenges.get(attempt) ?? "";
    const limits = collectLimits(attempt, attempts);
    const shown = row.read(response, { outcome, challenge, limits });
    if (shown === undefined) continue;
    const text = String(shown.value ?? shown.words);
    readings.push({ ...shown, attempt, text });
  }
  return readings;
}

/** Returns the limits in the 200s of an attempt's key. */
function collectLimits({ apiKey }: CompletedAttempt, attempts: readonly CompletedAttempt[]): KeyLimit[] {
  const limits: KeyLimit[] = [];
  for (const other of attempts) {
    const { response } = other;
    if (other.apiKey !== apiKey || response.status !== 200) continue;
    limits.push({ quota: numberText(response, perMinutePath), window: minute / 1000 });
    limits.push({ quota: numberText(response, perDayPath), window: day / 1000 });
  }
  return limits;
}

/** Merges the readings with the same text. */
function mergeReadings(readings: readonly Reading[]): DistinctReading[] {
  const distinct: DistinctReading[] = [];
  for (const text of new Set(readings.map((reading) => reading.text))) {
    const same = readings.filter((reading) => reading.text === text);
    const [first] = same;
    if (first === undefined) continue;

    const { words, value } = first;
    const statuses = new Set(same.map(({ attempt }) => attempt.response.status));
    const from = listOutcomes(same, readings);
    distinct.push({ words, ...(value !== undefined && { value }), statuses: [...statuses], from });
  }
  return distinct;
}

function learnValue(row: AssumptionRow, reading: DistinctReading, value: LearnedValue): LearnedAssumption {
  const { from, statuses } = reading;
  const notSeen = row.statuses.filter((status) => !statuses.includes(status));
  if (notSeen.length === 0) return { value, from };
  return { value, from, notSeen };
}

function noteOnReadings(name: string, why: string, readings: readonly DistinctReading[]): string {
  const values = readings.map(({ words, from }) => `${words} (${from.join(", ")})`);
  return `${name} is not learned, because ${why}: ${values.join("; ")}.`;
}

/** The scope of the endpoint is an assumption that nothing sets: an error may name it. */
function notesOnScope(attempts: readonly CompletedAttempt[]): string[] {
  const rejected = attempts.find(({ outcome }) => outcome === "403.insufficient_scope");
  if (rejected === undefined) return [];
  const details = memberIn(rejected.response, ["error", "details"]);
  if (!isMapping(details)) return [];

  const [, scope] = Object.entries(details).find(([name]) => /scope/i.test(name)) ?? [];
  if (typeof scope !== "string" || scope === assumptionTable.me_scope.minimal) return [];
  return [
    `403.insufficient_scope names the scope ${quoted(scope)}: set it with me_scope, and in the scopes of your scenario's keys.`,
  ];
}

function shownAs(value: LearnedValue): ShownValue {
  return { value, words: shownText(String(value)) };
}

function readChallenge(response: RedactedResponse, context: ReadContext): ShownValue {
  const value = headerOf(response, "www-authenticate");
  if (value === undefined) return shownAs(false);
  if (ownChallenge.test(value)) return shownAs(true);
  return { words: quoted(context.challenge) };
}

function readDetails(response: RedactedResponse): ShownValue | undefined {
  const error = memberIn(response, ["error"]);
  if (!isMapping(error)) return undefined;
  if (!Object.hasOwn(error, "details")) return shownAs(false);
  const { code, details } = error;
  if (!isMapping(details)) return { words: describeValue(details) };

  const members = response.status === 429 ? limitMembers : detailMembers.get(code);
  if (members?.every((name) => Object.hasOwn(details, name))) return shownAs(true);
  const names = Object.keys(details).join(", ");
  return { words: `details with ${names === "" ? "no members" : shownText(names)}` };
}

function readCode(response: RedactedResponse): ShownValue {
  const code = memberIn(response, ["error", "code"]);
  if (typeof code !== "string") return { words: "no error.code" };
  const mismatches = findMismatches(assumptionsSchema, { rate_limit_code: code }, redactEncoded);
  if (mismatches.length > 0) return { words: quoted(code) };
  return shownAs(code);
}

function readRetryAfter(response: RedactedResponse, context: ReadContext): ShownValue {
  const value = headerOf(response, "retry-after");
  if (value === undefined) return shownAs("none");
  const form = retryAfterForm(value);
  if (form !== "seconds" && form !== "date") return { words: quoted(value) };

  // Above the window of its limit, it is a time, or in other units.
  const window = (context.outcome === "429.per_minute" ? minute : day) / 1000;
  let wait = Number(value);
  let most = window;
  if (form === "date") {
    wait = (Date.parse(value) - readDate(response)) / 1000;
    // A date is whole seconds, and may be the one after the reset.
    most = window + 2;
  }
  if (wait > most) return { words: `${quoted(value)}, more than ${window} s` };
  return shownAs(form);
}

function readLimitHeaders(response: RedactedResponse, context: ReadContext): ShownValue {
  const names = limitHeaderNames(response);
  if (names.length === 0) return shownAs("none");
  const form = limitHeaderForm(response, names, context.limits);
  if (form === undefined) return { words: `another form of ${shownText(names.join(", "))}` };
  return shownAs(form);
}

/** Where an assumption is from: `each 401, 429.per_minute; not seen: 403`. */
export function whereSeen({ from, notSeen }: LearnedAssumption): string {
  const seen = from.join(", ");
  if (notSeen === undefined) return seen;
  return `${seen}; not seen: ${notSeen.join(", ")}`;
}
