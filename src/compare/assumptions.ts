import { type Assumptions, assumptionTable } from "../rules/assumptions.js";
import { mismatchesIn } from "../rules/schema/check.js";
import { isMapping } from "../rules/schema/shape.js";
import { escapeControls } from "../rules/terminal-text.js";
import { isoOf } from "../rules/time.js";
import { assumptionsSchema } from "../scenario/format/step-shapes.js";
import { describeValue } from "./judge.js";
import { headerOf, memberIn, quoted, type RedactedResponse, retryAfterForm, shownText } from "./response.js";

// Of the assumptions, only those below show in single responses.

/** A response with the outcome that it shows, or only its status if the request was for another outcome. */
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
  readonly read: (response: RedactedResponse) => Reading | undefined;
  /** Whether responses with these statuses show the value. Default: any do. */
  readonly isShownBy?: (statuses: readonly number[], value: LearnedValue) => boolean;
  readonly needs: string;
}

const a429 = "a 429 (--probe-limits)";
const a403or429 = `a 403 (such as of SVC_KEY_WRONG_SCOPE) or ${a429}`;

const lessons: Readonly<Partial<Record<keyof Assumptions, Lesson>>> = {
  request_id_on_errors: {
    statuses: [401, 403, 429],
    read: (response) => readingOf(Boolean(headerOf(response, "x-request-id"))),
    isShownBy: (statuses) => statuses.includes(401) && statuses.some((status) => status !== 401),
    needs: a403or429,
  },
  www_authenticate: {
    statuses: [401],
    read: (response) => readingOf(headerOf(response, "www-authenticate") !== undefined),
    needs: "a 401",
  },
  error_details: { statuses: [403, 429], read: readDetails, needs: a403or429 },
  rate_limit_code: { statuses: [429], read: readCode, needs: `the code of ${a429}` },
  retry_after: { statuses: [429], read: readRetryAfter, needs: a429 },
  rate_limit_headers: {
    statuses: [200, 429],
    read: readLimitHeaders,
    // Many services send them only with a 429.
    isShownBy: (statuses, value) => value !== "none" || statuses.includes(429),
    needs: a429,
  },
};

function readingOf(value: LearnedValue): Reading {
  return { value, words: shownText(String(value)) };
}

function readDetails(response: RedactedResponse): Reading | undefined {
  const error = memberIn(response, ["error"]);
  if (!isMapping(error)) return undefined;
  if (!Object.hasOwn(error, "details")) return readingOf(false);
  return isMapping(error.details) ? readingOf(true) : { words: describeValue(error.details) };
}

function readCode(response: RedactedResponse): Reading | undefined {
  const code = memberIn(response, ["error", "code"]);
  if (typeof code !== "string") return undefined;
  const isAllowed = mismatchesIn(assumptionsSchema, { rate_limit_code: code }).length === 0;
  return isAllowed ? readingOf(code) : { words: quoted(code) };
}

function readRetryAfter(response: RedactedResponse): Reading {
  const value = headerOf(response, "retry-after");
  if (value === undefined) return readingOf("none");
  const form = retryAfterForm(value);
  return form === undefined ? { words: quoted(value) } : readingOf(form);
}

function readLimitHeaders(response: RedactedResponse): Reading {
  const names = response.headers.map(([name]) => name).filter((name) => /rate-?limit/i.test(name));
  if (names.length === 0) return readingOf("none");
  const otherForm = { words: `another form of ${shownText(names.join(", "))}` };
  const areAll = (pattern: RegExp) => names.every((name) => pattern.test(name));
  if (areAll(/^x-ratelimit-(?:limit|remaining|reset)$/i)) {
    // Seconds until the reset; a larger number is a time.
    const isTime = !/^\d{1,8}$/.test(headerOf(response, "x-ratelimit-reset") ?? "0");
    return isTime ? otherForm : readingOf("legacy");
  }
  // Earlier drafts have other parameters.
  const hasParameter = (name: string, parameter: string) =>
    new RegExp(`;\\s*${parameter}=\\d`).test(headerOf(response, name) ?? "");
  const isDraft =
    areAll(/^ratelimit(?:-policy)?$/i) &&
    hasParameter("ratelimit", "r") &&
    hasParameter("ratelimit-policy", "q");
  return isDraft ? readingOf("draft") : otherForm;
}

export interface LearnedAssumption {
  readonly value: LearnedValue;
  /** `each 401` if several outcomes with this status show it, otherwise the outcome. */
  readonly from: readonly string[];
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
  for (const [name, { statuses, read, isShownBy, needs }] of Object.entries(lessons)) {
    const readings = observations.flatMap(({ of, response }) => {
      const { status } = response;
      const reading = statuses.includes(status) ? read(response) : undefined;
      return reading === undefined ? [] : [{ ...reading, of, status }];
    });
    const [way, ...others] = waysIn(readings);
    if (way === undefined) unseen[name] = needs;
    else if (others.length > 0) notes.push(noteOn(name, "it is seen in several ways", [way, ...others]));
    else if (way.value === undefined)
      notes.push(noteOn(name, "the assumption does not have this value", [way]));
    else if (isShownBy?.(way.statuses, way.value) === false)
      unseen[name] = `${needs}; ${way.from.join(", ")} shows ${way.words}`;
    else assumptions[name] = { value: way.value, from: way.from };
  }
  return { assumptions, unseen, notes: [...notes, ...notesOnScope(observations)] };
}

type PlacedReading = Reading & { readonly of: string; readonly status: number };

/** The different readings, each with the places that it is from. */
function waysIn(readings: readonly PlacedReading[]) {
  // Words are cut off.
  const textOf = ({ value, words }: Reading) => String(value ?? words);
  return [...new Set(readings.map(textOf))].map((text) => {
    const same = readings.filter((reading) => textOf(reading) === text);
    const statuses = [...new Set(same.map(({ status }) => status))];
    const from = statuses.flatMap((status) => {
      const outcomes = [...new Set(same.flatMap((reading) => (reading.status === status ? reading.of : [])))];
      const isEach = readings.every((reading) => reading.status !== status || textOf(reading) === text);
      return isEach && outcomes.length > 1 ? [`each ${status}`] : outcomes;
    });
    return { words: same[0]?.words, value: same[0]?.value, statuses, from };
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

/** The first line of the file; only a file with it is replaced. */
export const learnedHeading = "# Written by compare, which replaces this file: extend it.";

/** Returns a scenario with the learned assumptions; of the URL, it contains only the host. */
export function learnedScenario(assumptions: Learned["assumptions"], url: string, time: number): string {
  const lines = Object.entries(assumptions).map(
    ([name, { value, from }]) => `  ${name}: ${JSON.stringify(value)} # ${from.join(", ")}`,
  );
  return `${learnedHeading}
# What ${escapeControls(new URL(url).host)} does, compared at ${isoOf(time)}.
version: 1
extends: key-states
assumptions:
${lines.join("\n")}
`;
}
