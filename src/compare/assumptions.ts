import { type Assumptions, assumptionTable } from "../rules/assumptions.js";
import { mismatchesIn } from "../rules/schema/check.js";
import { isMapping } from "../rules/schema/shape.js";
import { day, minute } from "../rules/time.js";
import { assumptionsSchema } from "../scenario/format/step-shapes.js";
import {
  describeValue,
  headerOf,
  memberIn,
  quoted,
  type RedactedResponse,
  retryAfterForm,
  shownText,
} from "./response.js";

// Of the assumptions, only those below show in single responses.

/** A response, and the outcome that it shows. */
export interface Observation {
  readonly of: string;
  readonly response: RedactedResponse;
}

type LearnedValue = string | boolean;

/** What a response shows of an assumption, in words; without a value, it is a form that the assumption does not have. */
interface Reading {
  readonly words: string;
  readonly value?: LearnedValue;
}

interface Lesson {
  readonly statuses: readonly number[];
  /** Returns `undefined` if the response shows nothing. */
  readonly read: (response: RedactedResponse, perMinutes: ReadonlySet<string>) => Reading | undefined;
  /** The statuses without which the value is not seen. Default: any one shows it. */
  readonly required?: (value: LearnedValue) => readonly number[];
  readonly needs: string;
}

const a429 = "a 429 (--probe-limits)";

const lessons: Readonly<Partial<Record<keyof Assumptions, Lesson>>> = {
  // Often a gateway sends the 429, and the service behind it everything else.
  request_id_on_errors: {
    statuses: [401, 403, 429],
    read: (response) => readingOf(Boolean(headerOf(response, "x-request-id"))),
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

function readingOf(value: LearnedValue): Reading {
  return { value, words: shownText(String(value)) };
}

const parameter = '[\\w-]+ *= *(?:"[^"]*"|[^\\s",]+)';
/** One challenge with the scheme of the sandbox: a browser asks for a password at `Basic`. */
const ownChallenge = new RegExp(`^ApiKey(?: +${parameter}(?: *, *${parameter})*)?$`, "i");

function readChallenge(response: RedactedResponse): Reading {
  const value = headerOf(response, "www-authenticate");
  if (value === undefined) return readingOf(false);
  return ownChallenge.test(value) ? readingOf(true) : { words: quoted(value) };
}

/** The members of `error.details` that the sandbox sends. */
const detailMembers: Readonly<Record<string, readonly string[]>> = {
  access_denied: ["organization_status"],
  live_access_not_approved: ["live_access"],
  insufficient_scope: ["required_scope"],
};
const limitMembers = ["limit", "retry_after_seconds"];

function readDetails(response: RedactedResponse): Reading | undefined {
  const error = memberIn(response, ["error"]);
  if (!isMapping(error)) return undefined;
  if (!Object.hasOwn(error, "details")) return readingOf(false);
  const { code, details } = error;
  if (!isMapping(details)) return { words: describeValue(details) };
  const members = response.status === 429 ? limitMembers : detailMembers[String(code)];
  if (members?.every((name) => Object.hasOwn(details, name))) return readingOf(true);
  const names = Object.keys(details).join(", ");
  return { words: `details with ${names === "" ? "no members" : shownText(names)}` };
}

function readCode(response: RedactedResponse): Reading {
  const code = memberIn(response, ["error", "code"]);
  if (typeof code !== "string") return { words: "no error.code" };
  const isAllowed = mismatchesIn(assumptionsSchema, { rate_limit_code: code }).length === 0;
  return isAllowed ? readingOf(code) : { words: quoted(code) };
}

function readRetryAfter(response: RedactedResponse): Reading {
  const value = headerOf(response, "retry-after");
  if (value === undefined) return readingOf("none");
  const form = retryAfterForm(value);
  return form === "seconds" || form === "date" ? readingOf(form) : { words: quoted(value) };
}

function readLimitHeaders(response: RedactedResponse, perMinutes: ReadonlySet<string>): Reading {
  const names = response.headers.map(([name]) => name).filter((name) => /rate-?limit/i.test(name));
  if (names.length === 0) return readingOf("none");
  const sorted = names.map((name) => name.toLowerCase()).sort();
  const values = sorted.map((name) => headerOf(response, name) ?? "");
  const isLegacy = sorted.join() === legacyNames.join() && isLegacyForm(values, perMinutes);
  if (isLegacy) return readingOf("legacy");
  const isDraft = sorted.join() === draftNames.join() && isDraftForm(values);
  return isDraft ? readingOf("draft") : { words: `another form of ${shownText(names.join(", "))}` };
}

const legacyNames = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const draftNames = ["ratelimit", "ratelimit-policy"];

/** Seconds until the reset: a number above the window is a time, or in other units. */
function isLegacyForm(values: readonly string[], perMinutes: ReadonlySet<string>): boolean {
  const [limit = "", , reset] = values;
  const window = perMinutes.has(limit) ? minute : day;
  return values.every((value) => /^\d{1,9}$/.test(value)) && 1000 * Number(reset) <= window;
}

/** With the parameters of the sandbox: earlier drafts have others. */
function isDraftForm([limits = "", policies = ""]: readonly string[]): boolean {
  const areAll = (list: string, parameters: readonly string[]) =>
    list
      .split(/, *(?=["a-z])/i)
      .every((one) => parameters.every((name) => new RegExp(`; *${name}=\\d`).test(one)));
  return areAll(limits, ["r", "t"]) && areAll(policies, ["q", "w"]);
}

export interface LearnedAssumption {
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
export function learnAssumptions(observations: readonly Observation[]): Learned {
  const assumptions: Record<string, LearnedAssumption> = {};
  const unseen: Record<string, string> = {};
  const notes: string[] = [];
  const perMinutes = new Set(
    observations.map(({ response }) => String(memberIn(response, ["data", "limits", "per_minute"]))),
  );
  for (const [name, { statuses, read, required, needs }] of Object.entries(lessons)) {
    const readings = observations.flatMap(({ of, response }) => {
      const { status } = response;
      const reading = statuses.includes(status) ? read(response, perMinutes) : undefined;
      return reading === undefined ? [] : [{ ...reading, of, status }];
    });
    const [way, ...others] = waysIn(readings);
    if (way === undefined) unseen[name] = needs;
    else if ([way, ...others].every(({ value }) => value === undefined))
      notes.push(noteOn(name, "the assumption does not have this value", [way, ...others]));
    else if (others.length > 0) notes.push(noteOn(name, "it is seen in several ways", [way, ...others]));
    else if (required?.(way.value as LearnedValue).some((status) => !way.statuses.includes(status)))
      unseen[name] = `${needs}; ${way.from.join(", ")} shows ${way.words}`;
    else {
      const notSeen = statuses.filter((status) => !way.statuses.includes(status));
      const learned = { value: way.value as LearnedValue, from: way.from };
      assumptions[name] = notSeen.length === 0 ? learned : { ...learned, notSeen };
    }
  }
  return { assumptions, unseen, notes: [...notes, ...notesOnScope(observations)] };
}

/** Where an assumption is from: `each 401, 429.per_minute; not seen: 403`. */
export function sourceOf({ from, notSeen }: LearnedAssumption): string {
  return `${from.join(", ")}${notSeen === undefined ? "" : `; not seen: ${notSeen.join(", ")}`}`;
}

/** An outcome, and the status of its response. */
interface Placed {
  readonly of: string;
  readonly status: number;
}

type PlacedReading = Reading & Placed;

/** The different readings, each with the places that it is from. */
function waysIn(readings: readonly PlacedReading[]) {
  // Words are cut off.
  const textOf = ({ value, words }: Reading) => String(value ?? words);
  return [...new Set(readings.map(textOf))].map((text) => {
    const same = readings.filter((reading) => textOf(reading) === text);
    const statuses = [...new Set(same.map(({ status }) => status))];
    return { words: same[0]?.words, value: same[0]?.value, statuses, from: outcomesIn(same, readings) };
  });
}

/** The outcomes of some readings: `each 401` for several, if no other reading has this status. */
export function outcomesIn<Reading extends Placed>(
  some: readonly Reading[],
  readings: readonly Reading[],
): string[] {
  const statuses = [...new Set(some.map(({ status }) => status))];
  return statuses.flatMap((wanted) => {
    const outcomes = new Set(some.flatMap(({ of, status }) => (status === wanted ? of : [])));
    const isEach = readings.every((one) => one.status !== wanted || some.includes(one));
    return isEach && outcomes.size > 1 ? [`each ${wanted}`] : [...outcomes];
  });
}

function noteOn(name: string, why: string, ways: ReturnType<typeof waysIn>): string {
  const seen = ways.map(({ words, from }) => `${words} (${from.join(", ")})`);
  return `${name} is not learned, because ${why}: ${seen.join("; ")}.`;
}

function notesOnScope(observations: readonly Observation[]): string[] {
  const response = observations.find(({ of }) => of === "403.insufficient_scope")?.response;
  const details = response && memberIn(response, ["error", "details"]);
  const members = isMapping(details) ? Object.entries(details) : [];
  const scope = members.find(([name]) => /scope/i.test(name))?.[1];
  if (typeof scope !== "string" || scope === assumptionTable.me_scope.minimal) return [];
  return [
    `403.insufficient_scope names the scope ${quoted(scope)}: set it with me_scope, and in the scopes of your scenario's keys.`,
  ];
}
