import {
  type PlayedStep,
  type StepDifference,
  type StoryResponse,
  type StoryStep,
  shownValue,
} from "../../sandbox/step-results.js";
import { tryParseJson } from "../../schema/json.js";
import { type FieldPath, isMapping } from "../../schema/shape.js";

type StepExpectation = NonNullable<StoryStep["expect"]>;

/** How a step differs from its expectation, and the field of the scenario that it contradicts. */
export interface Difference {
  /** `status`, `body.data.usage.today`, …; `null` if the step could not run. */
  readonly at: string | null;
  readonly expected: string | null;
  readonly found: string | null;
  readonly message: string;
  readonly field: FieldPath;
}

/** Compares a response with what a step expects: its status, error code, outcome, headers and body. */
export function responseDifferences(expected: StepExpectation, response: StoryResponse): StepDifference[] {
  const { outcome, fault } = response;
  const content = bodyValue(response);
  const differences: StepDifference[] = [];
  if (expected.status !== undefined && expected.status !== response.status) {
    differences.push(difference("status", expected.status, response.status));
  }

  const code = errorCodeIn(content) ?? null;
  if (expected.code !== undefined && expected.code !== code) {
    differences.push(difference("code", expected.code, code));
  }

  // A fault that only delays a response leaves its outcome unchanged: either of the two matches.
  const expectedOutcome = expected.outcome;
  if (expectedOutcome !== undefined && expectedOutcome !== outcome && expectedOutcome !== fault) {
    let foundOutcome = shownValue(outcome);
    if (fault !== null && fault !== outcome) foundOutcome += `, with ${fault}`;
    differences.push({ at: "outcome", expected: shownValue(expectedOutcome), found: foundOutcome });
  }

  for (const [name, expectedValue] of Object.entries(expected.headers ?? {})) {
    const value = response.headers[name.toLowerCase()];
    if (isExpectedHeader(expectedValue, value)) continue;
    let words = shownValue(expectedValue);
    if (expectedValue === true) words = "a value";
    if (expectedValue === false) words = shownValue(undefined);
    differences.push({ at: `headers.${name}`, expected: words, found: shownValue(value) });
  }

  if (expected.body !== undefined) {
    differences.push(...bodyDifferences("body", expected.body, content));
  }
  return differences;
}

/** Whether a header is as expected: with this value, with any value (`true`), or not there (`false`). */
function isExpectedHeader(expected: string | boolean, value: string | undefined): boolean {
  const isThere = value !== undefined;
  if (typeof expected === "boolean") return isThere === expected;
  return value === expected;
}

/** Compares values of bodies. A mapping must contain the expected members and may contain others: the API may add members at any time. */
function bodyDifferences(at: string, expected: unknown, found: unknown): StepDifference[] {
  const differences: StepDifference[] = [];
  if (isMapping(expected)) {
    if (!isMapping(found)) return [difference(at, expected, found)];
    for (const [name, member] of Object.entries(expected)) {
      const foundMember = Object.hasOwn(found, name) ? found[name] : undefined;
      differences.push(...bodyDifferences(`${at}.${name}`, member, foundMember));
    }
    return differences;
  }

  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || found.length !== expected.length) return [difference(at, expected, found)];
    for (const [index, item] of expected.entries()) {
      differences.push(...bodyDifferences(`${at}[${index}]`, item, found[index]));
    }
    return differences;
  }

  if (expected !== found) differences.push(difference(at, expected, found));
  return differences;
}

function difference(at: string, expected: unknown, found: unknown): StepDifference {
  return { at, expected: shownValue(expected), found: shownValue(found) };
}

/** The error code in the body of a response; `null` without one. */
export function errorCodeOf(response: StoryResponse): string | null {
  const code = errorCodeIn(bodyValue(response));
  return typeof code === "string" ? code : null;
}

/** The body as a value; as its text if it is no JSON. */
function bodyValue({ body }: StoryResponse): unknown {
  const json = tryParseJson(body);
  if (json === undefined && body !== "") return body;
  return json;
}

function errorCodeIn(body: unknown): unknown {
  if (!isMapping(body) || !isMapping(body.error)) return null;
  return body.error.code;
}

/** All differences of a step, each with its field. */
export function differencesOf({ number, failure, differences }: PlayedStep): Difference[] {
  const step = ["story", number - 1];
  const differencesOfStep: Difference[] = [];
  if (failure !== null) {
    differencesOfStep.push({ at: null, expected: null, found: null, message: failure.message, field: step });
  }
  for (const { at, expected, found } of differences) {
    const message = `${at}: expected ${expected}, found ${found}`;
    differencesOfStep.push({ at, expected, found, message, field: expectedField(at, step) });
  }
  return differencesOfStep;
}

/** The field of the scenario that a difference of a step contradicts. During a step, also steps of the timeline may run. */
function expectedField(at: string, step: FieldPath): FieldPath {
  const inTimeline = /^timeline\[(\d+)\]\.(.*)$/s.exec(at);
  if (inTimeline === null) return [...step, "expect", ...partsOf(at)];
  const [, index, atInStep = ""] = inTimeline;
  return ["timeline", Number(index), "expect", ...partsOf(atInStep)];
}

/**
 * The parts of a place: of `body.items[0].id` these are `body`, `items`, 0 and `id`. The name of a header is one part. A member
 * name with a dot cannot be followed: the field then found is its parent.
 */
function partsOf(at: string): FieldPath {
  const headerStart = "headers.";
  if (at.startsWith(headerStart)) return ["headers", at.slice(headerStart.length)];

  const parts: (string | number)[] = [];
  // Split at each `.` and `[0]`. The digits are captured, so they are in the list, too.
  for (const part of at.split(/\.|\[(\d+)\]/)) {
    if (part === undefined || part === "") continue;
    parts.push(/^\d+$/.test(part) ? Number(part) : part);
  }
  return parts;
}
