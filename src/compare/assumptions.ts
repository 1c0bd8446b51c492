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
  readonly read: (response: RedactedResponse, limited: ReadContext) => ShownValue | undefined;
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

function readChallenge(response: RedactedResponse, { challenge }: ReadContext): ShownValue {
  const value = headerOf(response, "www-authenticate");
  if (value === undefined) return shownAs(false);
  return ownChallenge.test(value) ? shownAs(true) : { words: quoted(challenge) };
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
  const isAllowed = mismatchesIn(assumptionsSchema, { rate_limit_code: code }).length === 0;
  return isAllowed ? shownAs(code) : { words: quoted(code) };
}

function readRetryAfter(response: RedactedResponse, { outcome }: ReadContext): ShownValue {
  const value = headerOf(response, "retry-after");
  if (value === undefined) return shownAs("none");
  const form = retryAfterForm(value);
  if (form !== "seconds" && form !== "date") return { words: quoted(value) };

  // Above the window of its limit, it is a time, or in other units.
  const window = (outcome === "429.per_minute" ? minute : day) / 1000;
  const wait = form === "seconds" ? Number(value) : (Date.parse(value) - timeOf(response)) / 1000;
  // A date is whole seconds, and may be the one after the reset.
  const most = form === "date" ? window + 2 : window;
  return wait > most ? { words: `${quoted(value)}, more than ${window} s` } : shownAs(form);
}

function readLimitHeaders(response: RedactedResponse, { limits }: ReadContext): ShownValue {
  const names = response.headers.map(([name]) => name).filter((name) => /rate-?limit/i.test(name));
  if (names.length === 0) return shownAs("none");
  const sorted = names.map((name) => name.toLowerCase()).sort();
  const values = sorted.map((name) => headerOf(response, name) ?? "");
  const isLegacy = sorted.join() === legacyNames.join() && isLegacyForm(values, limits);
  if (isLegacy) return shownAs("legacy");
  const isDraft = sorted.join() === draftNames.join() && isDraftForm(values, limits);
  return isDraft ? shownAs("draft") : { words: `another form of ${shownText(names.join(", "))}` };
}

const legacyNames = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const draftNames = ["ratelimit", "ratelimit-policy"];

const wholeNumber = /^\d{1,15}$/;

/** A limit of the key, and seconds until its reset: a number above the window is a time, or in other units. */
function isLegacyForm(values: readonly string[], limits: readonly KeyLimit[]): boolean {
  const [quota = "", remaining, reset] = values;
  if (!values.every((value) => wholeNumber.test(value)) || Number(remaining) > Number(quota)) return false;
  const own = limits.filter((limit) => limit.quota === quota);
  if (limits.length > 0 && own.length === 0) return false;
  const windows = own.length === 0 ? [day / 1000] : own.map(({ window }) => window);
  return Number(reset) <= Math.max(...windows);
}

/** With the parameters of the sandbox: earlier drafts have others. */
function isDraftForm(values: readonly string[], limits: readonly KeyLimit[]): boolean {
  const [items = [], policies = []] = values.map(itemsOf);
  const areWhole = policies.every(({ q, w }) => isWhole(q) && isWhole(w));
  if (!areWhole || !items.every(({ r, t }) => isWhole(r) && isWhole(t))) return false;

  const isOwn = policies.every(({ q }) => limits.length === 0 || limits.some(({ quota }) => quota === q));
  const longest = Math.max(...policies.map(({ w }) => Number(w)));
  const isInWindow = ({ name, t }: LimitItem) => {
    const policy = policies.find((one) => one.name === name);
    return Number(t) <= (policy === undefined ? longest : Number(policy.w));
  };
  return isOwn && items.every(isInWindow);
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
  return list.split(/, *(?=["a-z])/i).map((item) => {
    const parameter = (name: string) => new RegExp(`; *${name}=([^;,\\s]*)`).exec(item)?.[1];
    const name = item.split(";")[0]?.trim() ?? "";
    return { name, q: parameter("q"), w: parameter("w"), r: parameter("r"), t: parameter("t") };
  });
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
    const [first, ...more] = distinctReadings(row, attempts);
    const isKnown = [first, ...more].some((reading) => reading?.value !== undefined);
    if (first === undefined) unseen[name] = row.needs;
    else if (more.length > 0 && isKnown)
      notes.push(noteOn(name, "it is seen in several ways", [first, ...more]));
    else if (first.value === undefined)
      notes.push(noteOn(name, "the assumption does not have this value", [first, ...more]));
    else if (row.required?.(first.value).some((status) => !first.statuses.includes(status)))
      unseen[name] = `${row.needs}; ${first.from.join(", ")} shows ${first.words}`;
    else assumptions[name] = learnedFrom(row, first, first.value);
  }
  return { assumptions, unseen, notes: [...notes, ...notesOnScope(attempts)] };
}

function learnedFrom(
  { statuses }: AssumptionRow,
  { from, statuses: shownStatuses }: DistinctReading,
  value: LearnedValue,
): LearnedAssumption {
  const notSeen = statuses.filter((status) => !shownStatuses.includes(status));
  return notSeen.length === 0 ? { value, from } : { value, from, notSeen };
}

/** A reading with everything that shows it. */
interface DistinctReading extends ShownValue {
  readonly statuses: readonly number[];
  readonly from: readonly string[];
}

/** The limits in the 200s of a key. */
function limitsOf({ apiKey }: CompletedAttempt, attempts: readonly CompletedAttempt[]): KeyLimit[] {
  const limits: KeyLimit[] = [];
  for (const { apiKey: other, response } of attempts) {
    if (other !== apiKey || response.status !== 200) continue;
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
  const readings: Reading[] = [];
  const challengeOf = staysOfChallenges(attempts);
  for (const attempt of attempts) {
    const { outcome, response } = attempt;
    if (!row.statuses.includes(response.status)) continue;
    const challenge = challengeOf(attempt);
    const reading = row.read(response, { outcome, challenge, limits: limitsOf(attempt, attempts) });
    if (reading !== undefined)
      readings.push({ ...reading, attempt, text: String(reading.value ?? reading.words) });
  }
  const firsts = readings.filter(
    ({ text }, index) => readings.findIndex((other) => other.text === text) === index,
  );
  return firsts.map(({ text, words, value }) => {
    const same = readings.filter((reading) => reading.text === text);
    const withValue = value === undefined ? {} : { value };
    const statusesOf = [...new Set(same.map(({ attempt }) => attempt.response.status))];
    return { words, ...withValue, statuses: statusesOf, from: outcomeWords(same, readings) };
  });
}

/** Where an assumption is from: `each 401, 429.per_minute; not seen: 403`. */
export function whereSeen({ from, notSeen }: LearnedAssumption): string {
  return `${from.join(", ")}${notSeen === undefined ? "" : `; not seen: ${notSeen.join(", ")}`}`;
}

function noteOn(name: string, why: string, readings: readonly DistinctReading[]): string {
  const values = readings.map(({ words, from }) => `${words} (${from.join(", ")})`);
  return `${name} is not learned, because ${why}: ${values.join("; ")}.`;
}

function notesOnScope(attempts: readonly CompletedAttempt[]): string[] {
  const response = attempts.find(({ outcome }) => outcome === "403.insufficient_scope")?.response;
  const details = response && memberIn(response, ["error", "details"]);
  const members = isMapping(details) ? Object.entries(details) : [];
  const scope = members.find(([name]) => /scope/i.test(name))?.[1];
  if (typeof scope !== "string" || scope === assumptionTable.me_scope.minimal) return [];
  return [
    `403.insufficient_scope names the scope ${quoted(scope)}: set it with me_scope, and in the scopes of your scenario's keys.`,
  ];
}
