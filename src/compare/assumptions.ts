import { type Assumptions, assumptionTable } from "../rules/assumptions.js";
import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { mismatchesIn } from "../rules/schema/check.js";
import { isMapping } from "../rules/schema/shape.js";
import { day, minute } from "../rules/time.js";
import { assumptionsSchema } from "../scenario/format/step-shapes.js";
import { type CompletedAttempt, outcomeWords } from "./attempt.js";
import { staysOfChallenges } from "./challenges.js";
import {
  describeValue,
  headerOf,
  memberIn,
  numberText,
  perDayPath,
  perMinutePath,
  quoted,
  type RedactedResponse,
  retryAfterForm,
  shownText,
  timeOf,
} from "./response.js";

// Of the assumptions, only those below show in single responses.

type LearnedValue = string | boolean;

/** What a response shows of an assumption, in words; without a value, it is a form that the assumption does not have. */
interface ShownValue {
  readonly words: string;
  readonly value?: LearnedValue;
}

/** What a reader must know of the request. */
interface ReadContext {
  readonly outcome: PromisedOutcomeId;
  /** What stays of its challenge in all responses. */
  readonly challenge: string;
  /** The limits that the 200s of its key show; empty if there is none. */
  readonly limits: readonly KeyLimit[];
}

interface KeyLimit {
  readonly quota: string;
  /** In seconds. */
  readonly window: number;
}

/** How responses show an assumption. */
interface AssumptionRow {
  readonly statuses: readonly number[];
  /** Returns `undefined` if the response shows nothing. */
  readonly read: (response: RedactedResponse, context: ReadContext) => ShownValue | undefined;
  /** The statuses without which the value is not seen. Default: any one shows it. */
  readonly required?: (value: LearnedValue) => readonly number[];
  readonly needs: string;
}

const a429 = "a 429 (--probe-limits)";

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

function shownAs(value: LearnedValue): ShownValue {
  return { value, words: shownText(String(value)) };
}

const parameter = '[\\w-]+ *= *(?:"[^"]*"|[^\\s",]+)';
/** One challenge with the scheme of the sandbox: a browser asks for a password at `Basic`. */
const ownChallenge = new RegExp(`^ApiKey(?: +${parameter}(?: *, *${parameter})*)?$`, "i");

function readChallenge(response: RedactedResponse, context: ReadContext): ShownValue {
  const value = headerOf(response, "www-authenticate");
  if (value === undefined) return shownAs(false);
  if (ownChallenge.test(value)) return shownAs(true);
  return { words: quoted(context.challenge) };
}

/** The members of `error.details` that the sandbox sends. */
const detailMembers: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["access_denied", ["organization_status"]],
  ["live_access_not_approved", ["live_access"]],
  ["insufficient_scope", ["required_scope"]],
]);
const limitMembers = ["limit", "retry_after_seconds"];

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
  const mismatches = mismatchesIn(assumptionsSchema, { rate_limit_code: code });
  if (mismatches.length > 0) return { words: quoted(code) };
  return shownAs(code);
}

function readRetryAfter(response: RedactedResponse, context: ReadContext): ShownValue {
  const value = headerOf(response, "retry-after");
  if (value === undefined) return shownAs("none");
  const form = retryAfterForm(value);
  if (form !== "seconds" && form !== "date") return { words: quoted(value) };

  const window = (context.outcome === "429.per_minute" ? minute : day) / 1000;
  let wait = Number(value);
  let most = window;
  if (form === "date") {
    wait = (Date.parse(value) - timeOf(response)) / 1000;
    // A date is whole seconds, and may be the one after the reset.
    most = window + 2;
  }

  // Above the window of its limit, it is a time, or in other units.
  if (wait > most) return { words: `${quoted(value)}, more than ${window} s` };
  return shownAs(form);
}

function readLimitHeaders(response: RedactedResponse, context: ReadContext): ShownValue {
  const names: string[] = [];
  for (const [name] of response.headers) if (/rate-?limit/i.test(name)) names.push(name);
  if (names.length === 0) return shownAs("none");

  const sorted = names.map((name) => name.toLowerCase()).sort();
  const values = sorted.map((name) => headerOf(response, name) ?? "");
  const { limits } = context;
  if (sorted.join() === legacyNames.join() && isLegacyForm(values, limits)) return shownAs("legacy");
  if (sorted.join() === draftNames.join() && isDraftForm(values, limits)) return shownAs("draft");
  return { words: `another form of ${shownText(names.join(", "))}` };
}

const legacyNames = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const draftNames = ["ratelimit", "ratelimit-policy"];

const wholeNumber = /^\d{1,15}$/;

/** A limit of the key, and seconds until its reset: a number above the window is a time, or in other units. */
function isLegacyForm(values: readonly string[], limits: readonly KeyLimit[]): boolean {
  if (!values.every((value) => wholeNumber.test(value))) return false;
  const [quota = "", remaining, reset] = values;
  if (Number(remaining) > Number(quota)) return false;

  // Without a 200 of the key, its limits are not known.
  if (limits.length === 0) return Number(reset) <= day / 1000;
  const own = limits.filter((limit) => limit.quota === quota);
  return own.some(({ window }) => Number(reset) <= window);
}

/** With the parameters of the sandbox: earlier drafts have others. */
function isDraftForm(values: readonly string[], limits: readonly KeyLimit[]): boolean {
  const [items = [], policies = []] = values.map(itemsOf);
  for (const { q, w } of policies) {
    if (!isWhole(q) || !isWhole(w)) return false;
    const isOwn = limits.length === 0 || limits.some(({ quota }) => quota === q);
    if (!isOwn) return false;
  }

  // An item without a policy of its name may be of any window.
  const longest = Math.max(...policies.map(({ w }) => Number(w)));
  for (const { name, r, t } of items) {
    if (!isWhole(r) || !isWhole(t)) return false;
    const policy = policies.find((other) => other.name === name);
    const window = policy === undefined ? longest : Number(policy.w);
    if (Number(t) > window) return false;
  }
  return true;
}

/** An item of a list in `RateLimit` or its policy, with the parameters that the sandbox sends. */
interface LimitItem {
  readonly name: string;
  readonly q: string | undefined;
  readonly w: string | undefined;
  readonly r: string | undefined;
  readonly t: string | undefined;
}

function itemsOf(list: string): LimitItem[] {
  return list.split(/, *(?=["a-z])/i).map(readItem);
}

function readItem(text: string): LimitItem {
  const [name = ""] = text.split(";");
  const parameter = (letter: string) => new RegExp(`; *${letter}=([^;,\\s]*)`).exec(text)?.[1];
  return {
    name: name.trim(),
    q: parameter("q"),
    w: parameter("w"),
    r: parameter("r"),
    t: parameter("t"),
  };
}

function isWhole(value: string | undefined): boolean {
  return value !== undefined && wholeNumber.test(value);
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

/** Returns the assumptions that the responses of a service show. */
export function learnAssumptions(attempts: readonly CompletedAttempt[]): Learned {
  const assumptions: Record<string, LearnedAssumption> = {};
  const unseen: Record<string, string> = {};
  const notes: string[] = [];
  for (const [name, row] of Object.entries(assumptionRows)) {
    const readings = distinctReadings(row, attempts);
    const [first] = readings;
    if (first === undefined) {
      unseen[name] = row.needs;
      continue;
    }

    const hasValue = readings.some(({ value }) => value !== undefined);
    if (!hasValue) {
      notes.push(noteOn(name, "the assumption does not have this value", readings));
      continue;
    }
    if (first.value === undefined || readings.length > 1) {
      notes.push(noteOn(name, "it is seen in several ways", readings));
      continue;
    }

    // All responses show one value: now it counts whether those that could show another one are among them.
    const required = row.required?.(first.value) ?? [];
    if (required.every((status) => first.statuses.includes(status)))
      assumptions[name] = learnedFrom(row, first, first.value);
    else unseen[name] = `${row.needs}; ${first.from.join(", ")} shows ${first.words}`;
  }
  return { assumptions, unseen, notes: [...notes, ...notesOnScope(attempts)] };
}

function learnedFrom(row: AssumptionRow, reading: DistinctReading, value: LearnedValue): LearnedAssumption {
  const { from, statuses } = reading;
  const notSeen = row.statuses.filter((status) => !statuses.includes(status));
  if (notSeen.length === 0) return { value, from };
  return { value, from, notSeen };
}

/** A reading with everything that shows it. */
interface DistinctReading extends ShownValue {
  readonly statuses: readonly number[];
  readonly from: readonly string[];
}

/** The limits in the 200s of a key. */
function limitsOf(attempt: CompletedAttempt, attempts: readonly CompletedAttempt[]): KeyLimit[] {
  const limits: KeyLimit[] = [];
  for (const { apiKey, response } of attempts) {
    if (apiKey !== attempt.apiKey || response.status !== 200) continue;
    limits.push({ quota: numberText(response, perMinutePath), window: minute / 1000 });
    limits.push({ quota: numberText(response, perDayPath), window: day / 1000 });
  }
  return limits;
}

interface Reading extends ShownValue {
  readonly attempt: CompletedAttempt;
  /** The whole text: words are cut off. */
  readonly text: string;
}

function distinctReadings(row: AssumptionRow, attempts: readonly CompletedAttempt[]): DistinctReading[] {
  const readings = readingsOf(row, attempts);
  const distinct: DistinctReading[] = [];
  for (const reading of readings) {
    const same = readings.filter(({ text }) => text === reading.text);
    if (same[0] !== reading) continue;

    const { words, value } = reading;
    const statuses = new Set(same.map(({ attempt }) => attempt.response.status));
    const from = outcomeWords(same, readings);
    distinct.push({ words, ...(value !== undefined && { value }), statuses: [...statuses], from });
  }
  return distinct;
}

function readingsOf(row: AssumptionRow, attempts: readonly CompletedAttempt[]): Reading[] {
  const challengeOf = staysOfChallenges(attempts);
  const readings: Reading[] = [];
  for (const attempt of attempts) {
    const { outcome, response } = attempt;
    if (!row.statuses.includes(response.status)) continue;

    const challenge = challengeOf(attempt);
    const limits = limitsOf(attempt, attempts);
    const shown = row.read(response, { outcome, challenge, limits });
    if (shown === undefined) continue;
    const text = String(shown.value ?? shown.words);
    readings.push({ ...shown, attempt, text });
  }
  return readings;
}

/** Where an assumption is from: `each 401, 429.per_minute; not seen: 403`. */
export function whereSeen({ from, notSeen }: LearnedAssumption): string {
  const seen = from.join(", ");
  if (notSeen === undefined) return seen;
  return `${seen}; not seen: ${notSeen.join(", ")}`;
}

function noteOn(name: string, why: string, readings: readonly DistinctReading[]): string {
  const values = readings.map(({ words, from }) => `${words} (${from.join(", ")})`);
  return `${name} is not learned, because ${why}: ${values.join("; ")}.`;
}

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
