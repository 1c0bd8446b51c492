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
  const compare = (at: string, wanted: unknown, got: unknown) => {
    if (wanted !== undefined && wanted !== got) differences.push(difference(at, wanted, got));
  };
  compare("status", expected.status, response.status);
  compare("code", expected.code, errorCodeIn(content) ?? null);

  // A fault that only delays a response leaves its outcome unchanged: either of the two matches.
  const wantedOutcome = expected.outcome;
  if (wantedOutcome !== undefined && wantedOutcome !== outcome && wantedOutcome !== fault) {
    let found = shownValue(outcome);
    if (fault !== null && fault !== outcome) found += `, with ${fault}`;
    differences.push({ at: "outcome", expected: shownValue(wantedOutcome), found });
  }

  for (const [name, wanted] of Object.entries(expected.headers ?? {})) {
    const at = `headers.${name}`;
    const value = response.headers[name.toLowerCase()];
    if (typeof wanted === "string") {
      compare(at, wanted, value);
    } else if (wanted !== (value !== undefined)) {
      // True for a header that must be there with any value, false for one that must not.
      const expectedValue = wanted ? "a value" : shownValue(undefined);
      differences.push({ at, expected: expectedValue, found: shownValue(value) });
    }
  }

  if (expected.body !== undefined) {
    differences.push(...bodyDifferences("body", expected.body, content));
  }
  return differences;
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

/** The field of the scenario that a difference contradicts. A member name with a dot cannot be followed: the path then leads to its parent. */
function expectedField(at: string, step: FieldPath): FieldPath {
  const header = /^headers\.(.*)$/s.exec(at);
  if (header !== null) return [...step, "expect", "headers", header[1] as string];

  // `body.items[0].id` has the parts `body`, `items`, 0 and `id`.
  const path: (string | number)[] = [];
  for (const part of at.split(/\.|\[(\d+)\]/)) {
    if (part === undefined || part === "") continue;
    path.push(/^\d+$/.test(part) ? Number(part) : part);
  }

  const [first, index = 0, ...rest] = path;
  if (first === "timeline") return ["timeline", index, "expect", ...rest];
  return [...step, "expect", ...path];
}
